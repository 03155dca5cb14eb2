package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// turned is a registry that notes the turns of begins and ends, and does not send some of the begins in time.
type turned struct {
	*memory.Registry
	mu    sync.Mutex
	turns []string
	drop  int // how many of the next begins it does not send
}

func (r *turned) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	dropped := make(map[int]bool)
	for i, txn := range txns {
		what, begin := describe(txn)
		if what == "" {
			continue
		}
		r.mu.Lock()
		r.turns = append(r.turns, what)
		if begin && r.drop > 0 {
			r.drop--
			dropped[i] = true
		}
		r.mu.Unlock()
	}
	if len(dropped) == 0 {
		return r.Registry.CommitAll(ctx, txns)
	}
	outcomes := make([]registry.Outcome, len(txns))
	for i, txn := range txns {
		if dropped[i] {
			time.Sleep(time.Until(txn.Turn.Until))
			outcomes[i].Err = registry.ErrNotSent
			continue
		}
		outcomes[i] = r.Registry.CommitAll(ctx, txns[i:i+1])[0]
	}
	return outcomes
}

// describe tells what a transaction does to an item's execution, and its turn, with its end as seconds since
// the bubble began.
func describe(txn registry.Txn) (what string, begin bool) {
	for _, w := range txn.Then {
		name, _ := jobtree.Parse(w.Path)
		if name.Kind == jobtree.KindItemRunning {
			begin = w.Kind == registry.WritePutOwned
			what = "end"
		}
	}
	for _, w := range txn.Then {
		if name, _ := jobtree.Parse(w.Path); begin && name.Kind == jobtree.KindItemRecord {
			record, err := jobtree.DecodeRecord(registry.Node{Path: w.Path, Value: w.Value})
			if err != nil {
				return err.Error(), true
			}
			what = string(record.Current.Source)
		}
	}
	until := "ever"
	if !txn.Turn.Until.IsZero() {
		until = txn.Turn.Until.Sub(bubbleStart).String()
	}
	if what != "" {
		what = fmt.Sprintf("%s: rank %d of %q for %s", what, txn.Turn.Rank, txn.Turn.Share, until)
	}
	return what, begin
}

func (r *turned) dropNext(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop = n
}

func (r *turned) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	turns := r.turns
	r.turns = nil
	return turns
}

// overTurned starts an instance over a registry that notes turns.
func (c *cluster) overTurned(id string, work job.HandlerFunc, cfg job.Config, opts ...scheduler.Option) (*instance, *turned) {
	c.t.Helper()
	reg := &turned{Registry: c.server.Open("test", memory.WithTTL(time.Minute))}
	s, err := scheduler.New(reg, append(opts, scheduler.WithInstanceID(fullID(id)))...)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, work))))
	i := c.run(s, reg.Registry)
	<-s.Ready()
	return i, reg
}

