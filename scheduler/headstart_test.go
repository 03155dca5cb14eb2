package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
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

// aBegin is how long a begin takes where a registry is [away].
const aBegin = 100 * time.Millisecond

// away starts an instance that is half of aBegin away from the registry, and whose job has learnt its head start by the tenth
// second.
func (c *cluster) away(work job.HandlerFunc, cfg job.Config, opts ...scheduler.Option) *instance {
	c.t.Helper()
	reg := c.server.Open("test", memory.WithLatency(aBegin/2))
	s, err := scheduler.New(reg, append(opts, scheduler.WithInstanceID(fullID("a")))...)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record("a", work))))
	i := c.run(s, reg)
	<-i.Ready()
	return i
}

// late is how long after its fire a run began.
func (r run) late() time.Duration { return r.began.Sub(r.sc.Fire) }

// Code is called when its fire comes, though a begin takes a while, and not before. Its round takes as many requests as
// without.
func TestCodeIsCalledWithTheFire(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		i := c.away(nil, jobOf(3))
		sleepUntil(9 * time.Second)
		for _, r := range c.take() {
			require.Equal(t, aBegin, r.late(), "nothing is known yet")
		}
		before := i.registry.Stats()
		sleepUntil(10*time.Second - aBegin/2)
		require.Empty(t, c.take())
		require.Equal(t, fullID("a"), c.stateOf("orders").Item(1).Running.Value, "it has begun")
		sleepUntil(14 * time.Second)
		runs := c.take()
		require.Len(t, runs, 3)
		for _, r := range runs {
			require.Zero(t, r.late())
			require.Equal(t, job.Scheduled, r.sc.Source)
		}
		record := c.stateOf("orders").Record(1).Value
		require.Equal(t, bubbleStart.Add(10*time.Second), record.Current.Begin.Local().UTC(), "as its code was called")
		after := i.registry.Stats()
		require.Equal(t, 2, after.CommitRequests-before.CommitRequests)
		require.Zero(t, after.ReadRequests-before.ReadRequests)
	})
}

// A head start follows how long begins take: up at once, and down by and by.
func TestAHeadStartFollowsItsBegins(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		i := c.away(nil, jobOf(1))
		ahead := func(d time.Duration) (has bool) { // of the next fire
			sleepUntil(time.Since(bubbleStart).Truncate(5*time.Second) + 5*time.Second - d)
			return c.stateOf("orders").Item(0).Running.Exists()
		}
		sleepUntil(14 * time.Second)
		require.False(t, ahead(aBegin/2+time.Millisecond), "the request is on its way")
		require.True(t, ahead(aBegin/2-time.Millisecond))
		i.registry.SetLatency(aBegin * 3 / 10)
		sleepUntil(3 * time.Minute)
		c.take()
		require.False(t, ahead(aBegin*3/10+time.Millisecond))
		require.True(t, ahead(aBegin*3/10-time.Millisecond))
		i.registry.SetLatency(aBegin * 31 / 100) // a little longer: one fire is late by that, and no other
		sleepUntil(4 * time.Minute)
		late := 0
		for _, r := range c.take() {
			if r.late() > 0 {
				late++
			}
		}
		require.Equal(t, 1, late)
	})
}

// No job has a longer head start than the process lets it, or than a quarter of the time between its fires, and some have none.
func TestTheBoundsOfAHeadStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(cfg *job.Config)
		opts   []scheduler.Option
		late   time.Duration
	}{
		"it is turned off":           {opts: []scheduler.Option{scheduler.WithHeadStart(0)}, late: aBegin},
		"the process bounds it":      {opts: []scheduler.Option{scheduler.WithHeadStart(aBegin / 4)}, late: aBegin * 3 / 4},
		"fires are close":            {change: func(cfg *job.Config) { cfg.Cron = "@every 300ms" }, late: aBegin / 4},
		"a fixed delay":              {change: func(cfg *job.Config) { cfg.Cron = "@delay 5s" }, late: aBegin},
		"the job has jitter":         {change: func(cfg *job.Config) { cfg.Jitter = time.Second }, late: -1},
		"the job is not monitored":   {change: func(cfg *job.Config) { cfg.Unmonitored = true }},
		"nothing is different there": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				if test.change != nil {
					test.change(&cfg)
				}
				c.away(nil, cfg, test.opts...)
				sleepUntil(14 * time.Second)
				c.take()
				sleepUntil(24 * time.Second)
				runs := c.take()
				require.NotEmpty(t, runs)
				for _, r := range runs {
					if test.late < 0 { // by the fire alone
						require.Zero(t, r.late()%time.Millisecond)
						require.LessOrEqual(t, r.late(), cfg.Jitter)
						continue
					}
					require.Equal(t, test.late, r.late())
				}
			})
		})
	}
}

