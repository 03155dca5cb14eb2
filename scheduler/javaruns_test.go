package scheduler_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// overdue lists the items of the first job that a scheduler's health calls overdue.
func overdue(t *testing.T, s *scheduler.Scheduler) []int {
	t.Helper()
	var items []int
	for _, o := range s.Health(t.Context()).Jobs[0].Overdue {
		items = append(items, o.Item)
	}
	return items
}

// Java leaves no record, so what it ran for is not known: neither of what it owns, nor of what came from it
// since. What should run here and does not is overdue all the same.
func TestWhatJavaRunsIsNotOverdue(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(javasOwn(3))
		a := c.startShared("a", nil, sharedJob(3))
		j.reshard(0, fullID("a"), javaID, javaID)
		sleepUntil(time.Minute + time.Second)
		require.Empty(t, overdue(t, a.Scheduler))
		j.reshard(3, fullID("a"), fullID("a"), javaID)
		sleepUntil(time.Minute + 2*time.Second)
		require.Empty(t, overdue(t, a.Scheduler), "fires before it came")
		j.ask() // to which the leader does not answer
		sleepUntil(2 * time.Minute)
		require.Equal(t, []int{0, 1}, overdue(t, a.Scheduler))
	})
}

func TestStatisticsTellWhatJavaRan(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(javasOwn(3))
		a := c.startShared("a", nil, sharedJob(3))
		j.reshard(0, fullID("a"), javaID, javaID)
		for range 2 {
			time.Sleep(5 * time.Second)
			j.begin(1)
			time.Sleep(2 * time.Second)
			j.end(1)
		}
		sleepUntil(15 * time.Second)
		j.begin(1)
		sleepUntil(16 * time.Second)
		of := func() []scheduler.ItemStatistics {
			all, err := ordersOf(t, a).Statistics(t.Context())
			require.NoError(t, err)
			require.Len(t, all.Items, 3)
			return all.Items
		}
		require.Nil(t, of()[0].Java)
		require.NotZero(t, of()[0].Success)
		running := scheduler.JavaStatistics{Runs: 3, Instance: javaID, LastBegin: bubbleStart.Add(15 * time.Second)}
		require.Equal(t, running, *of()[1].Java)
		require.Equal(t, javaID, of()[1].Owner)
		require.Zero(t, of()[1].Success)
		require.Equal(t, scheduler.JavaStatistics{}, *of()[2].Java, "nothing was seen yet")
		j.end(1)
		sleepUntil(17 * time.Second)
		running.LastEnd = bubbleStart.Add(16 * time.Second)
		require.Equal(t, running, *of()[1].Java)
	})
}

// A listener of 2.1.5 that runs once for a whole round waits as one of 3.x does.
func TestAOnceListenerOfElasticJobLite(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		c.startWith("a", nil, []scheduler.Option{scheduler.WithJavaPeers(), scheduler.WithLogger(slog.New(&logs))}, sharedJob(2))
		j := c.javaJoins(javaID)
		sleepUntil(6 * time.Second)
		j.do(registry.Put(orders.ItemStarted(1), ""))
		sleepUntil(8 * time.Second)
		require.False(t, c.node(orders.ItemStarted(0)).Exists())
		require.Equal(t, 1, logs.of("a listener of Java instances waits for all items of a round, and does not hear of those that run here: it does not run, and each of their rounds waits for its time limit"))
	})
}
