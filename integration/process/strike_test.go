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
		c.store.strike(c, b)
	}
}

// cut has the instance of a slot not reach the store for a time.
func (c *chaos) cut(s *slot, lasts time.Duration) {
	c.suffer(history.Cut, s.life, func() {
		for _, p := range s.proxies {
			p.Cut()
		}
		time.Sleep(lasts)
		for _, p := range s.proxies {
			p.Heal()
		}
	})
}

// strike implements [prey].
func (s *store) strike(c *chaos, b blow) {
	members := s.members
	switch b.fault {
	case killStoreHead:
		members = []*member{s.leader()}
		c.down(func() { s.crash(members...) })
		time.Sleep(b.lasts)
		s.restart(members...)
	case restartStore:
		c.down(func() {
			s.crash(members...)
			s.restart(members...)
		})
	case freezeMember:
		members = []*member{s.leader()}
		if b.n%2 == 0 {
			members = s.members[b.n%len(s.members):][:1]
		}
		s.freeze(c, members[0], b.lasts)
	}
	for _, m := range members {
		if err := m.process.awaitReady(); err != nil {
			c.t.Error(err)
		}
	}
}

// freeze has a member of the store stand still for a time. Requests that went to it are given up
// one after the other, each with more patience than the one before, though other members serve.
func (s *store) freeze(c *chaos, m *member, lasts time.Duration) {
	led := s.leader() == m
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
