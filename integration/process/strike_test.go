//go:build linux

package process_test

import (
	"syscall"
	"time"

	"github.com/elasticron/elasticron/integration/history"
	"github.com/elasticron/elasticron/registry/etcd"
)

// strike does one thing to the instance of a slot, or to the store.
func (c *chaos) strike(b blow, s *slot) {
	switch b.fault {
	case killInstance, killLeader, restartSameID:
		c.kill(s.life)
		time.Sleep(b.lasts)
		c.startIn(s, b.fault != restartSameID)
	case stopInstance:
		c.stop(s.life)
		time.Sleep(b.lasts)
		c.startIn(s, true)
	case freezeInstance:
		c.freeze(s.life, b.lasts)
	case cutInstance:
		c.cut(s, b.lasts)
	default:
		c.strikeStore(b)
	}
}

// cut has the instance of a slot not reach the store for a time.
func (c *chaos) cut(s *slot, lasts time.Duration) {
	c.suffer(history.Cut, s.life, func() {
		for _, p := range s.proxies {
			p.cut()
		}
		time.Sleep(lasts)
		for _, p := range s.proxies {
			p.heal()
		}
	})
}

func (c *chaos) strikeStore(b blow) {
	members := c.store.members
	switch b.fault {
	case killStoreHead:
		members = []*member{c.store.leader()}
		c.down(func() { c.store.crash(members...) })
		time.Sleep(b.lasts)
		c.store.restart(members...)
	case restartStore:
		c.down(func() {
			c.store.crash(members...)
			c.store.restart(members...)
		})
	case freezeMember:
		members = []*member{c.store.leader()}
		if b.n%2 == 0 {
			members = c.store.members[b.n%len(c.store.members):][:1]
		}
		c.freezeMember(members[0], b.lasts)
	}
	for _, m := range members {
		if err := m.process.awaitReady(); err != nil {
			c.t.Error(err)
		}
	}
}

// freezeMember has a member of the store stand still for a time. Requests that went to it are given up
// one after the other, each with more patience than the one before, though other members serve.
func (c *chaos) freezeMember(m *member, lasts time.Duration) {
	led := c.store.leader() == m
	c.slow(lasts, etcd.DefaultRequestTimeout)
	c.down(func() {
		m.process.signal(syscall.SIGSTOP)
		time.Sleep(lasts)
		if led {
			c.thawed()
		}
		m.process.signal(syscall.SIGCONT)
	})
}

// down does something to the store, and writes down that it could not be relied upon until it served
// again.
func (c *chaos) down(happens func()) {
	c.suffer(history.Down, nil, func() {
		happens()
		if err := c.store.awaitService(); err != nil {
			c.t.Error(err)
		}
	})
}
