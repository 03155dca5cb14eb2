package simulation_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// driver carries a plan out.
type driver struct {
	*cluster
	plan  plan
	slots []slot
	desks []desk
	wg    sync.WaitGroup // troubles and stops under way

	mu       sync.Mutex // guards slots, what troubles processes, and failures
	failures []string   // of schedulers, which should not fail
	down     bool       // the store
	calm     bool       // nothing goes wrong any more
	missing  string     // the settings that somebody removed or spoilt, as they were

	holding holding
	tardy   atomic.Int64 // nanoseconds that the store takes for every request
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
	d.holding = holding{d: d, sent: make(map[string]uint64)}
	c.delays, c.hooks = d.holding.of, p.hooks
	c.follows, c.opening, c.refuses = p.follows, p.opening, p.refuses
	c.spread = func(id string) uint64 { return 1 + uint64(delayOf(id)) }
	c.work, c.ttl = p.work, p.pace.unit
	c.rules.TTL, c.rules.Grace, c.rules.Skew = c.ttl, p.pace.scaled(10*time.Second), p.skew
	c.rules.Hooks = make(map[string]time.Duration)
	for _, phase := range p.hooks {
		c.rules.Hooks[phase] = c.ttl
	}
	c.rules.Witnesses = !p.narrow()
	c.requests, c.slowLogs = p.requests, p.seed
	if p.rate > 0 {
		d.rec.paced(p.faults, p.rate)
		d.server.SetPace(p.rate, 0)
	}
	for i := range d.slots {
		d.slots[i].ip = fmt.Sprintf("10.0.0.%d", i+1)
	}
	d.openDesks()
	for i := range d.slots {
		d.act(action{do: launch, slot: i, n: 1})
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
	d.closeDesks()
	return d.failures
}

// recover ends all troubles, and sees to it that there is somebody to judge.
func (d *driver) recover() {
	d.mu.Lock()
	d.calm = true
	d.server.SetPace(0, 0)
	d.mu.Unlock()
	d.wg.Wait()
	synctest.Wait() // for the view to show what was done last
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.slots {
		if p := d.slots[i].process; p != nil {
			p.handle.Calm()
		} else {
			d.launch(i, 1)
		}
		d.setServer(i, false)
	}
	d.putRight()
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

// act does one action, if there is a process in the mood for it.
func (d *driver) act(a action) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calm {
		return
	}
	switch {
	case a.do == launch:
		d.launchSomewhere(a)
	case a.do == crashLoop:
		d.wg.Go(func() { d.crashLoop(a) })
	case a.do.onCluster():
		d.actOnCluster(a)
	case !a.do.byOperator() || !d.down:
		d.actOnProcess(a)
	}
}

// launchSomewhere starts a process in the next slot that is free.
func (d *driver) launchSomewhere(a action) {
	for i := range d.slots {
		if slot := (a.slot + i) % len(d.slots); d.slots[slot].process == nil {
			d.launch(slot, a.n%2)
			return
		}
	}
}

// actOnProcess does the actions that are meant for one process.
func (d *driver) actOnProcess(a action) {
	s := &d.slots[a.slot]
	p := s.process
	if p == nil || s.stopping || p.troubled && a.do != crash && a.do != forgetInstance {
		return
	}
	switch a.do {
	case crash:
		s.process = nil
		p.die()
		d.wg.Go(p.vanish)
	case stop:
		if a.n%5 == 0 && !d.down {
			d.shutDown(a.slot, a.n)
		} else {
			d.stop(a.slot)
		}
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
	case holdBack:
		p.holdBack(1+a.n%3, a.lasts)
	case copyLater:
		p.copyLater(1+a.n%20, a.lasts)
	case breakWatch:
		p.breakWatch()
	case deny:
		if p.joined() { // before that, it does not start
			d.trouble(p, func() { p.deny(a.lasts, a.n%3 == 0) })
		}
	case missetClock:
		d.missetClock(p, a)
	case setClock:
		p.setClock(d.skewOf(a.n))
	case forgetInstance:
		if d.state().Instance(p.id).Session != 0 {
			d.rec.incident(checker.Unlisted, p.id, 0, 0)
		}
		d.careless(registry.Delete(d.tree().Instance(p.id)))
	}
}

// actOnCluster does the actions that are not meant for one process.
func (d *driver) actOnCluster(a action) {
	if d.down {
		return // operators cannot reach the store either
	}
	switch a.do {
	case storeDown:
		d.down = true
		d.wg.Go(func() {
			d.storeDown(a.lasts)
			d.mu.Lock()
			defer d.mu.Unlock()
			d.down = false
		})
	case slowStore:
		d.slowStore(a.lasts, time.Duration(50+a.n)*time.Millisecond)
	case forgetHistory:
		d.server.Compact()
	case expireAll:
		d.rec.incident(checker.Expired, "", 0, 0)
		for _, s := range d.slots {
			if s.process != nil {
				s.process.handle.Expire()
			}
		}
	case changeTotal:
		d.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 1 + a.n%12 })
	case changeCron:
		d.configure(func(cfg *job.Config) { cfg.Cron = d.plan.pace.crons[a.n%3] })
	case toggleFailover:
		d.configure(func(cfg *job.Config) { cfg.Failover = !cfg.Failover })
	case changeMisfire:
		d.configure(func(cfg *job.Config) { setMisfire(cfg, a.n) })
	case changeParameter:
		d.configure(func(cfg *job.Config) { cfg.JobParameter = fmt.Sprint("parameter ", a.n) })
	case changeJitter:
		d.configure(func(cfg *job.Config) {
			if !strings.HasPrefix(cfg.Cron, "@delay") {
				cfg.Jitter = d.plan.pace.unit * time.Duration(a.n%5) / 5
			}
		})
	case changeLimits:
		d.configure(func(cfg *job.Config) { setLimits(cfg, d.plan.pace, a.n) })
	case toggleRecords:
		d.configure(func(cfg *job.Config) { cfg.Unmonitored = !cfg.Unmonitored })
	case toggleItem:
		d.toggleItem(a.n)
	case toggleServer:
		if a.n%6 == 5 {
			d.configure(func(cfg *job.Config) { cfg.Disabled = !cfg.Disabled })
		} else {
			d.setServer(a.slot, !d.state().Server(d.slots[a.slot].ip).Disabled)
		}
	case runByHand:
		if a.n%2 == 0 {
			d.trigger()
		} else {
			d.ask(a.n)
		}
	case forgetLeader:
		d.careless(registry.Delete(d.tree().Leader()))
	case askForResharding:
		d.careless(registry.Put(d.tree().Necessary(), ""))
	case removeJob:
		d.spoil(a, registry.Delete(d.tree().Config()))
	case spoilConfig:
		d.spoil(a, registry.Put(d.tree().Config(), unusable[a.n%len(unusable)]))
	case meddle:
		d.meddle(a)
	case contradict:
		d.contradict(a)
	default:
		d.operate(a)
	}
}

