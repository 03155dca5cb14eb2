package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// driver carries a plan out.
type driver struct {
	*cluster
	plan  plan
	slots []slot
	wg    sync.WaitGroup // troubles and stops under way

	mu       sync.Mutex // guards slots, what troubles processes, and failures
	failures []string   // of schedulers, which should not fail
	down     bool       // the store
}

// slot is where one process at a time runs.
type slot struct {
	ip       string
	lives    int
	process  *process // nil while none runs
	stopping bool
}

// drive carries the plan out in a bubble, from the first launch to the last stop. It returns what
// schedulers failed with.
func drive(t *testing.T, c *cluster, p plan) []string {
	d := &driver{cluster: c, plan: p, slots: make([]slot, p.processes)}
	c.spread = func(id string) uint64 { return 1 + uint64(delayOf(id)) }
	c.work, c.ttl = p.work, p.pace.unit
	c.rules.TTL, c.rules.Grace, c.rules.Skew = c.ttl, p.pace.scaled(10*time.Second), p.skew
	for i := range d.slots {
		d.slots[i].ip = fmt.Sprintf("10.0.0.%d", i+1)
		d.launch(i, 1)
		time.Sleep(time.Duration(i) * 7 * time.Millisecond)
	}
	for _, a := range p.actions {
		sleepUntil(a.at)
		d.act(a)
	}
	sleepUntil(p.faults)
	d.recover()
	time.Sleep(p.calm)
	d.stopAll(t)
	return d.failures
}

// recover ends all troubles, and sees to it that there is somebody to judge.
func (d *driver) recover() {
	d.wg.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.slots {
		if d.slots[i].process == nil {
			d.launch(i, 1)
		}
		d.setServer(i, false)
	}
}

func (d *driver) stopAll(t *testing.T) {
	for i := range d.slots {
		d.mu.Lock()
		d.stop(i)
		d.mu.Unlock()
		time.Sleep(time.Duration(i) * 400 * time.Millisecond)
	}
	d.wg.Wait()
	for _, s := range d.slots {
		require.Nil(t, s.process)
	}
	time.Sleep(d.plan.pace.scaled(longestWork)) // code that was given up ends by itself
}

// act does one action, if the process that it is meant for is there and in the mood.
func (d *driver) act(a action) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.actOnCluster(a) {
		return
	}
	s := &d.slots[a.slot]
	if a.do == launch {
		if s.process == nil {
			d.launch(a.slot, a.n%2)
		}
		return
	}
	p := s.process
	if p == nil || s.stopping || p.troubled && a.do != crash {
		return
	}
	switch a.do {
	case crash:
		s.process = nil
		p.die()
		d.wg.Go(p.vanish)
	case stop:
		d.stop(a.slot)
	case cut:
		d.trouble(p, func() { p.cut(a.lasts) })
	case pause:
		if p.joined() {
			d.trouble(p, func() { p.pause(a.lasts) })
		}
	case slow:
		d.trouble(p, func() { p.slow(a.lasts, time.Duration(5+a.n%60)*time.Millisecond) })
	case crawl:
		d.trouble(p, func() { p.slow(a.lasts, time.Duration(100+4*a.n)*time.Millisecond) })
	case expire:
		p.expire()
	case loseAnswers:
		p.loseAnswers(1 + a.n%3)
	case breakWatch:
		p.breakWatch()
	case setClock:
		p.setClock(d.skewOf(a.n))
	}
}

// actOnCluster does the actions that are not meant for a process.
func (d *driver) actOnCluster(a action) bool {
	if d.down && a.do >= changeTotal {
		return true // operators cannot reach the store either
	}
	switch a.do {
	case storeDown:
		if !d.down {
			d.down = true
			d.wg.Go(func() {
				d.storeDown(a.lasts)
				d.mu.Lock()
				defer d.mu.Unlock()
				d.down = false
			})
		}
	case forgetHistory:
		d.server.Compact()
	case changeTotal:
		d.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 1 + a.n%12 })
	case changeCron:
		d.configure(func(cfg *job.Config) { cfg.Cron = d.plan.pace.crons[a.n%3] })
	case toggleFailover:
		d.configure(func(cfg *job.Config) { cfg.Failover = !cfg.Failover })
	case toggleMisfire:
		d.configure(func(cfg *job.Config) { cfg.Misfire = !cfg.Misfire })
	case changeParameter:
		d.configure(func(cfg *job.Config) { cfg.JobParameter = fmt.Sprint("parameter ", a.n) })
	case toggleItem:
		d.toggleItem(a.n)
	case toggleServer:
		d.setServer(a.slot, a.n%2 == 0)
	case runByHand:
		d.trigger()
	default:
		return false
	}
	return true
}

// toggleItem disables one of the items, by any number, or enables it again.
func (d *driver) toggleItem(number int) {
	n := number % max(1, d.state().Total())
	if item := d.state().Item(n); item.Disabled {
		d.commit(registry.Delete(d.tree().ItemDisabled(n)))
	} else if n < d.state().Total() {
		d.put(d.tree().ItemDisabled(n), "")
	}
}

func (d *driver) setServer(i int, disabled bool) {
	if ip := d.slots[i].ip; d.state().Server(ip).Disabled != disabled {
		d.put(d.tree().Server(ip), jobtree.EncodeServer(disabled))
	}
}

// launch starts a process in a slot, under a new id or, if fresh is 0, under that of the one before. The
// caller holds mu, once others may.
func (d *driver) launch(i, fresh int) {
	s := &d.slots[i]
	if fresh != 0 || s.lives == 0 {
		s.lives++
	}
	s.process = d.start(fmt.Sprintf("%s@-@%d", s.ip, s.lives))
	s.process.setClock(d.skewOf(37 * (s.lives*len(d.slots) + i)))
}

// skewOf makes a number how much a clock is off.
func (d *driver) skewOf(n int) time.Duration {
	return d.plan.skew * time.Duration(n%1001-500) / 500
}

// stop has the process of a slot stop in the background. The caller holds mu.
func (d *driver) stop(i int) {
	s := &d.slots[i]
	p := s.process
	if p == nil || s.stopping {
		return
	}
	s.stopping = true
	d.wg.Go(func() {
		err := p.stop()
		d.mu.Lock()
		defer d.mu.Unlock()
		fine := err == nil || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "did not return")
		if !fine {
			d.failures = append(d.failures, fmt.Sprintf("Run of %s: %v", p.id, err))
		}
		s.process, s.stopping = nil, false
	})
}

// trouble has something happen to a process in the background, one thing at a time.
func (d *driver) trouble(p *process, happens func()) {
	p.troubled = true
	d.wg.Go(func() {
		happens()
		d.mu.Lock()
		defer d.mu.Unlock()
		p.troubled = false
	})
}
