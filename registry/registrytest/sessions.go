package registrytest

import (
	"errors"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/registry"
)

func sessionCases() []testCase {
	return []testCase{
		{name: "OneIsSharedByAllCallers", run: oneIsSharedByAllCallers},
		{name: "NodesOutliveManyTTLs", run: nodesOutliveManyTTLs},
		{name: "ExpiryTakesAllItsNodesInOneRevision", needs: []Ability{Expire}, run: expiryTakesAllItsNodes},
		{name: "AnotherFollowsEveryLoss", needs: []Ability{Expire}, run: anotherFollowsEveryLoss},
		{name: "LostOneIsRefused", needs: []Ability{Expire}, run: lostOneIsRefused},
		{name: "LossTheStoreKnowsOfIsRefused", needs: []Ability{Expire}, run: lossTheStoreKnowsOfIsRefused},
		{name: "DeathLeavesNodesForTheTTL", needs: []Ability{Vanish}, run: deathLeavesNodesForTheTTL},
		{name: "AbandonedOneLapses", run: abandonedSessionLapses},
		{name: "LostOneThatIsAbandonedLapses", needs: []Ability{Cut}, run: lostSessionThatIsAbandonedLapses},
	}
}

func oneIsSharedByAllCallers(e *env) {
	p := e.open()
	session := e.session(p)
	require.Same(e, session, e.session(p))
	require.NotZero(e, session.ID())
	require.Equal(e, e.store.TTL, session.TTL())
	require.Equal(e, registry.SessionConnected, session.State())
	require.NoError(e, session.Err())
	require.Greater(e, session.Remaining(), time.Duration(0))
	require.Less(e, session.Remaining(), session.TTL(), "the margin before the store drops it")
}

func nodesOutliveManyTTLs(e *env) {
	e.despiteStalls(func() error {
		p, other := e.open(), e.open()
		session := e.session(p)
		revision := e.commit(p, registry.PutOwned("/owned", "", session))
		removed := e.removals(other, "/owned")
		time.Sleep(e.idle())
		next, state, left := e.session(p), session.State(), e.get(other, "/owned").Revision
		changes := removed(e.commit(other, registry.Put("/last", "")))
		if next != session || state != registry.SessionConnected || left != revision || len(changes) > 0 {
			return fmt.Errorf("the session is %s (%w), the next the same: %t, its node was put at %s, is of %s, and was removed %d times",
				state, session.Err(), next == session, revision, left, len(changes))
		}
		return nil
	})
}

// removals counts how often the node at path is removed. The function that it returns gives the
// result, up to a revision.
func (e *env) removals(p *Participant, path string) func(registry.Revision) []registry.Change {
	view := e.view(p, registry.Root)
	var removed []registry.Change
	unsubscribe := view.Subscribe(func(step registry.Step) {
		for _, c := range step.Changes {
			if c.Path() == path && (c.Kind() == registry.Removed || c.Kind() == registry.Updated && c.Old.Created != c.New.Created) {
				removed = append(removed, c)
			}
		}
	})
	return func(upTo registry.Revision) []registry.Change {
		e.Helper()
		e.waitRevision(view, upTo)
		unsubscribe()
		return removed
	}
}

func expiryTakesAllItsNodes(e *env) {
	p, other := e.open(), e.open()
	const n = 30
	var writes []registry.Write
	for i := range n {
		writes = append(writes, registry.PutOwned(fmt.Sprintf("/owned/%d", i), "", e.session(p)))
	}
	e.commit(p, append(writes, registry.Put("/owned/persistent", ""))...)
	e.commit(other, registry.PutOwned("/owned/other", "", e.session(other)))

	view := e.view(other, registry.Root)
	var steps []registry.Step
	unsubscribe := view.Subscribe(func(step registry.Step) { steps = append(steps, step) })
	p.Expire()
	left := e.waitAbsent(view, "/owned/0")
	unsubscribe()
	require.Equal(e, 2, left.Len())
	require.True(e, left.Get("/owned/other").Exists())
	require.True(e, left.Get("/owned/persistent").Exists())
	require.Len(e, steps, 2, "the first state, and one step with all removals")
	require.Len(e, steps[1].Changes, n)
}

