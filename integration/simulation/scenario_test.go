package simulation_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// The processes of scenarios. a joins first and leads.
const a, b, c3 = "10.0.0.1@-@a", "10.0.0.2@-@b", "10.0.0.3@-@c"

// oneItem returns the settings of a job of one item, with failover, that fires every five seconds.
func oneItem() job.Config {
	cfg := job.Config{Name: jobName, Cron: everyFive, ShardingTotalCount: 1}
	cfg.Failover = true
	return cfg
}

// hourly returns the settings of a job that fires once an hour: whatever runs within a scenario runs
// off schedule.
func hourly(items int) job.Config {
	cfg := oneItem()
	cfg.Cron, cfg.ShardingTotalCount = "0 0 * * * ?", items
	return cfg
}

// tell runs a scenario, stops whatever still runs, and judges what happened.
func tell(t *testing.T, cfg job.Config, scenario func(t *testing.T, c *cluster)) {
	t.Helper()
	t.Parallel()
	for _, f := range inBubble(t, cfg, func(t *testing.T, c *cluster) {
		scenario(t, c)
		for _, p := range c.processes {
			if p.alive() {
				require.NoError(t, p.stop())
			}
		}
		time.Sleep(time.Minute) // for code that was given up
	}) {
		t.Error(f)
	}
}

// long makes the executions of the first fire, at second 5, take their time, and the others a moment.
func (c *cluster) long(takes time.Duration, stubborn bool) {
	c.work = func(sc job.ShardingContext) work {
		if sc.Fire.Equal(bubbleStart.Add(5 * time.Second)) {
			return work{takes: takes, stubborn: stubborn}
		}
		return work{takes: 100 * time.Millisecond}
	}
}

// ran returns the calls of user code so far, in a word or two each.
func (c *cluster) ran() []string {
	synctest.Wait()
	var all []string
	for _, r := range c.rec.history().Runs {
		fire := "by hand"
		if !r.Context.Fire.IsZero() {
			fire = r.Context.Fire.Sub(bubbleStart).String()
		}
		all = append(all, fmt.Sprintf("%s %s on %s", fire, r.Context.Source, processOf(r.Instance)))
	}
	return all
}

func processOf(instance string) string {
	id, _ := jobtree.ParseInstanceID(instance)
	return id.Process
}

func TestEachFireRunsOnce(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.start(a)
		sleepUntil(11 * time.Second)
		require.Equal(t, []string{"5s scheduled on a", "10s scheduled on a"}, c.ran())
	})
}
