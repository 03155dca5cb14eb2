//go:build linux

package process_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// TestStoppedInMidRun stops instances, the leader among them, whose sessions last much longer than the
// test is willing to wait: their items must move at once, and what they run must come to its end.
func TestStoppedInMidRun(t *testing.T) {
	t.Parallel()
	onBoth(t, stoppedInMidRun)
}

func stoppedInMidRun(g ground) {
	t := g.t
	const ttl, limit = 20 * time.Second, 15 * time.Second
	cfg := jobOf("orders", "0/2 * * * * ?", 6, "1s", "1500ms")
	cfg.Failover = true
	f, _ := smallFleet(g, 4, ttl, cfg)
	var stood []int64 // tokens of what ran when its instance was stopped
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
		for _, token := range running {
			stood = append(stood, int64(token))
		}
	}
	f.stopAll()
	c := f.judge()
	require.Zero(t, c.count(cfg.Name)[job.Failover])
	runs := c.history(cfg.Name).Runs
	for _, token := range stood {
		n := slices.IndexFunc(runs, func(r checker.Run) bool { return r.Context.Token == token })
		require.GreaterOrEqual(t, n, 0, "nobody ran under token %d", token)
		require.True(t, !runs[n].Ended.IsZero() && !runs[n].Died && runs[n].Cancelled.IsZero(),
			"what ran when its instance was stopped did not come to its end: %+v", runs[n])
	}
}