func TestAHeadStartThatIsNone(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{-1, scheduler.MaxHeadStart + 1} {
		_, err := scheduler.New(memory.NewServer().Open("test"), scheduler.WithHeadStart(d))
		require.ErrorIs(t, err, scheduler.ErrInvalidOption)
		require.ErrorContains(t, err, fmt.Sprintf("head start %s, must be from 0 to 200ms", d))
	}
}

// Whatever comes about between a begin and its fire counts as if it had come before the fire without a head start: the fire is
// run once, by whoever has the item then, or not at all if it must not run.
func TestBetweenTheBeginAndTheFire(t *testing.T) {
	t.Parallel()
	const at = 10*time.Second - aBegin/3
	tree := jobtree.For("orders")
	commit := func(t *testing.T, i *instance, writes ...registry.Write) {
		_, err := i.registry.Commit(t.Context(), registry.Txn{Then: writes})
		require.NoError(t, err)
	}
	for name, test := range map[string]struct {
		happens func(t *testing.T, c *cluster, a *instance)
		change  func(cfg *job.Config)
		until   time.Duration // zero = the 14th second
		of      string        // only the runs of one instance count; empty = all do
		want    []string
	}{
		"nothing": {want: []string{"item 0 fire 10s scheduled on a"}},
		"the item is disabled": {
			happens: func(t *testing.T, _ *cluster, a *instance) { commit(t, a, registry.Put(tree.ItemDisabled(0), "")) },
		},
		"the item is disabled, and enabled later": {
			happens: func(t *testing.T, _ *cluster, a *instance) {
				commit(t, a, registry.Put(tree.ItemDisabled(0), ""))
				sleepUntil(11 * time.Second)
				commit(t, a, registry.Delete(tree.ItemDisabled(0)))
			},
		},
		"the item is disabled, and enabled before the fire": {
			happens: func(t *testing.T, _ *cluster, a *instance) {
				commit(t, a, registry.Put(tree.ItemDisabled(0), ""))
				time.Sleep(aBegin / 6)
				commit(t, a, registry.Delete(tree.ItemDisabled(0)))
			},
			want: []string{"item 0 fire 10s scheduled on a"},
		},
		"the server is disabled": {
			happens: func(t *testing.T, _ *cluster, a *instance) {
				commit(t, a, registry.Put(tree.Server("10.0.0.1"), "DISABLED"))
			},
		},
		"the job is removed": {
			happens: func(_ *testing.T, c *cluster, _ *instance) { c.removeJob("orders") },
		},
		"the job has no such item any more, and makes nothing up": {
			change: func(cfg *job.Config) { cfg.ShardingTotalCount, cfg.Misfire = 2, job.MisfireSkip },
			happens: func(_ *testing.T, c *cluster, _ *instance) {
				cfg := jobOf(1)
				cfg.Misfire = job.MisfireSkip
				c.change(cfg)
			},
			want: []string{"item 0 fire 10s scheduled on a"},
		},
		"the description changes": {
			happens: func(t *testing.T, c *cluster, _ *instance) {
				cfg := jobOf(1)
				cfg.Description = "another"
				c.change(cfg)
			},
			want: []string{"item 0 fire 10s scheduled on a"},
		},
		"no records are kept any more": {
			happens: func(_ *testing.T, c *cluster, _ *instance) {
				cfg := jobOf(1)
				cfg.Unmonitored = true
				c.change(cfg)
			},
			want: []string{"item 0 fire 10s scheduled on a"},
		},
		"the cron changes, and has the fire": {
			happens: func(t *testing.T, c *cluster, _ *instance) {
				cfg := jobOf(1)
				cfg.Cron = "0/10 * * * * ?"
				c.change(cfg)
			},
			want: []string{"item 0 fire 10s scheduled on a"},
		},
		"another process joins": {
			happens: func(t *testing.T, c *cluster, _ *instance) { c.launch("b", nil, jobOf(1)) },
			want:    []string{"item 0 fire 10s scheduled on b"}, // which gets the item
		},
		"the item moves, which is known when the fire comes": {
			happens: func(t *testing.T, c *cluster, a *instance) {
				a.registry.SetLatency(aBegin / 3)
				put(t, c.server, tree.ItemInstance(0), fullID("b"))
			},
			want: []string{"item 0 fire 10s scheduled on a"}, // where it has begun
		},
		"the process stops, and another is there": {
			happens: func(t *testing.T, c *cluster, a *instance) {
				c.start("b", nil, jobOf(1))
				a.stop(t)
			},
			want: []string{"item 0 fire 10s scheduled on b"},
		},
		"the process stops, and starts again": {
			happens: func(t *testing.T, c *cluster, a *instance) {
				a.stop(t)
				sleepUntil(11 * time.Second)
				c.start("b", nil, jobOf(1))
			}, // nobody lived when the fire came
		},
		"the process stops, and starts again before the fire": {
			happens: func(t *testing.T, c *cluster, a *instance) {
				a.stop(t)
				c.start("b", nil, jobOf(1))
			},
			want: []string{"item 0 fire 10s scheduled on b"},
		},
		"the process stops, and nothing is made up": {
			change:  func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip },
			happens: func(t *testing.T, _ *cluster, a *instance) { a.stop(t) },
			want:    []string{"item 0 fire 10s scheduled on a"},
		},
		"the process stops at once": {
			happens: func(t *testing.T, _ *cluster, a *instance) { a.StopNow() },
		},
		"the process is cut off": {
			change: func(cfg *job.Config) { cfg.Failover = true },
			happens: func(t *testing.T, c *cluster, a *instance) {
				cfg := jobOf(1)
				cfg.Failover = true
				c.start("b", nil, cfg)
				a.registry.Cut()
			},
			until: 19 * time.Second,
			of:    "b", // the other may know that it is cut off, or not yet
			want:  []string{"item 0 fire 10s failover on b", "item 0 fire 15s scheduled on b"},
		},
		"the process is cut off, and nothing is run again": {
			happens: func(t *testing.T, c *cluster, a *instance) {
				c.start("b", nil, jobOf(1))
				a.registry.Cut()
			},
			until: 19 * time.Second,
			of:    "b",
			want:  []string{"item 0 fire 15s scheduled on b"},
		},
		"the session is lost": {
			happens: func(_ *testing.T, _ *cluster, a *instance) { a.registry.Expire() },
			want:    []string{"item 0 fire 10s scheduled on a"}, // under the next one
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				if test.change != nil {
					test.change(&cfg)
				}
				a := c.away(nil, cfg)
				sleepUntil(9 * time.Second)
				a.registry.SetLatency(0) // a begin is confirmed long before its fire
				c.take()
				sleepUntil(at)
				require.True(t, c.stateOf("orders").Item(0).Running.Exists())
				if test.happens != nil {
					test.happens(t, c, a)
				}
				until := test.until
				if until == 0 {
					until = 14 * time.Second
				}
				sleepUntil(until)
				runs := c.take()
				for _, r := range runs {
					require.GreaterOrEqual(t, r.late(), time.Duration(0))
				}
				if test.of != "" {
					runs = slices.DeleteFunc(runs, func(r run) bool { return r.instance != test.of })
				}
				require.Equal(t, test.want, namesOf(runs))
				a.registry.Heal()
			})
		})
	}
}

