package scheduler_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// The registry is away for longer than the session, again and again, and the process has hundreds of
// jobs: all of them go on each time, none runs twice for a fire, none is forgotten.
func TestHundredsOfJobsOutliveOutages(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const jobs = 300
		var mu sync.Mutex
		fires := make(map[string]int)
		work := func(_ context.Context, sc job.ShardingContext) error {
			mu.Lock()
			defer mu.Unlock()
			fires[fmt.Sprint(sc.JobName, sc.Fire.Sub(bubbleStart))]++
			return nil
		}
		reg := c.server.Open("test")
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		for n := range jobs {
			require.NoError(t, errOf(s.Add(t.Context(), job.Config{Name: fmt.Sprint("job", n), Cron: "30 * * * * ?", ShardingTotalCount: 1}, job.HandlerFunc(work))))
		}
		i := c.run(s, reg)
		<-s.Ready()
		for outage := range 2 {
			minute := time.Duration(outage) * time.Minute
			sleepUntil(minute + 35*time.Second)
			mu.Lock()
			require.Len(t, fires, jobs*(outage+1), "after %d outages", outage)
			mu.Unlock()
			reg.Cut()
			sleepUntil(minute + 50*time.Second)
			reg.Heal()
		}
		for fire, n := range fires {
			require.Equal(t, 1, n, fire)
		}
		i.stop(t)
	})
}

// Fires that come while the session is lost are missed ones.
func TestFiresDuringAnOutage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, job.Config{Name: "orders", Cron: "0/20 * * * * ?", ShardingTotalCount: 1})
		sleepUntil(21 * time.Second)
		a.registry.Cut()
		sleepUntil(50 * time.Second)
		a.registry.Heal()
		sleepUntil(61 * time.Second)
		require.Equal(t, []string{
			"item 0 fire 20s scheduled on a", "item 0 fire 40s misfire on a", "item 0 fire 1m0s scheduled on a",
		}, c.shown())
	})
}

// A process that stood still for longer than its session finds it lost when it wakes: its items'
// contexts end with that cause, their ends are refused, and another has run what it was running.
func TestAProcessThatStoodStill(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := failoverOf(1)
		frozen := make(chan struct{})
		a := c.start("a", func(context.Context, job.ShardingContext) error { <-frozen; return nil }, cfg)
		sleepUntil(6 * time.Second)
		a.registry.Pause()
		c.start("b", nil, cfg)
		sleepUntil(20 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s failover on b"}, c.shown())
		after := c.state().Item(0).Record
		a.registry.Resume()
		close(frozen)
		sleepUntil(22 * time.Second)
		require.Equal(t, after, c.state().Item(0).Record, "the late end is refused")
		require.Len(t, c.state().Instances, 2, "it takes part again")
	})
}
