package registrytest

import (
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func outageCases() []testCase {
	return []testCase{
		{name: "ShortCutKeepsTheSession", needs: []Ability{Cut}, run: shortCutKeepsTheSession},
		{name: "LongCutSuspendsAndThenLosesIt", needs: []Ability{Cut}, run: longCutSuspendsAndThenLosesIt},
		{name: "LossIsKnownBeforeOthersSeeIt", needs: []Ability{Cut}, run: lossIsKnownBeforeOthersSeeIt},
		{name: "SuccessorTakesUpWhatTheStoreStillHolds", needs: []Ability{Cut}, run: successorTakesUpTheClaim},
		{name: "ShortRestartIsSurvived", needs: []Ability{Restart}, run: func(e *env) { e.despiteStalls(func() error { return e.restartIsSurvived(0.1) }) }},
		{name: "LongRestartIsSurvived", needs: []Ability{Restart}, run: func(e *env) { e.despiteStalls(func() error { return e.restartIsSurvived(2) }) }},
		{name: "ClaimIsTakenUpAfterALongRestart", needs: []Ability{Restart, Adopt}, run: claimIsTakenUpAfterALongRestart},
	}
}

func shortCutKeepsTheSession(e *env) {
	e.despiteStalls(func() error {
		p, other := e.open(), e.open()
		session := e.session(p)
		e.commit(p, registry.PutOwned("/owned", "", session))
		removed := e.removals(other, "/owned")
		p.Cut()
		time.Sleep(e.ttls(0.1)) // with the time since the last keep-alive well below the deadline
		p.Heal()
		time.Sleep(e.ttls(1.5))
		next, state, changes := e.session(p), session.State(), removed(e.commit(other, registry.Put("/last", "")))
		if next != session || state != registry.SessionConnected || len(changes) > 0 {
			return fmt.Errorf("the session is %s (%w), the next the same: %t, its node was removed %d times",
				state, session.Err(), next == session, len(changes))
		}
		return nil
	})
}

func longCutSuspendsAndThenLosesIt(e *env) {
	p, session, suspended := e.open(), (*registry.Session)(nil), false
	for try := 1; !suspended; try++ { // a machine that stands still meanwhile shows what follows alone
		require.Less(e, try, 4, "it was never suspended")
		p.Heal()
		session = e.session(p)
		p.Cut()
		suspended = e.isSuspended(session)
		e.waitLost(session)
	}

	_, err := p.Session(e.within(0.2))
	require.ErrorIs(e, err, registry.ErrUnavailable, "there is none while the store is out of reach")
	p.Heal()
	require.NotSame(e, session, e.session(p))
	require.Equal(e, registry.SessionLost, session.State(), "a lost session stays lost")
}

// isSuspended waits until a session that was cut off just now is suspended. It is false if that was not seen.
func (e *env) isSuspended(session *registry.Session) bool {
	e.Helper()
	cut := time.Now()
	for changed := session.Changed(); session.State() == registry.SessionConnected; changed = session.Changed() {
		<-changed
	}
	now, left, lost := time.Now(), session.Remaining(), session.Err()
	if session.State() != registry.SessionSuspended {
		return false
	}
	require.NoError(e, lost)
	require.Greater(e, left, time.Duration(0))
	require.Less(e, now.Add(left).Sub(cut), e.store.TTL, "its deadline lies before the store's")
	return true
}

func lossIsKnownBeforeOthersSeeIt(e *env) {
	p, other := e.open(), e.open()
	session := e.session(p)
	e.commit(p, registry.PutOwned("/owned", "", session))
	view := e.view(other, "/owned")
	var lost, gone time.Time
	var watching sync.WaitGroup
	watching.Go(func() {
		<-session.Done()
		lost = time.Now()
	})
	p.Cut()
	e.waitAbsent(view, "/owned")
	gone = time.Now()
	watching.Wait()
	require.True(e, lost.Before(gone), "the owner must stop before others take over; it was %s late", lost.Sub(gone))
}

// successorTakesUpTheClaim heals the network when the session is lost here and perhaps not yet
// there. Whether the nodes are still there must agree with whether the claim is the same, and the
// lost session must not write even then.
func successorTakesUpTheClaim(e *env) { e.despiteStalls(e.successorTakesUpTheClaim) }

func (e *env) successorTakesUpTheClaim() error {
	e.Helper()
	p, other := e.open(), e.open()
	old := e.session(p)
	created := e.commit(p, registry.PutOwned("/owned", "", old))
	p.Cut()
	e.waitLost(old)
	p.Heal()
	next := e.session(p)
	require.NotSame(e, old, next)
	_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.PutOwned("/more", "", old)}, Repeat: registry.RepeatOwned})
	require.ErrorIs(e, err, registry.ErrSessionLost)
	e.commit(p, registry.PutOwned("/more", "", next))
	found := e.get(other, "/owned")
	if next.ID() != old.ID() {
		e.waitAbsent(e.view(other, "/owned"), "/owned")
		return nil
	}
	if found.Created != created {
		return fmt.Errorf("the node was made at %s, and is of %s, though the store never dropped it", created, found.Created)
	}
	time.Sleep(e.ttls(2))
	if left := e.get(other, "/owned").Created; left != created {
		return fmt.Errorf("the node was made at %s, and is of %s, though the successor keeps the claim alive", created, left)
	}
	return nil
}

