//go:build linux

package process_test

import (
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/proxy"
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
		c.cut(s, b.lasts, (*proxy.Network).Cut)
	case muteInstance:
		c.cut(s, b.lasts, (*proxy.Network).CutUp)
	case deafInstance:
		c.cut(s, b.lasts, (*proxy.Network).CutDown)
	case slowInstance:
		c.slowDown(s, b)
	default:
		c.store.strike(c, b)
	}
}

// cut has the instance of a slot not reach the store for a time, or not hear of it.
func (c *chaos) cut(s *slot, lasts time.Duration, cut func(*proxy.Network)) {
	c.suffer(checker.Cut, s.life, func() {
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
func (c *chaos) slowDown(s *slot, b blow) {
	delay := time.Duration(20+b.n%100) * time.Millisecond
	// What is lost again and again holds a connection up for longer than a request waits.
	c.suffer(checker.Cut, s.life, func() {
		for _, p := range s.proxies {
			p.Delay(delay)
			p.Lose(float64(b.n%5) / 20)
		}
		time.Sleep(b.lasts)
		for _, p := range s.proxies {
			p.Delay(0)
			p.Lose(0)
		}
	})
}

// down does something to the store, and writes down that it could not be relied upon until it served
// again.
func (c *chaos) down(happens func()) {
	c.suffer(checker.Down, nil, func() {
		happens()
		if err := c.store.awaitService(); err != nil {
			c.t.Error(err)
		}
	})
}
