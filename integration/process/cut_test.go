//go:build linux

package process_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// TestCutOffBeyondItsSession takes the network from an instance in the middle of a run. Unlike one that
// stands still it can know when its session is over, though nobody tells it: its code must have been
// told before the store ends the session.
func TestCutOffBeyondItsSession(t *testing.T) {
	t.Parallel()
	onBoth(t, cutOffBeyondItsSession)
}

func cutOffBeyondItsSession(g ground) {
	t := g.t
	const ttl = 3 * time.Second
	cfg := jobOf("orders", "* * * * * ?", 2, "8s", "9s")
	cfg.Failover = true
	f, _ := smallFleet(g, 1, ttl, cfg)
	network := proxy.Start(t, g.addresses[0])
	lonely := f.start("127.0.0.9@-@p1", []string{network.Address()})
	s, _ := f.await(cfg.Name, "both instances to run an item", func(s *jobtree.State) bool {
		return balanced(2)(s) && len(runBy(s, s.Instances[0].Session)) == 1 && len(runBy(s, s.Instances[1].Session)) == 1
	})
	n, token := only(runBy(s, s.Instance(lonely.id).Session))
	lonely.awaitEvent(kindBegan, int64(token))
	f.suffer(checker.Cut, lonely, func() {
		network.Cut()
		defer network.Heal()
		_, _ = f.await(cfg.Name, "the item to run again", func(s *jobtree.State) bool {
			current := s.Item(n).Record.Value.Current
			return current.Source == job.Failover && s.Item(n).Running.Exists()
		})
	})
	cancelled := lonely.awaitEvent(kindCancelled, int64(token))
	require.ErrorIs(t, cancelled.Failure, registry.ErrSessionLost)
	lonely.awaitEvent(kindRefused, int64(token))
	_, _ = f.await(cfg.Name, "the instance to take part again", balanced(2))
	f.stopAll()

	c := f.judge()
	gone := endOf(c.states, s.Tree().ItemRunning(n), token)
	t.Logf("code was told %d ms before the store ended the session", gone.Sub(cancelled.time()).Milliseconds())
	require.True(t, cancelled.time().Before(gone))
}

// endOf returns when a node that a revision created vanished.
func endOf(states []checker.State, path string, created registry.Revision) time.Time {
	for _, state := range states {
		for _, change := range state.Step.Changes {
			if change.Path() == path && change.Old.Created == created && change.New.Created != created {
				return state.At
			}
		}
	}
	return time.Time{}
}
