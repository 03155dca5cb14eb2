package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
)

// A round costs two requests when its items end together, however many they are, and no read: all
// is decided from the watched view. Without monitorExecution it costs nothing.
func TestCostOfARound(t *testing.T) {
	t.Parallel()
	for _, items := range []int{1, 100} {
		for _, monitored := range []bool{true, false} {
			t.Run(fmt.Sprintf("items=%d/monitored=%t", items, monitored), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := jobOf(items)
					cfg.Unmonitored = !monitored
					work := func(context.Context, job.ShardingContext) error {
						time.Sleep(time.Second)
						return nil
					}
					i := c.start("a", work, cfg)
					sleepUntil(9 * time.Second)
					c.take()
					before := i.registry.Stats()
					sleepUntil(14 * time.Second) // one round, at second 10
					after := i.registry.Stats()
					require.Len(t, c.take(), items)
					want := 0
					if monitored {
						want = 2
					}
					require.Equal(t, want, after.CommitRequests-before.CommitRequests, "commit requests")
					require.Zero(t, after.ReadRequests-before.ReadRequests, "read requests")
				})
			})
		}
	}
}

// Ends at different times cost a request each, and no more.
func TestCostOfItemsThatEndApart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		work := func(_ context.Context, sc job.ShardingContext) error {
			time.Sleep(time.Duration(1+sc.Item%3) * time.Second)
			return nil
		}
		i := c.start("a", work, jobOf(9))
		sleepUntil(9 * time.Second)
		before := i.registry.Stats()
		sleepUntil(14 * time.Second)
		after := i.registry.Stats()
		require.Equal(t, 1+3, after.CommitRequests-before.CommitRequests)
		require.Zero(t, after.ReadRequests-before.ReadRequests)
	})
}

// An idle job of an idle instance causes no traffic beside the session's keep-alive, and the process's question for the
// registry's time once in ten minutes.
func TestAnIdleJobCostsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		i := c.start("a", nil, job.Config{Name: "yearly", Cron: "0 0 0 1 7 ?", ShardingTotalCount: 3})
		c.start("b", nil, job.Config{Name: "yearly", Cron: "0 0 0 1 7 ?", ShardingTotalCount: 3})
		sleepUntil(time.Minute)
		before := i.registry.Stats()
		sleepUntil(time.Hour)
		after := i.registry.Stats()
		require.LessOrEqual(t, after.TimeRequests-before.TimeRequests, 6)
		after.TimeRequests = before.TimeRequests
		require.Equal(t, before, after)
	})
}

// Jobs that start together send joins, elections and reshardings together, and so does the leader of many jobs that sees
// a process come and go. A restart of one among others is as cheap as the first start.
func TestCostOfAStartOfManyJobs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const jobs, most = 200, 20
		configs := make([]job.Config, jobs)
		for i := range configs {
			configs[i] = job.Config{Name: fmt.Sprintf("job-%d", i), Cron: "0 0 0 1 7 ?", ShardingTotalCount: 2}
		}
		var before int
		start := func(id string) *instance {
			before = c.server.Stats().CommitRequests
			return c.launch(id, nil, configs...)
		}
		commits := func() int { return c.server.Stats().CommitRequests - before }
		start("a")
		sleepUntil(10 * time.Second)
		require.LessOrEqual(t, commits(), jobs+most, "a cold start, in which each job is declared by itself")
		b := start("b")
		sleepUntil(20 * time.Second)
		require.LessOrEqual(t, commits(), most, "a second process")
		b.stop(t)
		start("b2")
		sleepUntil(40 * time.Second)
		require.LessOrEqual(t, commits(), most, "its successor")
		for _, cfg := range configs {
			s := c.stateOf(cfg.Name)
			require.ElementsMatch(t, []string{fullID("a"), fullID("b2")}, []string{s.Owner(0), s.Owner(1)}, cfg.Name)
		}
	})
}

// An end notes what was missed meanwhile over what its own begin left, also while the events of that are
// still on their way: it is neither refused nor does it read. So it is at every end of an overload.
func TestAnEndKnowsWhatItsBeginRemoved(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test", memory.WithDelays(func(m memory.Message) time.Duration {
			if m.Kind == memory.Event && time.Since(bubbleStart) > 6*time.Second { // when it has joined
				return 4 * time.Second
			}
			return 0
		}))
		// The run of second 5 misses a fire. The next one begins at 17 s, for that too, and misses the fire of 20 s.
		work := func(_ context.Context, sc job.ShardingContext) error {
			if sc.Fire.Equal(bubbleStart.Add(5 * time.Second)) {
				time.Sleep(8 * time.Second)
			} else {
				time.Sleep(3500 * time.Millisecond)
			}
			return nil
		}
		i := c.launchOver(reg, "a", work, jobOf(1))
		sleepUntil(16 * time.Second)
		require.True(t, c.state().Item(0).Misfire.Exists())
		before := i.registry.Stats()
		sleepUntil(22 * time.Second)
		after := i.registry.Stats()
		require.Equal(t, []string{"item 0 fire 5s scheduled on a", "item 0 fire 15s scheduled on a"}, c.shown())
		require.True(t, c.state().Item(0).Misfire.Exists(), "the fire of second 20")
		require.Equal(t, 2, after.CommitRequests-before.CommitRequests)
		require.Zero(t, after.ReadRequests-before.ReadRequests)
	})
}
