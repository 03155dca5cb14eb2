package simulation_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// A process that is all there is, and whose run lost its mark to a careless hand, stays for that run when it is to leave,
// and runs nothing else: what comes meanwhile is run by nobody. Somebody who joins has its other item. A process that
// stops ticks no fires any more; one that an operator told to leave does, and has them made up.
func TestWhoLeavesAloneStaysForAnUnmarkedRun(t *testing.T) {
	stop := func(c *cluster, p *process) {
		go func() { assert.NoError(c.t, p.stop()) }()
	}
	shutDown := func(c *cluster, p *process) {
		c.commit(registry.Update(c.tree().Instance(p.id), jobtree.InstanceShutdown))
	}
	for name, tt := range map[string]struct {
		leave  func(c *cluster, p *process)
		madeUp []string
	}{
		"it stops":                      {stop, nil},
		"an operator tells it to leave": {shutDown, []string{"20s misfire on b", "25s misfire on b", "30s misfire on b"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := oneItem()
			cfg.ShardingTotalCount, cfg.Misfire = 2, job.MisfireAll
			tell(t, cfg, func(t *testing.T, c *cluster) {
				c.work = func(sc job.ShardingContext) work {
					if sc.Item == 1 {
						return work{takes: 35 * time.Second}
					}
					return work{takes: 100 * time.Millisecond}
				}
				p, mark := c.start(a), c.tree().ItemRunning(1)
				sleepUntil(6 * time.Second)
				revision, err := c.operator.Commit(context.Background(), registry.Txn{Then: []registry.Write{registry.Delete(mark)}})
				require.NoError(t, err)
				c.rec.tampered(mark, revision)
				sleepUntil(16 * time.Second)
				before := c.ran()
				tt.leave(c, p)
				sleepUntil(31 * time.Second)
				require.True(t, c.state().Instance(a).Shutdown, "it stays")
				require.Equal(t, before, c.ran())
				c.start(b)
				sleepUntil(36 * time.Second)
				require.Equal(t, append(append(before, tt.madeUp...), "35s scheduled on b"), c.ran())
				sleepUntil(42 * time.Second)
				require.Zero(t, c.state().Instance(a).Created, "the run is over")
			})
		})
	}
}
