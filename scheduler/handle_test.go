package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
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
		numbers, err := ordersOf(t, a).Statistics()
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
		} {
			var fault *job.FieldError
			require.ErrorAs(t, j.Update(t.Context(), change), &fault, field)
			require.Equal(t, field, fault.Field)
		}
		no := errors.New("no")
		require.ErrorIs(t, j.Update(t.Context(), func(*job.Config) error { return no }), no)
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
		require.True(t, runs[3].Skipped)
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
		other := yearly(1)
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
		sleepUntil(10100 * time.Millisecond)
		for _, r := range c.take() {
			require.Equal(t, "b", r.instance)
		}
		require.NoError(t, a.Add(t.Context(), jobOf(2), c.record("a", nil)), "it may come back")
		sleepUntil(16 * time.Second)
		on := map[string]bool{}
		for _, r := range c.take() {
			on[r.instance] = true
		}
		require.Equal(t, map[string]bool{"a": true, "b": true}, on)
	})
}

func TestAJobIsLeftBeforeRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		require.NoError(t, s.Add(t.Context(), jobOf(1), c.record("a", nil)))
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