// namesOf are runs as text.
func namesOf(runs []run) (all []string) {
	for _, r := range runs {
		all = append(all, r.String())
	}
	return all
}

// The clock may be set while a begun execution waits: nobody waits for a fire that comes an hour later.
func TestTheClockIsSetBackBeforeAFireComes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var off atomic.Int64
		i := c.away(nil, jobOf(1), scheduler.WithClock(func() time.Time { return time.Now().Add(time.Duration(off.Load())) }))
		sleepUntil(9 * time.Second)
		i.registry.SetLatency(0)
		sleepUntil(10*time.Second - aBegin/3)
		c.take()
		require.True(t, c.stateOf("orders").Item(0).Running.Exists())
		off.Store(int64(-time.Hour))
		sleepUntil(11 * time.Second)
		require.Equal(t, []string{"item 0 fire 10s scheduled on a"}, c.shown())
		require.False(t, c.stateOf("orders").Item(0).Running.Exists())
		i.stop(t)
	})
}

// A run that ends shortly before the next fire costs that fire nothing.
func TestARunThatEndsShortlyBeforeTheNextFire(t *testing.T) {
	t.Parallel()
	for _, misfire := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll, job.MisfireSkip} {
		for _, before := range []time.Duration{aBegin / 4, aBegin * 3 / 4, aBegin, aBegin * 5 / 4, aBegin * 3 / 2} {
			t.Run(fmt.Sprintf("%s/%s", misfire, before), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := jobOf(1)
					cfg.Misfire = misfire
					c.away(func(_ context.Context, sc job.ShardingContext) error {
						time.Sleep(time.Until(sc.Fire.Add(5*time.Second - before)))
						return nil
					}, cfg)
					sleepUntil(39 * time.Second)
					runs := c.take()
					for i, r := range runs[:6] {
						if before < aBegin { // its end is not recorded when the fire comes: it was missed, as without a head start
							continue
						}
						require.Equal(t, fmt.Sprintf("item 0 fire %ds scheduled on a", 5*i+5), r.String())
						require.LessOrEqual(t, r.late(), aBegin+aBegin/4)
					}
				})
			})
		}
	}
}

