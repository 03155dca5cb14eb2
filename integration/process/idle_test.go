//go:build linux

package process_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// TestKilledWhileIdle kills an instance that runs nothing. Nothing was cut short, so nothing may run but
// what the schedule has: failover is about executions, and not about instances.
func TestKilledWhileIdle(t *testing.T) {
	t.Parallel()
	onBoth(t, killedWhileIdle)
}

func killedWhileIdle(g ground) {
	t := g.t
	cfg := jobOf("orders", "0/4 * * * * ?", 6, "1ms", "5ms")
	cfg.Failover, cfg.Misfire = true, job.MisfireSkip
	f, lives := smallFleet(g, 3, failoverTTL, cfg)
	_, _ = f.await(cfg.Name, "a round that is over", func(s *jobtree.State) bool { return balanced(3)(s) && allIdle(s) })
	f.kill(lives[1])
	_, _ = f.await(cfg.Name, "two instances with all the items", balanced(2))
	last := f.look(cfg.Name).Item(0).Record.Value.LastFire
	_, _ = f.await(cfg.Name, "another round", func(s *jobtree.State) bool {
		return allIdle(s) && s.Item(0).Record.Value.LastFire.After(last)
	})
	f.stopAll()
	counts := f.judge().count(cfg.Name)
	require.Equal(t, map[job.Source]int{job.Scheduled: counts[job.Scheduled]}, counts)
}
