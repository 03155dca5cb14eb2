//go:build linux

package process_test

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/integration/zookeeper"
)

// inject does one thing to the instance of a slot, or to the store.
func (c *chaos) inject(a action, s *slot) {
	switch a.fault {
	case killInstance, killLeader, restartSameID:
		c.kill(s.process)
		time.Sleep(a.lasts)
		c.startIn(s, a.fault != restartSameID)
	case stopInstance:
		c.stop(s.process)
		time.Sleep(a.lasts)
		c.startIn(s, true)
	case freezeInstance:
		c.freeze(s.process, a.lasts)
	case cutInstance:
		c.cut(s, a.lasts, (*proxy.Network).Cut)
	case cutSending:
		c.cut(s, a.lasts, (*proxy.Network).CutUp)
	case cutReceiving:
		c.cut(s, a.lasts, (*proxy.Network).CutDown)
	case slowInstance:
		c.slowDown(s, a)
	default:
		c.store.inject(c, a)
	}
}

// cut has the instance of a slot not reach the store for a time, or not hear of it.
func (c *chaos) cut(s *slot, lasts time.Duration, cut func(*proxy.Network)) {
	c.recordIncident(checker.Cut, s.process, func() {
		for _, p := range s.proxies {
			cut(&p.Network)
		}
		time.Sleep(lasts)
		for _, p := range s.proxies {
			p.Heal()
		}
	})
}

// slowDown gives the instance of a slot a bad network for a time: everything takes longer, and some is
// lost on the way.
func (c *chaos) slowDown(s *slot, a action) {
	delay := time.Duration(20+a.n%100) * time.Millisecond
	// What is lost again and again holds a connection up for longer than a request waits. The store hears all the
	// while, later and later: also when the instance has given its session up, which then lasts until it has heard nothing
	// for the whole of the session's time.
	c.recordIncident(checker.Cut, s.process, func() {
		c.recordIncident(checker.Slow, s.process, func() {
			for _, p := range s.proxies {
				p.Delay(delay)
				p.Lose(float64(a.n%5) / 20)
			}
			time.Sleep(a.lasts)
			for _, p := range s.proxies {
				p.Delay(0)
				p.Lose(0)
			}
		})
	})
}

// down does something to the store, and writes down that it could not be relied upon until it served
// again.
func (c *chaos) down(happens func()) {
	c.recordIncident(checker.Down, nil, func() {
		happens()
		if err := c.store.awaitService(); err != nil {
			c.t.Error(err)
		}
	})
}

// zkVictim is a ZooKeeper server that stands alone: what hits its leader hits all of it.
type zkVictim struct{ server *zookeeper.Server }

// faults implements [victimStore].
func (z zkVictim) faults() []fault { return []fault{killStoreLeader, restartStore, freezeMember} }

// inject implements [victimStore].
func (z zkVictim) inject(c *chaos, a action) {
	run := func(do func() error) {
		if err := do(); err != nil {
			c.t.Error(err)
		}
	}
	c.down(func() {
		switch a.fault {
		case killStoreLeader, restartStore:
			began := now().time()
			run(z.server.Kill)
			if a.fault == killStoreLeader {
				time.Sleep(a.lasts)
			}
			run(func() error { return z.server.Run(context.Background()) })
			c.recordAbsence(began)
		case freezeMember:
			run(z.server.Freeze)
			time.Sleep(a.lasts)
			c.recordThaw(now().time())
			run(z.server.Thaw)
		}
	})
}

// recordAbsence writes down that the whole store has been away, from a moment until now. A session counts itself lost when a
// sixth of its time is left and nothing has proved it, and the last proof may be as old: so if the machine is so busy that the
// store was away for longer than half of that time, sessions may run out before it has heard those who live.
func (c *cluster) recordAbsence(from time.Time) {
	if away := now().time().Sub(from); away > c.rules.TTL/2 {
		c.t.Logf("the store was away for %s: sessions may have run out", away.Round(time.Millisecond))
		c.recordThaw(from)
	}
}

// awaitService implements [victimStore]. A server that stands alone serves as soon as it runs.
func (z zkVictim) awaitService() error { return nil }
