package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// ordersOf returns the handle of the job "orders".
func ordersOf(t *testing.T, i *instance) *scheduler.Job {
	t.Helper()
	j, err := i.Job("orders")
	require.NoError(t, err)
	return j
}

func TestTheHandlesOfJobs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		other := jobOf(1)
		other.Name = "invoices"
		a := c.start("a", nil, jobOf(2), other)
		var names []string
		for _, j := range a.Jobs() {
			names = append(names, j.Name())
		}
		require.Equal(t, []string{"invoices", "orders"}, names)
		_, err := a.Job("nobody")
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		cfg, revision, err := ordersOf(t, a).Config()
		require.NoError(t, err)
		require.Equal(t, 2, cfg.ShardingTotalCount)
		require.NotZero(t, revision)
		numbers, err := ordersOf(t, a).Statistics(t.Context())
		require.NoError(t, err)
		require.Len(t, numbers.Items, 2)
	})
}

func TestTheNextFiresOfAJob(t *testing.T) {
	t.Parallel()
	at := func(seconds ...int) (all []time.Duration) {
		for _, s := range seconds {
			all = append(all, time.Duration(s)*time.Second)
		}
		return all
	}
	for name, test := range map[string]struct {
		change func(*job.Config)
		want   []time.Duration // since midnight, asked at second 7
	}{
		"a cron":         {func(*job.Config) {}, at(10, 15, 20)},
		"a window":       {func(c *job.Config) { c.EndTime = midnight().Add(15 * time.Second) }, at(10, 15)},
		"by hand":        {func(c *job.Config) { c.Cron = "@triggered" }, nil},
		"after each run": {func(c *job.Config) { c.Cron = "@delay 10s" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				test.change(&cfg)
				a := c.start("a", nil, cfg)
				sleepUntil(7 * time.Second)
				next, err := ordersOf(t, a).Next(3)
				require.NoError(t, err)
				var got []time.Duration
				for _, fire := range next {
					got = append(got, fire.Sub(midnight()))
				}
				require.Equal(t, test.want, got)
			})
		})
	}
}

func midnight() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// A fire with jitter is told when it begins, also one whose scheduled time has passed.
func TestTheNextFiresWithJitter(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.Jitter = 4 * time.Second
		a := c.start("a", nil, cfg)
		sleepUntil(6 * time.Second) // a fire before the job was declared is none, even if its jitter is not over
		c.take()
		j := ordersOf(t, a)
		next, err := j.Next(3)
		require.NoError(t, err)
		for _, fire := range next {
			time.Sleep(time.Until(fire.Add(-time.Millisecond)))
			require.Empty(t, c.take())
			time.Sleep(2 * time.Millisecond)
			require.Len(t, c.take(), 1)
		}
	})
}

func TestAJobIsUpdated(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(2))
		b := c.start("b", nil, jobOf(2))
		require.NoError(t, ordersOf(t, a).Update(t.Context(), func(cfg *job.Config) error {
			cfg.ShardingTotalCount = 3
			return nil
		}))
		sleepUntil(5 * time.Second)
		require.Len(t, c.take(), 3, "both processes follow")
		cfg, _, err := ordersOf(t, b).Config()
		require.NoError(t, err)
		require.Equal(t, 3, cfg.ShardingTotalCount)
	})
}

// What an operator has stopped stays so, whatever the code takes for its configuration, and an update stops nothing.
func TestUpdatesNeitherEnableNorDisable(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := ordersOf(t, c.start("a", nil, jobOf(2)))
		wanted := jobOf(2)
		wanted.Timeout = time.Minute
		all := func(cfg *job.Config) error { *cfg = wanted; return nil }

		wanted.Disabled = true
		require.NoError(t, j.Update(t.Context(), all))
		sleepUntil(5 * time.Second)
		require.Len(t, c.take(), 2)

		cfg, _, err := j.Config()
		require.NoError(t, err)
		cfg.Disabled = true
		c.change(cfg) // as operators do
		wanted.Disabled, wanted.Timeout = false, time.Hour
		require.NoError(t, j.Update(t.Context(), all))
		sleepUntil(30 * time.Second)
		require.Empty(t, c.take())
		cfg, _, err = j.Config()
		require.NoError(t, err)
		require.True(t, cfg.Disabled)
		require.Equal(t, time.Hour, cfg.Timeout, "the rest of it counts")
	})
}

