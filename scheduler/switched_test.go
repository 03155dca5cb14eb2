package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// What a job recorded before it stopped doing so says nothing of what ran since: no window reaches back to it.
func TestOldRecordsSayNothingOfWhatRanUnrecorded(t *testing.T) {
	t.Parallel()
	for _, policy := range []job.MisfirePolicy{job.MisfireAll, job.MisfireOnce} {
		for name, story := range map[string]func(c *cluster, a *instance, cfg job.Config){
			"a process starts anew": func(c *cluster, a *instance, cfg job.Config) { a.stop(c.t); c.start("c", nil, cfg) },
			"a process joins":       func(c *cluster, _ *instance, cfg job.Config) { c.start("c", nil, cfg) },
			"a process leaves": func(c *cluster, a *instance, cfg job.Config) {
				c.start("c", nil, cfg)
				sleepUntil(38 * time.Second)
				a.stop(c.t)
			},
		} {
			t.Run(fmt.Sprintf("%s, %s", policy, name), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					c.t = t
					cfg := jobOf(2)
					cfg.Misfire, cfg.MisfireWindow = policy, time.Minute
					a := c.start("a", nil, cfg)
					sleepUntil(6 * time.Second)
					cfg.Unmonitored = true
					c.change(cfg)
					sleepUntil(32 * time.Second)
					require.Len(t, c.take(), 2*6)
					story(c, a, cfg)
					sleepUntil(44 * time.Second)
					for _, r := range c.take() {
						require.Greater(t, r.sc.Fire.Sub(bubbleStart), 30*time.Second, "%s", r)
					}
				})
			})
		}
	}
}