// unusable are settings that no process can do anything with.
var unusable = []string{"", "{", `{"jobName":"orders"`, `{"jobName":"orders","cron":"0 0 0 31 2","shardingTotalCount":3}`}

// careless does what an operator should not.
func (d *driver) careless(writes ...registry.Write) {
	d.commit(writes...)
}

// spoil has somebody make the settings unusable, and put them right after a time.
func (d *driver) spoil(a action, write registry.Write) {
	if d.missing != "" || d.state().Config.Revision == 0 {
		return
	}
	d.missing = d.view.Snapshot().Get(d.tree().Config()).Value
	d.careless(write)
	d.wg.Go(func() {
		for wait := a.lasts; !d.repair(wait); wait = time.Second {
		}
	})
}

// repair puts the settings back after a time, unless the store is down by then.
func (d *driver) repair(after time.Duration) bool {
	time.Sleep(after)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down || d.view.Snapshot().Get(d.tree().Config()).Ephemeral() {
		return false
	}
	d.careless(registry.Put(d.tree().Config(), d.missing))
	d.missing = ""
	return true
}

// slowStore has the store take so much longer for every request.
func (d *driver) slowStore(lasts, by time.Duration) {
	if d.tardy.Load() != 0 {
		return
	}
	d.rec.incident(checker.Slow, "", lasts, by)
	d.tardy.Store(int64(by))
	d.wg.Go(func() {
		time.Sleep(lasts)
		d.tardy.Store(0)
	})
}