// The settings of a job are a map. What an application does with the one that it is given changes nothing that
// is stored, and a change may write to it though the job had none.
func TestSettingsAreNotShared(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		declared := jobOf(1)
		declared.Props = map[string]string{"a": "1"}
		j, err := s.Add(t.Context(), declared, defaulting{})
		require.NoError(t, err)
		i := c.run(s, reg)
		<-i.Ready()
		stored, _, err := j.Config()
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "1"}, stored.Props)
		require.Equal(t, map[string]string{"a": "1"}, declared.Props)
		require.NoError(t, j.Update(t.Context(), func(cfg *job.Config) error { cfg.Props = nil; return nil }))
		require.NoError(t, j.Update(t.Context(), func(cfg *job.Config) error { cfg.Props["b"] = "2"; return nil }))
		stored, _, err = j.Config()
		require.NoError(t, err)
		require.Equal(t, map[string]string{"b": "2"}, stored.Props)
	})
}

// defaulting is code that fills in its settings.
type defaulting struct{}

func (defaulting) Configure(cfg job.Config) (job.HandlerFunc, error) {
	cfg.Props["default"] = "set"
	return nothing, nil
}

// Two changes at once both count, and a change that asks for what is refused changes nothing.
func TestUpdatesAreCompared(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := ordersOf(t, c.start("a", nil, jobOf(2)))
		calls := 0
		require.NoError(t, j.Update(t.Context(), func(cfg *job.Config) error {
			if calls++; calls == 1 {
				require.NoError(t, j.Update(t.Context(), func(cfg *job.Config) error { cfg.JobParameter = "x"; return nil }))
			}
			cfg.ShardingTotalCount++
			return nil
		}))
		require.Equal(t, 2, calls)
		cfg, before, err := j.Config()
		require.NoError(t, err)
		require.Equal(t, 3, cfg.ShardingTotalCount)
		require.Equal(t, "x", cfg.JobParameter)

		for field, change := range map[string]func(*job.Config) error{
			"Name":               func(cfg *job.Config) error { cfg.Name = "other"; return nil },
			"Class":              func(cfg *job.Config) error { cfg.Class = "other"; return nil },
			"Cron":               func(cfg *job.Config) error { cfg.Cron = "every day"; return nil },
			"ShardingTotalCount": func(cfg *job.Config) error { cfg.ShardingTotalCount = 0; return nil },
			"EndTime":            func(cfg *job.Config) error { cfg.EndTime = time.Now(); return nil },
		} {
			var fault *job.FieldError
			require.ErrorAs(t, j.Update(t.Context(), change), &fault, field)
			require.Equal(t, field, fault.Field)
		}
		no := errors.New("no")
		require.ErrorIs(t, j.Update(t.Context(), func(*job.Config) error { return no }), no)
		calls = 0
		require.ErrorIs(t, j.Update(t.Context(), func(*job.Config) error {
			if calls++; calls > 1 {
				return no
			}
			return fmt.Errorf("of what the change read elsewhere: %w", registry.ErrConflict)
		}), registry.ErrConflict)
		require.Equal(t, 1, calls, "nobody has changed this configuration")
		_, after, err := j.Config()
		require.NoError(t, err)
		require.Equal(t, before, after)
	})
}

func TestARequestIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		work := func(_ context.Context, sc job.ShardingContext) error {
			time.Sleep(time.Duration(sc.Item) * time.Second)
			if sc.Item == 2 {
				return errors.New("no disk")
			}
			return nil
		}
		a := c.start("a", work, yearly(4))
		c.start("b", work, yearly(4))
		put(t, c.server, jobtree.For("orders").ItemDisabled(3), "")
		sleepUntil(time.Second)
		j := ordersOf(t, a)
		request, err := j.Trigger(t.Context())
		require.NoError(t, err)
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(midnight()).Round(100*time.Millisecond), "when the slowest is over")
		require.Len(t, runs, 4)
		require.Equal(t, []string{"success", "success", "failure", ""}, []string{runs[0].Outcome, runs[1].Outcome, runs[2].Outcome, runs[3].Outcome})
		require.Equal(t, "no disk", runs[2].Error)
		require.Equal(t, scheduler.SkipDisabled, runs[3].Skipped)
		require.NotEqual(t, runs[0].Instance, runs[2].Instance)
		again, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, runs, again)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		request, err = j.Trigger(t.Context())
		require.NoError(t, err)
		_, err = request.Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// What a crash cut short counts when it has been run again.