func (e *env) restartIsSurvived(ttls float64) error {
	e.Helper()
	p, other := e.open(), e.open()
	view := e.view(other, registry.Root)
	old := e.session(p)
	created := e.commit(p, registry.PutOwned("/owned", "", old), registry.Put("/plain", "1"))
	e.store.Restart(e.ttls(ttls))
	e.waitValue(view, "/plain", "1")
	next := e.commitInSession(p, "/more", registry.Put("/plain", "2"))
	if ttls > 1 {
		require.NotSame(e, old, next, "nothing was confirmed for more than the TTL")
	}
	e.waitValue(view, "/plain", "2")
	if next.ID() != old.ID() {
		e.waitAbsent(view, "/owned")
		return nil
	}
	time.Sleep(e.ttls(2))
	left := e.get(other, "/owned").Created
	if next.Err() == nil && left != created {
		return fmt.Errorf("the node was made at %s, and is of %s, in the same session", created, left)
	}
	return nil
}

// commitInSession has a node put in the session in force, and returns that session. A store that takes
// long to come up, on a machine that is busy, costs another one.
func (e *env) commitInSession(p *Participant, path string, beside ...registry.Write) *registry.Session {
	e.Helper()
	for {
		session := e.session(p)
		_, err := p.Commit(e.ctx, registry.Txn{
			Then:   append([]registry.Write{registry.PutOwned(path, "", session)}, beside...),
			Repeat: registry.RepeatOwned,
		})
		if err == nil {
			return session
		}
		require.ErrorIs(e, err, registry.ErrSessionLost)
	}
}

// claimIsTakenUpAfterALongRestart relies on a store that gives every session a fresh TTL when it
// comes up. Whoever waited for the old session to end would block its own nodes for that long.
func claimIsTakenUpAfterALongRestart(e *env) { e.despiteStalls(e.claimIsTakenUpAfterALongRestart) }

func (e *env) claimIsTakenUpAfterALongRestart() error {
	e.Helper()
	p, other := e.open(), e.open()
	old := e.session(p)
	created := e.commit(p, registry.PutOwned("/owned", "", old))
	e.store.Restart(e.ttls(1.5))
	next := e.session(p)
	require.NotSame(e, old, next)
	if found := e.get(other, "/owned"); next.ID() != old.ID() || found.Created != created {
		return fmt.Errorf("after session %d came %d, and the node that was made at %s is of %s", old.ID(), next.ID(), created, found.Created)
	}
	_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.PutOwned("/more", "", old)}, Repeat: registry.RepeatOwned})
	require.ErrorIs(e, err, registry.ErrSessionLost, "the lost one stays lost, whatever its id")
	return nil
}