// Who listens hears of a round when its fire has come.
func TestWhoListensHearsAtTheFire(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		heard := &hearsTimes{}
		reg := c.server.Open("test", memory.WithLatency(aBegin/2))
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithObserver(heard))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(2), c.record("a", nil), scheduler.WithListener(heard))))
		c.run(s, reg)
		<-s.Ready()
		sleepUntil(9 * time.Second)
		heard.take()
		sleepUntil(24 * time.Second)
		early, calls := heard.take()
		require.Empty(t, early)
		require.GreaterOrEqual(t, calls, 3*(1+2))
		for _, r := range c.take() {
			if r.sc.Fire.After(bubbleStart.Add(9 * time.Second)) {
				require.Zero(t, r.late())
			}
		}
	})
}

// hearsTimes keeps what it hears before the second in which fires come.
type hearsTimes struct {
	mu    sync.Mutex
	early []string
	calls int
}

func (h *hearsTimes) hear(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if now := time.Since(bubbleStart); now%(5*time.Second) > 4*time.Second {
		h.early = append(h.early, fmt.Sprint(what, " at ", now))
	}
}

func (h *hearsTimes) take() (early []string, calls int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	early, calls = h.early, h.calls
	h.early, h.calls = nil, 0
	return early, calls
}

func (h *hearsTimes) BeforeRun(context.Context, job.Round) error { h.hear("listener"); return nil }

func (h *hearsTimes) AfterRun(context.Context, job.Round, []job.ItemResult) error { return nil }

func (h *hearsTimes) Observe(event scheduler.Event) {
	switch event.(type) {
	case scheduler.RoundEvent, scheduler.ItemEvent:
		h.hear(fmt.Sprintf("%T", event))
	}
}

// A request by hand that was answered long ago, and one that waits, take nothing from a head start but the item that they ask
// for.
func TestAHeadStartAndRequestsByHand(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.away(nil, jobOf(2))
		sleepUntil(7 * time.Second)
		trigger(t, a)
		sleepUntil(9 * time.Second)
		a.registry.SetLatency(0)
		c.take()
		sleepUntil(10*time.Second - aBegin/2)
		require.True(t, c.stateOf("orders").Item(1).Running.Exists(), "it has begun ahead")
		trigger(t, a)
		sleepUntil(14 * time.Second)
		runs := c.take()
		require.Len(t, runs, 4)
		for _, r := range runs {
			require.Equal(t, bubbleStart.Add(10*time.Second), r.began.UTC())
		}
	})
}

// A clock that is behind tells of a fire early that its item has run already, elsewhere: that is no fire to begin for.
func TestAHeadStartForAFireThatHasRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var text lines
		behind := func() time.Time { return time.Now().Add(-2 * time.Second) }
		a := c.away(nil, jobOf(2), scheduler.WithClock(behind), scheduler.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		b := c.start("b", nil, jobOf(2))
		sleepUntil(14 * time.Second)
		a.registry.SetLatency(0)
		sleepUntil(15*time.Second + time.Millisecond)
		require.Contains(t, c.shown(), "item 0 fire 15s scheduled on b")
		b.stop(t)
		sleepUntil(19 * time.Second)
		require.Equal(t, []string{"item 1 fire 15s scheduled on a"}, c.shown())
		require.Zero(t, text.count("level=ERROR"))
		require.Zero(t, text.count("was not run"))
	})
}
