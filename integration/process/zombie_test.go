//go:build linux

package process_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// TestFrozenBeyondItsSession has an instance stand still in the middle of a run until others have taken
// over, and looks at what it does when it goes on: nothing under its old session, and all there is to
// do under a new one.
func TestFrozenBeyondItsSession(t *testing.T) {
	t.Parallel()
	onBoth(t, frozenBeyondItsSession)
}

func frozenBeyondItsSession(g ground) {
	t := g.t
	cfg := jobOf("orders", "* * * * * ?", 2, "6s", "8s")
	cfg.Failover = true
	f, _ := smallFleet(g, 2, failoverTTL, cfg)
	s, _ := f.await(cfg.Name, "both instances to run an item", func(s *jobtree.State) bool {
		return balanced(2)(s) && len(runBy(s, s.Instances[0].Session)) == 1 && len(runBy(s, s.Instances[1].Session)) == 1
	})
	mark := s.Item(0).Running
	zombie, old := f.find(s.Item(0).Record.Value.Current.Instance), mark.Session
	zombie.awaitEvent(kindBegan, int64(mark.Created))
	f.suffer(checker.Paused, zombie, func() {
		zombie.signal(syscall.SIGSTOP)
		defer zombie.signal(syscall.SIGCONT)
		s, _ := f.await(cfg.Name, "a rerun", func(s *jobtree.State) bool {
			return s.Item(0).Running.Exists() && s.Item(0).Running.Created > mark.Created
		})
		again := s.Item(0)
		f.find(again.Record.Value.Current.Instance).awaitEvent(kindBegan, int64(again.Running.Created))
	})
	awake := now().time()

	cancelled := zombie.awaitEvent(kindCancelled, int64(mark.Created))
	refused := zombie.awaitEvent(kindRefused, int64(mark.Created))
	t.Logf("code was cancelled %d ms after the process went on", cancelled.time().Sub(awake).Milliseconds())
	require.ErrorIs(t, cancelled.Failure, registry.ErrSessionLost)
	require.Less(t, cancelled.time().Sub(awake), slack)
	require.True(t, errors.Is(refused.Failure, registry.ErrSessionLost) || errors.Is(refused.Failure, registry.ErrConflict), refused.Failure)
	back, _ := f.await(cfg.Name, "the zombie to take part again", balanced(2))
	require.NotEqual(t, old, back.Instance(zombie.id).Session)
	f.stopAll()

	c := f.judge()
	requireSilence(t, c.states, s.Tree().Instance(zombie.id), old)
	again := runWith(c.history(cfg.Name), job.Failover)
	require.NotNil(t, again, "nobody ran the item again")
	require.Greater(t, again.Context.Token, int64(mark.Created))
	require.NotEqual(t, zombie.id, again.Instance)
	require.True(t, again.Began.Before(awake), "the item waited for the zombie")
}

// requireSilence fails if anything was written under the session of an instance after the store had
// ended it.
func requireSilence(t *testing.T, states []checker.State, registered string, session registry.SessionID) {
	t.Helper()
	var over time.Time
	for _, state := range states {
		for _, change := range state.Step.Changes {
			switch {
			case change.Path() == registered && change.Old.Session == session && change.New.Session != session:
				over = state.At
			case change.New.Session == session:
				require.Zero(t, over, "written under a session that was over: %s", change.New)
			}
		}
	}
	require.NotZero(t, over)
}

// runWith returns the first run from a source; nil if there is none.
func runWith(h checker.History, source job.Source) *checker.Run {
	for i := range h.Runs {
		if h.Runs[i].Context.Source == source {
			return &h.Runs[i]
		}
	}
	return nil
}
