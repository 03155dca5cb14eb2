package simulation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
)

// The cron is changed while the answer to a begin is under way: what the clock ticks by the old one until
// the process knows is not run.
func TestATickOfAnOldCronIsForgotten(t *testing.T) {
	cfg := oneItem()
	cfg.Misfire = job.MisfireAll
	tell(t, cfg, func(t *testing.T, c *cluster) {
		c.delays = func(string) func(memory.Message) time.Duration {
			return func(m memory.Message) time.Duration {
				ahead := time.Since(bubbleStart) + mostAhead // of the fire of second 10
				if ahead/time.Second == 10 && m.Kind == memory.Answer && stepOfMessage(m) == begin {
					late := 5200 * time.Millisecond
					c.rec.incident(checker.Held, a, late, 0)
					return late
				}
				return 0
			}
		}
		c.start(a)
		sleepUntil(11 * time.Second)
		c.configure(func(cfg *job.Config) { cfg.Cron = "0/20 * * * * ?" })
		sleepUntil(41 * time.Second)
		require.Equal(t, []string{"5s scheduled on a", "10s misfire on a", "20s scheduled on a", "40s scheduled on a"}, c.ran())
	})
}
