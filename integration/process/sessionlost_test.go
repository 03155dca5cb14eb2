//go:build linux

package process_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/proxy"
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

func frozenBeyondItsSession(env environment) {
	t := env.t
	cfg := jobOf("orders", "* * * * * ?", 2, "30s", "31s") // longer than anybody stands still on a busy machine
	cfg.Failover = true
	c, _ := startCluster(env, 0, failoverTTL, cfg)
	c.rules.Grace = waitTimeout // what runs at the end has its time
	for _, id := range []string{"127.0.0.1@-@p1", "127.0.0.2@-@p1"} {
		require.NoError(t, c.start(id, env.addresses).awaitReady())
	}
	s, _ := c.await(cfg.Name, "both instances to run an item", func(s *jobtree.State) bool {
		return balanced(2)(s) && len(runBy(s, s.Instances[0].Session)) == 1 && len(runBy(s, s.Instances[1].Session)) == 1
	})
	mark := s.Item(0).Running
	frozen, old := c.find(s.Item(0).Record.Value.Current.Instance), mark.Session
	frozen.awaitEvent(kindBegan, int64(mark.Created))
	c.recordIncident(checker.Paused, frozen, func() {
		frozen.signal(syscall.SIGSTOP)
		defer frozen.signal(syscall.SIGCONT)
		s, _ := c.await(cfg.Name, "a rerun", func(s *jobtree.State) bool {
			return s.Item(0).Running.Exists() && s.Item(0).Running.Created > mark.Created
		})
		again := s.Item(0)
		c.find(again.Record.Value.Current.Instance).awaitEvent(kindBegan, int64(again.Running.Created))
	})
	awake := now().time()

	cancelled := frozen.awaitEvent(kindCancelled, int64(mark.Created))
	refused := frozen.awaitEvent(kindRefused, int64(mark.Created))
	t.Logf("code was cancelled %d ms after the process went on", cancelled.time().Sub(awake).Milliseconds())
	require.ErrorIs(t, cancelled.Failure, registry.ErrSessionLost)
	require.Less(t, cancelled.time().Sub(awake), busy)
	require.True(t, errors.Is(refused.Failure, registry.ErrSessionLost) || errors.Is(refused.Failure, registry.ErrConflict), refused.Failure)
	back, _ := c.await(cfg.Name, "the frozen instance to take part again", balanced(2))
	require.NotEqual(t, old, back.Instance(frozen.id).Session)
	c.stopAll()

	o := c.judge()
	requireSilence(t, o.states, s.Tree().Instance(frozen.id), old)
	again := rerunAfter(o.history(cfg.Name), int64(mark.Created))
	require.NotNil(t, again, "nobody ran the item again")
	require.NotEqual(t, frozen.id, again.Instance)
	require.True(t, again.Began.Before(awake), "the item waited for the frozen instance")
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

// rerunAfter returns the first rerun of item 0 with a later token; nil if there is none. There may be earlier ones, as on a
// busy machine sessions end by themselves.
func rerunAfter(h checker.History, token int64) *checker.Run {
	for i := range h.Runs {
		if sc := h.Runs[i].Context; sc.Source == job.Failover && sc.Item == 0 && sc.Token > token {
			return &h.Runs[i]
		}
	}
	return nil
}

// TestCutOffBeyondItsSession takes the network from an instance in the middle of a run. Unlike one that
// stands still it can know when its session is over, though nobody tells it: its code must have been
// told before the store ends the session.
func TestCutOffBeyondItsSession(t *testing.T) {
	t.Parallel()
	onBoth(t, cutOffBeyondItsSession)
}

func cutOffBeyondItsSession(env environment) {
	t := env.t
	const ttl = 3 * time.Second
	cfg := jobOf("orders", "* * * * * ?", 2, "8s", "9s")
	cfg.Failover = true
	c, _ := startCluster(env, 1, ttl, cfg)
	network := proxy.Start(t, env.addresses[0])
	isolated := c.start("127.0.0.9@-@p1", []string{network.Address()})
	s, _ := c.await(cfg.Name, "both instances to run an item", func(s *jobtree.State) bool {
		return balanced(2)(s) && len(runBy(s, s.Instances[0].Session)) == 1 && len(runBy(s, s.Instances[1].Session)) == 1
	})
	n, token := only(runBy(s, s.Instance(isolated.id).Session))
	isolated.awaitEvent(kindBegan, int64(token))
	c.recordIncident(checker.Cut, isolated, func() {
		network.Cut()
		defer network.Heal()
		_, _ = c.await(cfg.Name, "the item to run again", func(s *jobtree.State) bool {
			current := s.Item(n).Record.Value.Current
			return current.Source == job.Failover && s.Item(n).Running.Exists()
		})
	})
	cancelled := isolated.awaitEvent(kindCancelled, int64(token))
	require.ErrorIs(t, cancelled.Failure, registry.ErrSessionLost)
	isolated.awaitEvent(kindRefused, int64(token))
	_, _ = c.await(cfg.Name, "the instance to take part again", balanced(2))
	c.stopAll()

	o := c.judge()
	gone := endOf(o.states, s.Tree().ItemRunning(n), token)
	t.Logf("code was told %d ms before the store ended the session", gone.Sub(cancelled.time()).Milliseconds())
	// It has the last sixth of the session's time for that, in which a busy machine may give it no processor.
	stood := slices.ContainsFunc(o.incidents, func(i checker.Incident) bool {
		return i.Kind == checker.Paused && i.Instance == isolated.id && i.From.Before(gone) && i.Until.After(gone.Add(-ttl))
	})
	require.True(t, stood || cancelled.time().Before(gone))
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