// What is due begins in its job's share, for as long as that makes sense; what is late already goes after it;
// an end goes before both, whenever that is, and takes turns with those of other jobs.
func TestTurns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*job.Config)
		work   job.HandlerFunc
		story  func(t *testing.T, c *cluster, i *instance)
		want   []string
	}{
		"on time": {
			want: []string{`scheduled: rank 1 of "orders" for 10s`, `end: rank 0 of "orders" for ever`},
		},
		"on time, with jitter": {
			change: func(c *job.Config) { c.Jitter = 3 * time.Second },
			want:   []string{`scheduled: rank 1 of "orders" for 12.584s`, `end: rank 0 of "orders" for ever`}, // by the delay of that fire
		},
		"by hand": {
			story: func(t *testing.T, _ *cluster, i *instance) {
				trigger(t, i)
				sleepUntil(4 * time.Second)
			},
			want: []string{`manual: rank 1 of "orders" for 1h0m0s`, `end: rank 0 of "orders" for ever`},
		},
		"missed": {
			change: func(c *job.Config) { c.Cron = "5,6 * * * * ?" },
			work:   slowOnce(20 * time.Second),
			want: []string{
				`scheduled: rank 1 of "orders" for 10s`, `end: rank 0 of "orders" for ever`,
				`misfire: rank 2 of "orders" for 30s`, `end: rank 0 of "orders" for ever`,
			},
		},
		"missed, within a window": {
			change: func(c *job.Config) { c.Cron, c.MisfireWindow = "5,6 * * * * ?", 22*time.Second },
			work:   slowOnce(20 * time.Second),
			want: []string{
				`scheduled: rank 1 of "orders" for 10s`, `end: rank 0 of "orders" for ever`,
				`misfire: rank 2 of "orders" for 28s`, `end: rank 0 of "orders" for ever`,
			},
		},
		"nothing is made up, and confirmations take two seconds": {
			change: func(c *job.Config) { c.Misfire = job.MisfireSkip },
			story: func(_ *testing.T, _ *cluster, i *instance) {
				sleepUntil(4 * time.Second)
				i.registry.SetLatency(time.Second)
				sleepUntil(100 * time.Second)
			},
			want: []string{
				`scheduled: rank 1 of "orders" for 10s`, `end: rank 0 of "orders" for ever`,
				`scheduled: rank 1 of "orders" for 1m9.5s`, `end: rank 0 of "orders" for ever`,
			},
		},
		"with a fixed delay": {
			change: func(c *job.Config) { c.Cron = "@delay 50s" },
			want:   []string{`scheduled: rank 1 of "orders" for ever`, `end: rank 0 of "orders" for ever`},
		},
		"lost": {
			change: func(c *job.Config) { c.Failover = true },
			story: func(t *testing.T, c *cluster, i *instance) {
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 1}
				cfg.Failover = true
				other := c.onServer(2, "b", 0, hang, cfg) // the last id has the only item
				sleepUntil(6 * time.Second)
				other.crash(t)
				sleepUntil(20 * time.Second)
			},
			want: []string{`failover: rank 1 of "orders" for ever`, `end: rank 0 of "orders" for ever`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 1}
				if test.change != nil {
					test.change(&cfg)
				}
				i, reg := c.overTurned("a", test.work, cfg)
				if test.story != nil {
					test.story(t, c, i)
				} else {
					sleepUntil(40 * time.Second)
				}
				require.Equal(t, test.want, reg.taken())
			})
		})
	}
}

// A begin that is not sent in time costs nothing, and its fire is missed: nothing was written, the item goes
// on, and the job's settings say whether the fire is made up.
func TestABeginThatIsNotSent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*job.Config)
		drop   int
		want   []string
		begins int
	}{
		"made up": {
			change: func(*job.Config) {}, drop: 1, begins: 3,
			want: []string{"item 0 fire 5s misfire on a", "item 0 fire 28s scheduled on a"},
		},
		"not made up": {
			change: func(c *job.Config) { c.Misfire = job.MisfireSkip }, drop: 1, begins: 2,
			want: []string{"item 0 fire 28s scheduled on a"},
		},
		"one that is late already asks again": {
			change: func(*job.Config) {}, drop: 4, begins: 6,
			want: []string{"item 0 fire 5s misfire on a", "item 0 fire 28s scheduled on a"},
		},
		"until it is too old": {
			change: func(c *job.Config) { c.MisfireWindow = 12 * time.Second }, drop: 3, begins: 4,
			want: []string{"item 0 fire 28s scheduled on a"},
		},
		"until it has another's place": {
			change: func(*job.Config) {}, drop: 5, begins: 6,
			want: []string{"item 0 fire 28s scheduled on a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5,28 * * * * ?", ShardingTotalCount: 1}
				test.change(&cfg)
				o := &overloaded{runs: make(map[string]int)}
				_, reg := c.overTurned("a", nil, cfg, scheduler.WithObserver(o))
				sleepUntil(4 * time.Second)
				reg.dropNext(test.drop)
				sleepUntil(9900 * time.Millisecond)
				require.False(t, c.state().Item(0).Record.Exists(), "nothing was written")
				sleepUntil(45 * time.Second)
				require.Equal(t, test.want, c.shown())
				var begins int
				for _, turn := range reg.taken() {
					if !strings.HasPrefix(turn, "end") {
						begins++
					}
				}
				require.Equal(t, test.begins, begins)
				require.EqualValues(t, 1, o.dropped(), "the fire counts once, however often its begin was not sent")
			})
		})
	}
}

