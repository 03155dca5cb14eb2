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

// failoverTTL is long enough for a busy machine, and short enough for a test.
const failoverTTL = 2 * time.Second

// jobOf returns a job whose items take from least to most.
func jobOf(name, cron string, items int, least, most string) job.Config {
	cfg := job.Config{Name: name, Cron: cron, ShardingTotalCount: items}
	cfg.JobParameter = least + " " + most
	return cfg
}

// TestKilledInMidRun kills instances while they run an item, leaders among them, and looks at how long
// it takes until the item runs again.
func TestKilledInMidRun(t *testing.T) {
	t.Parallel()
	onBoth(t, killedInMidRun)
}

func killedInMidRun(g ground) {
	t := g.t
	const kills = 4
	cfg := jobOf("orders", "* * * * * ?", 3, "5s", "8s")
	cfg.Failover = true
	f, _ := smallFleet(g, 3, failoverTTL, cfg)
	for n := range kills {
		s, _ := f.await(cfg.Name, "three instances that run items", func(s *jobtree.State) bool {
			item := s.Item(n % 3)
			// A run that has lasted a while might end before the process is dead.
			young := item.Running.Exists() && time.Since(item.Record.Value.Current.Begin) < 2*time.Second
			return balanced(3)(s) && young && s.Instance(s.Owner(n%3)).Session == item.Running.Session
		})
		lost := s.Item(n % 3)
		victim := f.find(s.Owner(n % 3))
		victim.awaitEvent(kindBegan, int64(lost.Running.Created))
		f.kill(victim)
		f.start(fmt.Sprintf("127.0.0.%d@-@p2", 10+n), g.addresses)
		s, _ = f.await(cfg.Name, "a rerun", func(s *jobtree.State) bool {
			item := s.Item(n % 3)
			current := item.Record.Value.Current
			same := current.Source == job.Failover && current.Fire.Equal(lost.Record.Value.Current.Fire)
			return same && item.Running.Created > lost.Running.Created // what was lost may have been a rerun itself
		})
		again := s.Item(n % 3)
		f.find(again.Record.Value.Current.Instance).awaitEvent(kindBegan, int64(again.Running.Created))
	}
	f.stopAll()
	reruns := f.judge().reruns(cfg.Name)
	require.GreaterOrEqual(t, len(reruns), kills)
	for _, r := range reruns {
		t.Logf("item %d ran again TTL %+.2f s after the crash", r.lost.Context.Item, (r.after() - failoverTTL).Seconds())
		require.Less(t, r.after(), f.rules.TTL+f.rules.Detect+busy)
		require.Greater(t, r.again.Context.Token, r.lost.Context.Token)
		require.NotEqual(t, r.lost.Instance, r.again.Instance)
	}
}
