package scheduler_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// More jobs are left at once than hand over at a time, and what they wait for is lost, taken up again or away meanwhile:
// each is left all the same, and its turn is nobody else's loss.
func TestManyJobsAreLeftInTrouble(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trouble func(c *cluster, i *instance)
		stop    time.Duration // how long a stop may take
	}{
		"none":                {func(*cluster, *instance) {}, 10 * time.Second},
		"the session is lost": {func(_ *cluster, i *instance) { i.registry.Expire() }, 10 * time.Second},
		"the store is away": {func(c *cluster, _ *instance) {
			c.server.Stop()
			time.Sleep(3 * time.Second)
			c.server.Start()
		}, 20 * time.Second},
		"a view ends": {func(_ *cluster, i *instance) {
			i.registry.Deny("/job-1", true)
			time.Sleep(5 * time.Second)
			i.registry.Allow()
		}, 10 * time.Second},
	} {
		for how, leave := range map[string]func(t *testing.T, i *instance){
			"each": func(t *testing.T, i *instance) {
				var leaves errgroup.Group
				for _, j := range i.Jobs() {
					leaves.Go(func() error { return j.Leave(t.Context()) })
				}
				require.NoError(t, leaves.Wait())
			},
			"by a stop": func(t *testing.T, i *instance) {
				began := time.Now()
				i.stop(t)
				require.Less(t, time.Since(began), test.stop)
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					var configs []job.Config
					for n := range 700 {
						configs = append(configs, job.Config{Name: fmt.Sprintf("job-%d", n), Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1})
					}
					a := c.start("a", nil, configs...)
					c.server.SetPace(200, 10*time.Millisecond)
					var left sync.WaitGroup
					left.Go(func() { leave(t, a) })
					time.Sleep(time.Second)
					test.trouble(c, a)
					left.Wait()
					c.server.SetPace(0, 0)
					time.Sleep(10 * time.Second) // a session that was given up
					hand := c.server.Open("test")
					nodes, _, err := hand.List(t.Context(), registry.Root)
					require.NoError(t, err)
					for _, n := range nodes {
						require.NotContains(t, n.Path, "/instances/")
					}
					require.NoError(t, hand.Close(t.Context()))
				})
			})
		}
	}
}

// A large job that fires each second is left alone, while its store takes longer for the notes of what it misses than
// the next fire is away: it is left all the same, and what runs meanwhile is recorded.
func TestALargeJobIsLeftWhileItFires(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 2000}
		a := c.start("a", nil, cfg)
		c.start("b", nil, cfg)
		c.server.SetPace(400, 10*time.Millisecond)
		time.Sleep(10 * time.Second)
		j, err := a.Job("orders")
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, j.Leave(t.Context()))
		require.Less(t, time.Since(began), time.Minute)
		c.server.SetPace(0, 0)
	})
}