// So it is with a begin in whose request the barrier of a whole round is opened, ahead of it.
func TestABeginThatIsNotSentBesideABarrier(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &turned{Registry: c.server.Open("test", memory.WithTTL(time.Minute))}
		o := &overloaded{runs: make(map[string]int)}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithObserver(o))
		require.NoError(t, err)
		cfg := job.Config{Name: "orders", Cron: "5,28 * * * * ?", ShardingTotalCount: 2}
		hook := func(context.Context, job.WholeRound) error { return nil }
		require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("a", nil), scheduler.WithWholeRoundListener(job.WholeRoundListener{
			AllCompleted: hook, CompletedWithin: 15 * time.Second,
		}))))
		c.run(s, reg.Registry)
		<-s.Ready()
		sleepUntil(4 * time.Second)
		reg.dropNext(2)
		sleepUntil(9900 * time.Millisecond)
		require.True(t, c.state().Barrier(jobtree.PhaseCompleted).Round.Exists(), "the barrier was opened")
		require.False(t, c.state().Item(0).Record.Exists(), "no begin was sent")
		sleepUntil(45 * time.Second)
		require.ElementsMatch(t, []string{
			"item 0 fire 5s misfire on a", "item 0 fire 28s scheduled on a",
			"item 1 fire 5s misfire on a", "item 1 fire 28s scheduled on a",
		}, c.shown())
		require.EqualValues(t, 2, o.dropped())
	})
}

// What can no longer be confirmed in time is not even asked for, if that would be of no use.
func TestABeginThatWouldBeConfirmedTooLate(t *testing.T) {
	t.Parallel()
	for _, misfire := range []bool{false, true} {
		t.Run(fmt.Sprintf("misfire=%t", misfire), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5,30 * * * * ?", ShardingTotalCount: 1}
				if !misfire {
					cfg.Misfire = job.MisfireSkip
				}
				o := &overloaded{runs: make(map[string]int)}
				reg := &turned{Registry: c.server.Open("test", memory.WithTTL(time.Minute))}
				slow := &slowToConfigure{HandlerFunc: c.record("a", nil)}
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithObserver(o))
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), cfg, slow)))
				c.run(s, reg.Registry)
				<-s.Ready()
				sleepUntil(4 * time.Second)
				reg.SetLatency(2 * time.Second) // a confirmation takes four, so half a second is known of it after one
				sleepUntil(20 * time.Second)
				reg.SetLatency(0)
				reg.taken()
				c.take()
				slow.takes.Store(int64(4700 * time.Millisecond)) // nothing begins meanwhile
				sleepUntil(29700 * time.Millisecond)             // before the job's head start
				cfg.Description = "new"
				c.change(cfg)
				sleepUntil(40 * time.Second)
				if misfire {
					require.Equal(t, []string{"item 0 fire 30s scheduled on a"}, c.shown())
					require.Zero(t, o.dropped())
					return
				}
				require.Empty(t, c.take())
				require.Empty(t, reg.taken())
				require.EqualValues(t, 1, o.dropped())
			})
		})
	}
}

// slowToConfigure is code that takes its time over each configuration.
type slowToConfigure struct {
	job.HandlerFunc
	takes atomic.Int64
}

func (s *slowToConfigure) Configure(job.Config) (job.HandlerFunc, error) {
	time.Sleep(time.Duration(s.takes.Load()))
	return s.HandlerFunc, nil
}

// dropped returns how many fires were told that could not begin in time.
func (o *overloaded) dropped() (all int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, second := range o.loads {
		all += second.Dropped
	}
	return all
}