func TestARequestOutlastsACrash(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := yearly(2)
		cfg.Failover = true
		a := c.start("a", took(3*time.Second), cfg)
		b := c.start("b", took(3*time.Second), cfg)
		sleepUntil(time.Second)
		request, err := ordersOf(t, a).Trigger(t.Context())
		require.NoError(t, err)
		sleepUntil(2 * time.Second)
		b.crash(t)
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		for _, run := range runs {
			require.Equal(t, "success", run.Outcome)
			require.Equal(t, fullID("a"), run.Instance)
		}
	})
}

// An item waits for a request to another job when a stop begins, at any moment of that. Where nobody is left who could run that
// job, the wait ends, and does not hold the stop up.
func TestARequestThatNobodyIsLeftFor(t *testing.T) {
	t.Parallel()
	answered, deserted := 0, 0
	for after := 5 * time.Second; after < 8*time.Second; after += 100 * time.Millisecond {
		inBubble(t, func(t *testing.T, c *cluster) {
			reg := c.server.Open("test", memory.WithLatency(100*time.Millisecond))
			s, err := scheduler.New(reg)
			require.NoError(t, err)
			bills, err := s.Add(t.Context(), job.Config{Name: "bills", Cron: "@triggered", ShardingTotalCount: 1}, took(time.Second))
			require.NoError(t, err)
			ended := make(chan error, 1)
			asks := func(ctx context.Context, _ job.ShardingContext) error {
				request, err := bills.Trigger(ctx)
				if err == nil {
					_, err = request.Wait(ctx)
				}
				ended <- err
				return nil
			}
			require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", asks))))
			stopsSoon(t, s, after)
			for _, run := range c.take() {
				require.NoError(t, run.cause, "a stop after %s", after)
				switch err := <-ended; {
				case err == nil:
					answered++
				case errors.Is(err, scheduler.ErrStopped):
					require.ErrorIs(t, err, scheduler.ErrUnknownJob)
					deserted++
				default:
					require.ErrorIs(t, err, scheduler.ErrNoInstance)
				}
			}
			require.NoError(t, reg.Close(context.Background()))
		})
	}
	require.NotZero(t, answered)
	require.NotZero(t, deserted)
}

// A request that is still answered is waited for while the process stops: one of which an item runs here, or elsewhere, or that
// another process takes up.
func TestARequestThatAStopDoesNotEnd(t *testing.T) {
	t.Parallel()
	bills := yearly(2)
	bills.Name = "bills"
	for name, happens := range map[string]func(a, b *instance){
		"others go on":    func(a, _ *instance) { a.cancel() },
		"others stop too": func(a, b *instance) { b.cancel(); a.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				ended := make(chan []scheduler.ItemRun, 1)
				var a *instance
				work := func(ctx context.Context, sc job.ShardingContext) error {
					if sc.JobName == bills.Name {
						time.Sleep(time.Duration(sc.Item+1) * 4 * time.Second)
						return nil
					}
					j, err := a.Job(bills.Name)
					if err != nil {
						return err
					}
					request, err := j.Trigger(ctx)
					if err != nil {
						return err
					}
					runs, err := request.Wait(ctx)
					ended <- runs
					return err
				}
				a = c.start("a", work, bills)
				b := c.start("b", work, bills)
				sleepUntil(4 * time.Second)
				require.NoError(t, errOf(a.Add(t.Context(), jobOf(1), job.HandlerFunc(work))))
				sleepUntil(6 * time.Second) // both items run
				happens(a, b)
				runs := <-ended
				require.Len(t, runs, 2)
				require.NotEqual(t, runs[0].Instance, runs[1].Instance)
				for _, run := range runs {
					require.Equal(t, "success", run.Outcome)
				}
				require.Equal(t, 13*time.Second, time.Since(midnight()).Round(time.Second))
			})
		})
	}
}

func TestARequestOfWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := yearly(1)
		cfg.Unmonitored = true
		request, err := ordersOf(t, c.start("a", nil, cfg)).Trigger(t.Context())
		require.NoError(t, err)
		_, err = request.Wait(t.Context())
		require.ErrorIs(t, err, scheduler.ErrNotRecorded)
	})
}

