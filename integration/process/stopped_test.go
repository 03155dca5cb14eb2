//go:build linux

package process_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// TestStoppedInMidRun stops instances, the leader among them, whose sessions last much longer than the
// test is willing to wait: their items must move at once, and what they run must come to its end.
func TestStoppedInMidRun(t *testing.T) {
	t.Parallel()
	onBoth(t, stoppedInMidRun)
}

func stoppedInMidRun(env environment) {
	t := env.t
	const ttl, limit = 20 * time.Second, 15 * time.Second
	cfg := jobOf("orders", "0/2 * * * * ?", 6, "1s", "1500ms")
	cfg.Failover = true
	c, _ := startCluster(env, 4, ttl, cfg)
	var stalled []int64 // tokens of what ran when its instance was stopped
	for left := 3; left >= 2; left-- {
		s, _ := c.await(cfg.Name, "a leader that runs an item", func(s *jobtree.State) bool {
			return balanced(left+1)(s) && len(runBy(s, s.Leader.Session)) > 0
		})
		leader := c.find(s.Leader.Instance)
		running := runBy(s, s.Leader.Session)
		for _, token := range running { // whose fires may still be to come
			leader.awaitEvent(kindBegan, int64(token))
		}
		asked := now().time()
		stopped := make(chan struct{})
		go func() { defer close(stopped); c.stop(leader) }()
		_, moved := c.await(cfg.Name, "the others to have all the items", func(s *jobtree.State) bool {
			return balanced(left)(s) && s.Leader.Created != 0
		})
		<-stopped
		t.Logf("items moved %d ms after the SIGTERM", moved.Sub(asked).Milliseconds())
		require.Less(t, moved.Sub(asked), limit)
		for _, token := range running {
			stalled = append(stalled, int64(token))
		}
	}
	c.stopAll()
	o := c.judge()
	require.Zero(t, o.count(cfg.Name)[job.Failover])
	runs := o.history(cfg.Name).Runs
	for _, token := range stalled {
		n := slices.IndexFunc(runs, func(r checker.Run) bool { return r.Context.Token == token })
		require.GreaterOrEqual(t, n, 0, "nobody ran under token %d", token)
		require.True(t, !runs[n].Ended.IsZero() && !runs[n].Died && runs[n].Cancelled.IsZero(),
			"what ran when its instance was stopped did not come to its end: %+v", runs[n])
	}
}

// TestStoppedWithoutAStore stops an instance that cannot reach its store, when it has nothing to tell that: the end of an item
// it would try to record until the stop timeout is over. Neither its scheduler nor the handle of its registry may wait for an
// answer: the process ends when its session does.
func TestStoppedWithoutAStore(t *testing.T) {
	t.Parallel()
	onBoth(t, func(env environment) {
		t := env.t
		const ttl = 3 * time.Second
		cfg := jobOf("orders", "0/15 * * * * ?", 2, "10ms", "20ms")
		c, _ := startCluster(env, 1, ttl, cfg)
		network := proxy.Start(t, env.addresses[0])
		c.rules.Grace = waitTimeout // far more than the session's end takes on a busy machine
		isolated := c.start("127.0.0.9@-@p1", []string{network.Address()})
		require.NoError(t, isolated.awaitReady())
		_, _ = c.await(cfg.Name, "both to have an item, and nothing to run", func(s *jobtree.State) bool {
			return balanced(2)(s) && !s.Item(0).Running.Exists() && !s.Item(1).Running.Exists()
		})
		network.Cut()
		c.recordIncident(checker.Crashed, isolated, func() { // which it is to everybody else
			asked := time.Now()
			isolated.term(func(status int) bool { return status == statusNotClosed })
			took := time.Since(asked)
			t.Logf("ended %d ms after the SIGTERM", took.Milliseconds())
			require.Less(t, took, c.rules.Grace, "it waits for a store that does not answer")
		})
		_, _ = c.await(cfg.Name, "the other to have both", balanced(1))
		network.Heal() // only now: a keep-alive that arrives while the session lasts prolongs it, whoever sent it
		c.stopAll()
		c.judge()
	})
}