// However much is due at once, a process has so many begins under way and no more: what waits is decided on when
// its turn comes, and all of it begins.
func TestBeginsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const items, window = 1_500, 1_024
		reg := &counted{Registry: c.server.Open("test")}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		for _, name := range []string{"orders", "bills"} {
			require.NoError(t, errOf(s.Add(t.Context(), job.Config{Name: name, Cron: "5 * * * * ?", ShardingTotalCount: items}, c.record("a", nil))))
		}
		ctx, cancel := context.WithCancel(t.Context())
		i := &instance{Scheduler: s, registry: reg.Registry, cancel: cancel, done: make(chan error, 1)}
		go func() { i.done <- s.Run(ctx) }()
		t.Cleanup(func() { i.stop(t) })
		<-s.Ready()
		sleepUntil(4 * time.Second)
		reg.SetLatency(50 * time.Millisecond)
		sleepUntil(5050 * time.Millisecond)
		require.GreaterOrEqual(t, reg.mostAtOnce(), window)
		require.Less(t, reg.mostAtOnce(), window+20, "a turn is not cut")
		sleepUntil(20 * time.Second)
		ran := make(map[string]int)
		for _, r := range c.take() {
			require.Equal(t, job.Scheduled, r.sc.Source)
			ran[r.sc.JobName]++
		}
		require.Equal(t, map[string]int{"orders": items, "bills": items}, ran)
	})
}

// Turns that come when they are of no use are given back: the next fire finds all of them.
func TestTurnsThatAreNotUsedAreGivenBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		oneWay time.Duration // of the requests of the first fire
		story  func(c *cluster, cfg job.Config, code *slowToConfigure)
	}{
		"what waited is too late": {
			oneWay: 6 * time.Second,
			story:  func(*cluster, job.Config, *slowToConfigure) {},
		},
		"nothing may begin": {
			oneWay: 600 * time.Millisecond,
			story: func(c *cluster, cfg job.Config, code *slowToConfigure) {
				sleepUntil(5200 * time.Millisecond)
				code.takes.Store(int64(10 * time.Second))
				cfg.Description = "new"
				c.change(cfg)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				const items = 1_500
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: items}
				cfg.Misfire = job.MisfireSkip
				reg := &counted{Registry: c.server.Open("test", memory.WithTTL(time.Minute))}
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
				require.NoError(t, err)
				code := &slowToConfigure{HandlerFunc: c.record("a", nil)}
				require.NoError(t, errOf(s.Add(t.Context(), cfg, code)))
				ctx, cancel := context.WithCancel(t.Context())
				i := &instance{Scheduler: s, registry: reg.Registry, cancel: cancel, done: make(chan error, 1)}
				go func() { i.done <- s.Run(ctx) }()
				t.Cleanup(func() { i.stop(t) })
				<-s.Ready()
				sleepUntil(4 * time.Second)
				reg.SetLatency(test.oneWay)
				test.story(c, cfg, code)
				sleepUntil(50 * time.Second)
				require.Less(t, len(c.take()), items)
				reg.SetLatency(50 * time.Millisecond)
				reg.forget()
				sleepUntil(65050 * time.Millisecond)
				require.Greater(t, reg.mostAtOnce(), 480, "the window is smaller after slow answers, and free")
				sleepUntil(80 * time.Second)
				require.Len(t, c.take(), items)
			})
		})
	}
}

// counted is a registry that counts the begins that are under way.
type counted struct {
	*memory.Registry
	mu        sync.Mutex
	now, most int
}

func (r *counted) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	begins := 0
	for _, txn := range txns {
		if _, begin := describe(txn); begin {
			begins++
		}
	}
	r.count(begins)
	defer r.count(-begins)
	return r.Registry.CommitAll(ctx, txns)
}

func (r *counted) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most = r.now
}

func (r *counted) mostAtOnce() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}

func (r *counted) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now += n
	r.most = max(r.most, r.now)
}