// storeDelay is how much longer a message takes because the store is slow.
func (d *driver) storeDelay(m memory.Message) time.Duration {
	if m.Kind != memory.Request {
		return 0
	}
	return time.Duration(d.tardy.Load())
}

// slotOf returns where the process of an instance runs. Messages ask for it while others act, so it
// looks at nothing but what stays.
func (d *driver) slotOf(id string) int {
	for i := range d.slots {
		if d.slots[i].ip == jobtree.ServerOf(id) {
			return i
		}
	}
	return -1
}

// toggleItem disables one of the items, by any number, or enables it again.
func (d *driver) toggleItem(number int) {
	n := number % max(1, d.state().Total())
	var operated []registry.Write
	if d.plan.narrow() { // as operators do, who write that down: it tells processes that do not follow the item
		if d.plan.kind == operators { // who disable items themselves; written down once more is done once more
			return
		}
		was := d.view.Snapshot().Get(d.tree().Operated()).Value
		operated = append(operated, registry.Put(d.tree().Operated(), cmp.Or(was, jobtree.EncodeOperated(jobtree.Operated{}))))
	}
	if item := d.state().Item(n); item.Disabled {
		d.commit(append(operated, registry.Delete(d.tree().ItemDisabled(n)))...)
	} else if n < d.state().Total() {
		d.commit(append(operated, registry.Put(d.tree().ItemDisabled(n), ""))...)
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

// missetClock has the clock of a process be wrong for a time. Anything else may happen to the process
// meanwhile.
func (d *driver) missetClock(p *process, a action) {
	if p.misset {
		return
	}
	p.misset = true
	ahead, lasts := d.plan.missetting(a)
	right := time.Duration(p.skew.Load())
	d.wg.Go(func() {
		p.missetClock(ahead, right, lasts)
		d.mu.Lock()
		defer d.mu.Unlock()
		p.misset = false
	})
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
		fine := err == nil || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "did not return") ||
			strings.Contains(err.Error(), "was not called any more") // the stop timeout was over
		if !fine {
			d.failures = append(d.failures, fmt.Sprintf("Run of %s: %v", p.id, err))
		}
		s.process, s.stopping = nil, false
	})
}

// crashLoop has the process in a slot crash, and be started again, for a time: each of its lives is about as short as others.
func (d *driver) crashLoop(a action) {
	r := rand.New(rand.NewPCG(d.plan.seed, uint64(a.n)))
	most := d.plan.pace.unit / time.Duration(1+r.IntN(10)) // up to a TTL, or a tenth of one
	for until := time.Now().Add(a.lasts); time.Now().Before(until); {
		d.mu.Lock()
		s := &d.slots[a.slot]
		if s.process == nil && !d.calm {
			d.launch(a.slot, min(1, r.IntN(5)))
		}
		p := s.process
		if p != nil && !p.troubled && !s.stopping {
			p.troubled = true // else somebody stops it
		} else {
			p = nil
		}
		d.mu.Unlock()
		time.Sleep(time.Duration(r.Int64N(int64(most))) + 10*time.Millisecond)
		d.mu.Lock()
		if p != nil {
			p.troubled = false
		}
		if p != nil && s.process == p && !s.stopping && !d.calm {
			s.process = nil
			p.die()
			d.wg.Go(p.vanish)
		}
		calm := d.calm
		d.mu.Unlock()
		if calm {
			return
		}
		time.Sleep(time.Duration(r.Int64N(int64(most/4))) + time.Millisecond)
	}
}

// shutDown has an operator ask the process in a slot to leave the job, and the process stops a moment later: alive, it
// would take no part for good.
func (d *driver) shutDown(i, n int) {
	p := d.slots[i].process
	_, err := d.operator.Commit(context.Background(), registry.Txn{
		Then: []registry.Write{registry.Update(d.tree().Instance(p.id), jobtree.InstanceShutdown)},
	})
	if !errors.Is(err, registry.ErrConflict) { // it is not there just now
		require.NoError(d.t, err)
	}
	p.troubled = true
	d.wg.Go(func() {
		time.Sleep(time.Duration(n%400) * time.Millisecond)
		d.mu.Lock()
		defer d.mu.Unlock()
		p.troubled = false
		if d.slots[i].process == p {
			d.stop(i)
		}
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
