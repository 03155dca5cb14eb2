package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// look returns the health of an instance and of its only job.
func (i *instance) look(t *testing.T) (scheduler.Health, scheduler.JobHealth) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	h := i.Health(ctx)
	require.Len(t, h.Jobs, 1)
	return h, h.Jobs[0]
}

func TestHealthOfAClusterInOrder(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(4))
		b := c.start("b", nil, jobOf(4))
		sleepUntil(12 * time.Second)
		requests := b.registry.Stats()
		h, j := b.look(t)
		require.Equal(t, requests, b.registry.Stats(), "it asks nothing of the registry")
		require.True(t, h.Running)
		require.Equal(t, "connected", h.Session.State)
		require.True(t, h.Session.Deadline.After(time.Now()))
		require.Equal(t, fullID("a"), j.Leader)
		require.True(t, j.Answered && j.Joined && !j.Leading)
		require.Empty(t, j.Config)
		require.Empty(t, j.Unowned)
		require.Empty(t, j.Overdue)
		require.Zero(t, j.Behind)
		require.InDelta(t, 2, j.ViewAge.Seconds(), 0.1, "since the round of second 10")
		_, j = a.look(t)
		require.True(t, j.Leading)
		a.stop(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.False(t, a.Health(ctx).Running)
	})
}

// Who cannot wait is told of the process alone, and keeps no runner from its work.
func TestHealthWithoutTheJobs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(4))
		sleepUntil(12 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 100 {
			h := a.Health(ctx)
			require.Equal(t, scheduler.StateRunning, h.State)
			require.Equal(t, "connected", h.Session.State)
			require.Equal(t, []scheduler.JobHealth{{Job: "orders"}}, h.Jobs)
		}
	})
}

// A process that is cut off says so, and so does one whose peers do not do their work.
func TestHealthOfAClusterInTrouble(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(4))
		c.start("b", nil, jobOf(4))
		sleepUntil(7 * time.Second)
		put(t, c.server, jobtree.For("orders").ItemInstance(3), fullID("ghost"))
		sleepUntil(12 * time.Second)
		_, j := a.look(t)
		require.Empty(t, j.Unowned, "the leader repairs that")

		a.registry.Cut()
		defer a.registry.Heal()
		var states []string
		for at := 12 * time.Second; at < 20*time.Second; at += 100 * time.Millisecond {
			sleepUntil(at)
			if h, _ := a.look(t); len(states) == 0 || states[len(states)-1] != h.Session.State {
				states = append(states, h.Session.State)
			}
		}
		require.Equal(t, []string{"connected", "suspended", "none"}, states)
		sleepUntil(30 * time.Second)
		_, j = a.look(t)
		require.False(t, j.Joined)
		require.Len(t, j.Overdue, 4, "as far as it can see")
	})
}

// What runs long, is disabled, or was missed by the rules is not overdue; what nobody runs is.
func TestOverdue(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(2)
		cfg.Misfire = job.MisfireSkip
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				time.Sleep(17 * time.Second)
			}
			return nil
		}
		a := c.start("a", work, cfg)
		for at := 6 * time.Second; at < time.Minute; at += 3 * time.Second {
			sleepUntil(at)
			_, j := a.look(t)
			require.Empty(t, j.Overdue, "at %s", at)
		}
		put(t, c.server, jobtree.For("orders").ItemRecord(0), `{"format":3}`)
		sleepUntil(80 * time.Second)
		_, j := a.look(t)
		require.Equal(t, []int{0}, []int{j.Overdue[0].Item}, "a newer version wrote its record, so nobody here may run it")
		require.Len(t, j.Overdue, 1)
		c.change(func() job.Config { paused := cfg; paused.Disabled = true; return paused }())
		sleepUntil(90 * time.Second)
		_, j = a.look(t)
		require.Empty(t, j.Overdue, "the only server is disabled")
	})
}

// Fires that came while an item, or all servers, were disabled are none, and it stays so when they are enabled again.
func TestWhatWasDisabledIsNotOverdue(t *testing.T) {
	t.Parallel()
	orders := jobtree.For("orders")
	for name, paths := range map[string][]string{
		"items":   {orders.ItemDisabled(0), orders.ItemDisabled(1)},
		"servers": {orders.Server("10.0.0.1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(2)
				cfg.Cron = "0 0 * * * ?"
				a := c.start("a", nil, cfg)
				sleepUntil(30 * time.Minute)
				for _, path := range paths {
					put(t, c.server, path, "DISABLED")
				}
				sleepUntil(90 * time.Minute)
				for _, path := range paths {
					_, err := a.registry.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(path)}})
					require.NoError(t, err)
				}
				sleepUntil(100 * time.Minute)
				_, j := a.look(t)
				require.Empty(t, c.take())
				require.Empty(t, j.Overdue)
				put(t, c.server, orders.ItemRecord(0), `{"format":3}`)
				sleepUntil(121 * time.Minute)
				_, j = a.look(t)
				require.Len(t, j.Overdue, 1, "the next one counts")
			})
		})
	}
}