// A process that leaves a job lets what runs come to its end, others take over, and its other jobs go on.
func TestAJobIsLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		other := jobOf(1)
		other.Name = "invoices"
		a := c.start("a", took(2*time.Second), jobOf(2), other)
		c.start("b", nil, jobOf(2))
		sleepUntil(5500 * time.Millisecond)
		j := ordersOf(t, a)
		require.NoError(t, j.Leave(t.Context()))
		require.Equal(t, 7*time.Second, time.Since(midnight()).Round(100*time.Millisecond))
		require.NotContains(t, c.nodes("/orders/instances"), "/orders/instances/"+fullID("a"))
		_, err := a.Job("orders")
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		_, _, err = j.Config()
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		require.Len(t, a.Jobs(), 1)
		c.take()
		sleepUntil(13 * time.Second)
		on := func() (ran map[string]int) {
			ran = make(map[string]int)
			for _, r := range c.take() {
				ran[r.sc.JobName+" on "+r.instance]++
			}
			return ran
		}
		require.Equal(t, map[string]int{"orders on b": 2, "invoices on a": 1}, on())
		require.NoError(t, errOf(a.Add(t.Context(), jobOf(2), c.record("a", nil))), "it may come back")
		sleepUntil(18 * time.Second)
		require.Equal(t, map[string]int{"orders on a": 1, "orders on b": 1, "invoices on a": 1}, on())
	})
}

func TestAJobIsLeftBeforeRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", nil))))
		j, err := s.Job("orders")
		require.NoError(t, err)
		_, _, err = j.Config()
		require.ErrorIs(t, err, scheduler.ErrUnknownJob, "it sees nothing yet")
		require.NoError(t, j.Leave(t.Context()))
		require.Empty(t, s.Jobs())
	})
}

// The registry carries the join out once more after the process has left: it takes itself out again.
func TestALateJoinOfAJobThatWasLeftByItsHandle(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("b", nil, jobOf(2))
		reg := c.server.Open("test")
		reg.DuplicateLater(2, 8*time.Second) // the declaration, of which there never is a copy, and the join
		a := c.launchOver(reg, "a", nil, jobOf(2))
		<-a.Ready()
		sleepUntil(6 * time.Second)
		require.NoError(t, ordersOf(t, a).Leave(t.Context()))
		sleepUntil(7 * time.Second)
		before := c.server.Stats().Transactions
		sleepUntil(9 * time.Second)
		require.Greater(t, c.server.Stats().Transactions, before, "the late join was carried out, and taken back")
		require.Equal(t, []string{"/orders/instances/" + fullID("b")}, c.nodes("/orders/instances"))
		c.take()
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 2, "all items are where they are run")
	})
}

// A handle that outlives its job, or Run, neither hangs nor panics.
func TestHandlesAroundRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", nil))))
		other := jobOf(1)
		other.Name = "invoices"
		require.NoError(t, errOf(s.Add(t.Context(), other, c.record("a", nil))))
		early, err := s.Job("invoices")
		require.NoError(t, err)
		j, err := s.Job("orders")
		require.NoError(t, err)
		reg.Cut()
		i := c.run(s, reg)
		left := make(chan error, 1)
		go func() { left <- early.Leave(t.Context()) }() // before it has joined, or was even read
		time.Sleep(time.Second)
		reg.Heal()
		require.NoError(t, <-left)
		require.NoError(t, early.Leave(t.Context()), "once more")
		<-i.Ready()
		request, err := j.Trigger(t.Context())
		require.NoError(t, err)
		i.stop(t)
		_, _, err = j.Config()
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		_, err = request.Wait(t.Context())
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		_, err = j.Trigger(t.Context())
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		require.ErrorIs(t, j.Update(t.Context(), func(*job.Config) error { return nil }), scheduler.ErrUnknownJob)
		require.ErrorIs(t, j.Leave(t.Context()), scheduler.ErrStopped)
	})
}

