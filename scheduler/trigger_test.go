package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// yearly is a job whose cron leaves a test alone.
func yearly(total int) job.Config {
	return job.Config{Name: "orders", Cron: "0 0 0 1 7 ?", ShardingTotalCount: total}
}

func TestATriggerRunsEveryItemOnce(t *testing.T) {
	t.Parallel()
	for _, monitored := range []bool{true, false} {
		inBubble(t, func(t *testing.T, c *cluster) {
			cfg := yearly(4)
			cfg.Unmonitored = !monitored
			a := c.start("a", nil, cfg)
			c.start("b", nil, cfg)
			sleepUntil(time.Second)
			trigger(t, a)
			sleepUntil(2 * time.Second)
			runs := c.take()
			require.Len(t, runs, 4)
			for n, r := range runs {
				require.Equal(t, n, r.sc.Item)
				require.Equal(t, job.Manual, r.sc.Source)
				require.Zero(t, r.sc.Fire)
			}
			for _, i := range c.state().Instances {
				require.False(t, i.Triggered, "the request is answered")
			}
			trigger(t, a)
			sleepUntil(3 * time.Second)
			require.Len(t, c.take(), 4)
		})
	}
}

// A request that comes while items are still on their way is not answered before they have arrived.
func TestATriggerRightAfterJoining(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(3))
		trigger(t, a)
		c.start("b", nil, yearly(3))
		sleepUntil(time.Second)
		require.Len(t, c.take(), 3)
	})
}

// An item that has not begun for a request when its owner leaves runs for it at its next owner, also
// when that had begun all its own before.
func TestATriggerMovesWithItsItem(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "5 0 0 * * ?", ShardingTotalCount: 2}
		slow := func(_ context.Context, sc job.ShardingContext) error {
			if sc.Source == job.Scheduled {
				time.Sleep(10 * time.Second)
			}
			return nil
		}
		a := c.start("a", slow, cfg)
		b := c.start("b", nil, cfg)
		sleepUntil(6 * time.Second)
		c.take()
		trigger(t, b)
		sleepUntil(7 * time.Second)
		require.Equal(t, []string{"item 0 fire by hand manual on b"}, c.shown())
		a.cancel()
		sleepUntil(20 * time.Second)
		require.Equal(t, []string{"item 1 fire 5s scheduled on a", "item 1 fire by hand manual on b"}, c.shown())
		for _, i := range c.state().Instances {
			require.False(t, i.Triggered, "the request is answered")
		}
	})
}

// A begin by hand that is taken back leaves the request open.
func TestATriggerWhoseBeginIsTakenBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(1))
		sleepUntil(time.Second)
		a.registry.LoseAnswers(1)
		operator := c.server.Open("test")
		_, err := operator.Commit(t.Context(), registry.Txn{Then: []registry.Write{
			registry.Update("/orders/instances/"+fullID("a"), jobtree.InstanceTriggered),
		}})
		require.NoError(t, err)
		require.NoError(t, operator.Close(t.Context()))
		require.Equal(t, jobtree.ItemRunning, c.state().Item(0).Record.Value.State)
		a.registry.Cut()
		sleepUntil(3600 * time.Millisecond) // its session is in doubt
		a.registry.Heal()
		sleepUntil(20 * time.Second)
		require.Equal(t, []string{"item 0 fire by hand manual on a"}, c.shown())
	})
}

// A request is one node, however many instances there are.
func TestATriggerOfManyInstances(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(1))
		others := c.server.Open("test")
		defer func() { require.NoError(t, others.Close(context.Background())) }()
		session, err := others.Session(t.Context())
		require.NoError(t, err)
		for n := range 300 {
			_, err := others.Commit(t.Context(), registry.Txn{Then: []registry.Write{
				registry.PutOwned(fmt.Sprintf("/orders/instances/10.0.1.%d@-@1", n), "", session),
			}})
			require.NoError(t, err)
		}
		trigger(t, a)
	})
}

// A request is refused while items have yet to begin for the one before, and may take its place.
func TestATriggerThatIsPending(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Second); return nil }
		a := c.start("a", slow, yearly(1))
		trigger(t, a) // it runs
		sleepUntil(time.Second)
		j := ordersOf(t, a)
		second, err := j.Trigger(t.Context(), scheduler.TriggerParameter("second"))
		require.NoError(t, err)
		sleepUntil(2 * time.Second)
		_, err = j.Trigger(t.Context())
		require.ErrorIs(t, err, scheduler.ErrTriggerPending)
		require.ErrorContains(t, err, fmt.Sprintf("request %d waits for items [0]", second.Number()))
		third, err := j.Trigger(t.Context(), scheduler.TriggerParameter("third"), scheduler.TriggerReplacing())
		require.NoError(t, err)
		runs, err := second.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, []scheduler.ItemRun{{Skipped: scheduler.SkipReplaced}}, runs)
		runs, err = third.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "success", runs[0].Outcome)
		runs, err = second.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, scheduler.SkipReplaced, runs[0].Skipped, "also when the later one has run")
		sleepUntil(time.Minute)
		var parameters []string
		for _, r := range c.take() {
			parameters = append(parameters, r.sc.TriggerParameter)
		}
		require.Equal(t, []string{"", "third"}, parameters)
	})
}

func TestATriggerLeavesTheScheduleAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(7 * time.Second)
		trigger(t, a)
		sleepUntil(11 * time.Second)
		var got []string
		for _, r := range c.take() {
			got = append(got, r.String())
		}
		require.Equal(t, []string{"item 0 fire 5s scheduled on a", "item 0 fire by hand manual on a", "item 0 fire 10s scheduled on a"}, got)
	})
}

func TestATriggerOfNothingIsAnError(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(1))
		left := ordersOf(t, a)
		require.NoError(t, left.Leave(t.Context()))
		require.ErrorIs(t, errOf(left.Trigger(t.Context())), scheduler.ErrUnknownJob)
		a.stop(t)
		b := c.server.Open("test")
		s, err := scheduler.New(b)
		require.NoError(t, err)
		j, err := s.Add(t.Context(), yearly(1), nothing)
		require.NoError(t, err)
		require.ErrorIs(t, errOf(j.Trigger(t.Context())), scheduler.ErrNoInstance, "it does not run yet")
		require.NoError(t, b.Close(context.Background()))
	})
}