// A runner that waits for the registry does not keep the report waiting.
func TestHealthOfARunnerThatIsStuck(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(9500 * time.Millisecond)
		a.registry.Cut()
		defer a.registry.Heal()
		sleepUntil(11 * time.Second) // its begin of second 10 waits
		h, j := a.look(t)
		require.False(t, j.Answered)
		require.Equal(t, "connected", h.Session.State)
	})
}

// An item has failed until it succeeds, also while it is tried again; and when the last success was is told.
func TestHealthTellsWhatFailed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", func(_ context.Context, sc job.ShardingContext) error {
			switch sc.Fire.Sub(bubbleStart) {
			case 5 * time.Second:
				return nil
			case 10 * time.Second, 20 * time.Second:
				if sc.Item == 1 {
					return errors.New("out of stock")
				}
			case 15 * time.Second:
				time.Sleep(3 * time.Second)
			}
			return nil
		}, jobOf(2))
		sleepUntil(7 * time.Second)
		_, j := a.look(t)
		require.Empty(t, j.Failed)
		require.Equal(t, 5*time.Second, j.LastSuccess.Sub(bubbleStart))
		require.Equal(t, 1, j.Instances)
		for _, at := range []time.Duration{12, 16} {
			sleepUntil(at * time.Second)
			_, j = a.look(t)
			require.Equal(t, []int{1}, j.Failed, "at second %d", at)
			require.Equal(t, 10*time.Second, j.LastSuccess.Sub(bubbleStart), "of item 0")
		}
		sleepUntil(19 * time.Second)
		_, j = a.look(t)
		require.Empty(t, j.Failed)
		require.Equal(t, 18*time.Second, j.LastSuccess.Sub(bubbleStart))
		sleepUntil(21 * time.Second)
		put(t, c.server, jobtree.For("orders").ItemDisabled(1), "")
		sleepUntil(22 * time.Second)
		_, j = a.look(t)
		require.Empty(t, j.Failed, "somebody has taken the item out")
	})
}

// What the records of a time when the job was monitored say is not told when it is not.
func TestHealthOfAJobThatIsUnmonitoredNow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", func(context.Context, job.ShardingContext) error { return errors.New("out of stock") }, jobOf(2))
		sleepUntil(7 * time.Second)
		_, j := a.look(t)
		require.Equal(t, []int{0, 1}, j.Failed)
		unmonitored := jobOf(2)
		unmonitored.Unmonitored = true
		c.change(unmonitored)
		sleepUntil(13 * time.Second)
		_, j = a.look(t)
		require.Empty(t, j.Failed)
		require.True(t, j.LastSuccess.IsZero())
		disabled := unmonitored
		disabled.Disabled = true
		c.change(disabled)
		sleepUntil(14 * time.Second)
		_, j = a.look(t)
		require.True(t, j.Disabled)
	})
}

// A lost execution waits while the job is disabled, and is told until somebody runs it again.
func TestHealthTellsWhatWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, failoverOf(2))
		sleepUntil(6 * time.Second)
		disabled := failoverOf(2)
		disabled.Disabled = true
		c.change(disabled)
		lost := c.state().Item(1).Record.Value
		execution := *lost.Current
		execution.Outcome, lost.State, lost.Current = jobtree.Lost, jobtree.ItemWaiting, &execution
		put(t, c.server, jobtree.For("orders").ItemRecord(1), jobtree.EncodeRecord(lost))
		sleepUntil(20 * time.Second)
		_, j := a.look(t)
		require.Equal(t, []int{1}, j.Waiting)
		require.True(t, j.Disabled)
		c.change(failoverOf(2))
		sleepUntil(30 * time.Second)
		_, j = a.look(t)
		require.Empty(t, j.Waiting)
		require.Empty(t, j.Failed)
		require.Equal(t, 20*time.Second, j.LastSuccess.Sub(bubbleStart))
	})
}

// While a lost execution is run again, its item neither waits nor has failed.
func TestHealthOfWhatIsRunAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", hang, failoverOf(4))
		b := c.start("b", hang, failoverOf(4))
		sleepUntil(6 * time.Second)
		a.crash(t)
		sleepUntil(20 * time.Second)
		var reruns int
		for n := range 4 {
			if e := c.state().Item(n).Record.Value.Current; e.Source == job.Failover && e.Outcome == "" {
				reruns++
			}
		}
		require.Equal(t, 2, reruns, "the items of a")
		_, j := b.look(t)
		require.Empty(t, j.Waiting)
		require.Empty(t, j.Failed)
		b.cancel()
	})
}

// asker is an observer that asks for reports.
type asker struct {
	scheduler.ObserverFunc
	ask func(context.Context) scheduler.Health
}

func (a *asker) ObserveHealth(health func(context.Context) scheduler.Health) { a.ask = health }

// An observer that wants reports gets them, from before the start to after the end.
func TestAnObserverAsksForReports(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		observer := &asker{ObserverFunc: func(scheduler.Event) {}}
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithObserver(observer), scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", nil))))
		require.Equal(t, scheduler.StateNew, observer.ask(t.Context()).State)
		a := c.run(s, reg)
		sleepUntil(7 * time.Second)
		require.True(t, observer.ask(t.Context()).Jobs[0].Joined)
		a.stop(t)
		require.Equal(t, scheduler.StateStopped, observer.ask(t.Context()).State)
	})
}
