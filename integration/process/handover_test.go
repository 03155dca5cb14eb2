//go:build linux

package process_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
)

// TestStoppedInMidRun stops instances, the leader among them, whose sessions last much longer than the
// test is willing to wait: their items must move at once, and what they run must come to its end.
func TestStoppedInMidRun(t *testing.T) {
	t.Parallel()
	onBoth(t, stoppedInMidRun)
}

func stoppedInMidRun(g ground) {
	t := g.t
	const ttl, limit = 20 * time.Second, 5 * time.Second
	cfg := jobOf("orders", "0/2 * * * * ?", 6, "1s", "1500ms")
	cfg.Failover = true
	f, _ := smallFleet(g, 4, ttl, cfg)
	for left := 3; left >= 2; left-- {
		s, _ := f.await(cfg.Name, "a leader that runs an item", func(s *jobtree.State) bool {
			return balanced(left+1)(s) && len(runBy(s, s.Leader.Session)) > 0
		})
		leader := f.find(s.Leader.Instance)
		running := runBy(s, s.Leader.Session)
		asked := now().time()
		stopped := make(chan struct{})
		go func() { defer close(stopped); f.stop(leader) }()
		_, moved := f.await(cfg.Name, "the others to have all the items", func(s *jobtree.State) bool {
			return balanced(left)(s) && s.Leader.Created != 0
		})
		<-stopped
		t.Logf("items moved %d ms after the SIGTERM", moved.Sub(asked).Milliseconds())
		require.Less(t, moved.Sub(asked), limit)
		for n, token := range running {
			outcome, ended := f.look(cfg.Name).Item(n).Record.Value.Ended(int64(token))
			require.True(t, ended && (outcome == jobtree.Success || outcome == jobtree.Failure),
				"item %d, which ran when its instance was stopped, ended as %q", n, outcome)
		}
	}
	f.stopAll()
	require.Zero(t, f.judge().count(cfg.Name)[job.Failover])
}
