//go:build linux

package process_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// TestKilledInMidRun kills instances while they run an item, leaders among them, and looks at how long
// it takes until the item runs again.
func TestKilledInMidRun(t *testing.T) {
	t.Parallel()
	onBoth(t, killedInMidRun)
}

func killedInMidRun(env environment) {
	t := env.t
	const kills = 4
	cfg := jobOf("orders", "* * * * * ?", 3, "7s", "10s")
	cfg.Failover = true
	c, _ := startCluster(env, 3, failoverTTL, cfg)
	for n := range kills {
		s, _ := c.await(cfg.Name, "three instances that run items", func(s *jobtree.State) bool {
			item := s.Item(n % 3)
			// A run that has lasted a while might end before the process is dead.
			young := item.Running.Exists() && time.Since(item.Record.Value.Current.Begin) < 2*time.Second
			return balanced(3)(s) && young && s.Instance(s.Owner(n%3)).Session == item.Running.Session
		})
		lost := s.Item(n % 3)
		target := c.find(s.Owner(n % 3))
		target.awaitEvent(kindBegan, int64(lost.Running.Created))
		c.kill(target)
		c.start(fmt.Sprintf("127.0.0.%d@-@p2", 10+n), env.addresses)
		s, _ = c.await(cfg.Name, "a rerun", func(s *jobtree.State) bool {
			item := s.Item(n % 3)
			current := item.Record.Value.Current
			same := current.Source == job.Failover && current.Fire.Equal(lost.Record.Value.Current.Fire)
			return same && item.Running.Created > lost.Running.Created // what was lost may have been a rerun itself
		})
		again := s.Item(n % 3)
		c.find(again.Record.Value.Current.Instance).awaitEvent(kindBegan, int64(again.Running.Created))
	}
	c.stopAll()
	reruns := c.judge().reruns(cfg.Name)
	require.GreaterOrEqual(t, len(reruns), kills)
	for _, r := range reruns {
		t.Logf("item %d ran again TTL %+.2f s after the crash", r.lost.Context.Item, (r.after() - failoverTTL).Seconds())
		require.Less(t, r.after(), c.rules.TTL+c.rules.Detect+busy)
		require.Greater(t, r.again.Context.Token, r.lost.Context.Token)
		require.NotEqual(t, r.lost.Instance, r.again.Instance)
	}
}

// TestKilledWhileIdle kills an instance that runs nothing. Nothing was cut short, so nothing may run but
// what the schedule has: failover is about executions, and not about instances.
func TestKilledWhileIdle(t *testing.T) {
	t.Parallel()
	onBoth(t, killedWhileIdle)
}

func killedWhileIdle(env environment) {
	t := env.t
	cfg := jobOf("orders", "0/4 * * * * ?", 6, "1ms", "5ms")
	cfg.Failover, cfg.Misfire = true, job.MisfireSkip
	c, processes := startCluster(env, 3, 3*failoverTTL, cfg) // a session that ended otherwise would cut something short
	_, _ = c.await(cfg.Name, "a round that is over", func(s *jobtree.State) bool { return balanced(3)(s) && allIdle(s) })
	c.kill(processes[1])
	_, _ = c.await(cfg.Name, "two instances with all the items", balanced(2))
	last := c.state(cfg.Name).Item(0).Record.Value.LastFire
	_, _ = c.await(cfg.Name, "another round", func(s *jobtree.State) bool {
		return allIdle(s) && s.Item(0).Record.Value.LastFire.After(last)
	})
	c.stopAll()
	counts := c.judge().count(cfg.Name)
	require.Equal(t, map[job.Source]int{job.Scheduled: counts[job.Scheduled]}, counts)
}