func anotherFollowsEveryLoss(e *env) {
	p := e.open()
	session := e.session(p)
	for round := range 3 {
		path := fmt.Sprintf("/owned/%d", round)
		e.commit(p, registry.PutOwned(path, "", session))
		p.Expire()
		e.waitLost(session)
		next := e.session(p)
		require.NotSame(e, session, next)
		require.NotEqual(e, session.ID(), next.ID())
		require.Equal(e, registry.SessionConnected, next.State())
		require.False(e, e.get(p, path).Exists())
		session = next
	}
}

// waitLost waits until the session knows that it is over.
func (e *env) waitLost(session *registry.Session) {
	e.Helper()
	select {
	case <-session.Done():
	case <-e.ctx.Done():
		e.Fatalf("the session is %s after all this time", session.State())
	}
	require.Equal(e, registry.SessionLost, session.State())
	require.ErrorIs(e, session.Err(), registry.ErrSessionLost)
	require.Zero(e, session.Remaining())
}

func lostOneIsRefused(e *env) {
	p := e.open()
	old := e.session(p)
	p.Expire()
	e.waitLost(old)
	next := e.session(p)
	_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", ""), registry.PutOwned("/b", "", old)}})
	require.ErrorIs(e, err, registry.ErrSessionLost)
	require.Empty(e, e.list(p, registry.Root))
	e.commit(p, registry.PutOwned("/b", "", next))
}

// lossTheStoreKnowsOfIsRefused writes in the moment in which only the store knows.
func lossTheStoreKnowsOfIsRefused(e *env) {
	p := e.open()
	old := e.session(p)
	p.Expire()
	_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", ""), registry.PutOwned("/b", "", old)}})
	require.ErrorIs(e, err, registry.ErrSessionLost)
	require.NotErrorIs(e, err, registry.ErrUnknownOutcome)
	require.Empty(e, e.list(p, registry.Root))
}

func deathLeavesNodesForTheTTL(e *env) {
	stood := standstill.New(e)
	e.despiteStalls(func() error {
		p, other := e.open(), e.open()
		e.commit(p, registry.PutOwned("/owned", "", e.session(p)), registry.Put("/plain", ""))
		view := e.view(other, registry.Root)
		died := time.Now()
		p.Vanish()
		time.Sleep(e.ttls(0.1))
		if !e.get(other, "/owned").Exists() {
			return errors.New("the node is gone, and nobody told the store yet")
		}
		e.waitAbsent(view, "/owned")
		require.Less(e, stood.Elapsed(died), e.store.TTL+e.store.Slack)
		require.Equal(e, []string{"/plain"}, paths(e.list(other, registry.Root)))
		return nil
	})
}

// abandonedSessionLapses has a process give its session up. Its nodes go without its doing anything, and
// it works on under another session.
func abandonedSessionLapses(e *env) { e.despiteStalls(e.abandonedSessionLapses) }

func (e *env) abandonedSessionLapses() error {
	e.Helper()
	p, other := e.open(), e.open()
	session := e.session(p)
	e.commit(p, registry.PutOwned("/owned", "", session))
	view := e.view(other, registry.Root)
	reason := errors.New("cannot see it")
	session.Abandon(reason)
	require.Equal(e, registry.SessionLost, session.State())
	for _, cause := range []error{registry.ErrSessionLost, registry.ErrAbandoned, reason} {
		require.ErrorIs(e, session.Err(), cause)
	}
	next := e.session(p)
	require.NotEqual(e, session.ID(), next.ID(), "its claim is not taken up again")
	e.commit(p, registry.PutOwned("/other", "", next))
	e.waitAbsent(view, "/owned")
	if !e.get(other, "/other").Exists() {
		return fmt.Errorf("the node of the session that came next is gone: %w", next.Err())
	}
	return nil
}

// lostSessionThatIsAbandonedLapses has a process give a session up that was lost here and perhaps not in the
// store, which is back before it would drop it.
func lostSessionThatIsAbandonedLapses(e *env) {
	p, other := e.open(), e.openSteady()
	session := e.session(p)
	e.commit(p, registry.PutOwned("/owned", "", session))
	view := e.view(other, registry.Root)
	p.Cut()
	e.waitLost(session)
	session.Abandon(errors.New("nobody needs it"))
	p.Heal()
	require.NotEqual(e, session.ID(), e.session(p).ID(), "its claim is not taken up again")
	e.waitAbsent(view, "/owned")
}