// Whoever has a job left while it is being added says so to those who add it.
func TestAJobThatIsLeftBeforeItHasJoined(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		a.registry.SetLatency(100 * time.Millisecond)
		other := jobOf(1)
		other.Name = "invoices"
		added := make(chan error, 1)
		go func() { added <- errOf(a.Add(t.Context(), other, c.record("a", nil))) }()
		j, err := a.Job("invoices")
		for ; err != nil; j, err = a.Job("invoices") {
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, j.Leave(t.Context()))
		require.ErrorIs(t, <-added, scheduler.ErrUnknownJob)
	})
}

// A request does not depend on who was asked: it is answered by whoever has the items, and by those that the job
// had when it was made.
func TestARequestOutlivesThoseWhoWereThere(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(t *testing.T, c *cluster, a *instance){
		"the runner dies": func(t *testing.T, c *cluster, a *instance) { a.crash(t) },
		"an item comes to the job": func(t *testing.T, c *cluster, _ *instance) {
			cfg := jobOf(2)
			cfg.Cron = "5 0 0 * * ?"
			sleepUntil(30 * time.Second)
			c.change(cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				cfg.Cron = "5 0 0 * * ?"
				a := c.start("a", took(20*time.Second), cfg)
				sleepUntil(6 * time.Second)
				watcher := c.start("b", took(time.Minute), cfg)
				request, err := ordersOf(t, watcher).Trigger(t.Context())
				require.NoError(t, err)
				go happens(t, c, a)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				runs, err := request.Wait(ctx)
				require.NoError(t, err)
				require.Len(t, runs, 1)
				require.Equal(t, "success", runs[0].Outcome)
				sleepUntil(20 * time.Minute)
				for _, r := range c.take() {
					require.Zero(t, r.sc.Item, "what came later was not asked for")
				}
			})
		})
	}
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.Cron = "5 0 0 * * ?"
		a := c.start("a", took(20*time.Second), cfg)
		sleepUntil(6 * time.Second) // the item runs
		request, err := ordersOf(t, a).Trigger(t.Context())
		require.NoError(t, err)
		a.registry.Cut()
		sleepUntil(2 * time.Minute) // its session is over
		a.registry.Heal()
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "success", runs[0].Outcome)
	})
}

// A change whose answer is lost, and that another one has overtaken, is not made twice.
func TestAnUpdateIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(2))
		b := c.start("b", nil, yearly(2))
		sleepUntil(time.Second)
		a.registry.LoseAnswers(1)
		grown := make(chan error, 1)
		go func() {
			grown <- ordersOf(t, a).Update(t.Context(), func(cfg *job.Config) error { cfg.ShardingTotalCount++; return nil })
		}()
		synctest.Wait() // it is done, and its answer is lost
		require.NoError(t, ordersOf(t, b).Update(t.Context(), func(cfg *job.Config) error { cfg.JobParameter = "x"; return nil }))
		require.ErrorIs(t, <-grown, registry.ErrUnknownOutcome)
		time.Sleep(time.Second)
		cfg, _, err := ordersOf(t, b).Config()
		require.NoError(t, err)
		require.Equal(t, 3, cfg.ShardingTotalCount)
	})
}

// What Add refuses is refused of a change, too.
func TestAnUpdateKeepsWhatOptionsNeed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		once := job.WholeRoundListener{AllStarted: func(context.Context, job.WholeRound) error { return nil }, StartedWithin: time.Second}
		a := c.startDeclared("a", c.record("a", nil), yearly(1), nil, scheduler.WithWholeRoundListener(once))
		err := ordersOf(t, a).Update(t.Context(), func(cfg *job.Config) error { cfg.Unmonitored = true; return nil })
		require.ErrorIs(t, err, scheduler.ErrInvalidOption)
	})
}

// A process that may neither follow nor change a job any more leaves it all the same: with its session, so that
// others get what it holds.
func TestAJobIsLeftThatIsDenied(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(2))
		c.start("b", nil, jobOf(2))
		sleepUntil(6 * time.Second)
		j := ordersOf(t, a)
		a.registry.Deny("/orders", true)
		sleepUntil(7 * time.Second)
		require.NoError(t, j.Leave(t.Context()))
		sleepUntil(90 * time.Second)
		require.Equal(t, map[string]int{fullID("b"): 2}, c.ownersOf("orders"))
		c.take()
		sleepUntil(100*time.Second + time.Millisecond)
		for _, r := range c.take() {
			require.Equal(t, "b", r.instance)
		}
	})
}
