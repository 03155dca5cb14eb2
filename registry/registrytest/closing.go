package registrytest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/registry"
)

func closingCases() []testCase {
	return []testCase{
		{name: "TakesEphemeralNodesAtOnce", run: closeTakesNodesAtOnce},
		{name: "EverythingFailsAfterwards", run: everythingFailsAfterwards},
		{name: "DeadHandleFailsToo", needs: []Ability{Vanish}, run: deadHandleFailsToo},
		{name: "RepeatedCallsAgree", run: repeatedCallsAgree},
		{name: "DoesNotWaitForWhoHoldsALatch", run: closeDoesNotWaitForALatch},
		{name: "WakesWhoWaits", needs: []Ability{Cut}, run: closeWakesWhoWaits},
		{name: "FarewellIsBounded", needs: []Ability{Cut}, run: farewellIsBounded},
		{name: "EndsByItselfWithoutAStore", needs: []Ability{Cut}, run: func(e *env) { closeEndsByItself(e, false) }},
		{name: "EndsByItselfAfterTheSession", needs: []Ability{Cut}, run: func(e *env) { closeEndsByItself(e, true) }},
	}
}

func closeTakesNodesAtOnce(e *env) {
	p, other := e.open(), e.open()
	session := e.session(p)
	e.commit(p, registry.PutOwned("/owned", "", session), registry.Put("/plain", ""))
	view := e.view(other, registry.Root)
	require.NoError(e, p.Close(e.ctx))
	require.Equal(e, []string{"/plain"}, paths(e.list(other, registry.Root)), "gone when Close returns")
	e.waitFor(view, func(s registry.Snapshot) bool { return s.Len() == 1 })
	require.Equal(e, registry.SessionLost, session.State(), "what still runs must stop")
	require.ErrorIs(e, session.Err(), registry.ErrSessionLost)
}

// requireClosed requires that every call on the handle fails with ErrClosed.
func (e *env) requireClosed(p *Participant, session *registry.Session) {
	e.Helper()
	for op, call := range callsOf(e.ctx, p) {
		err := call("/a")
		require.ErrorIs(e, err, registry.ErrClosed, op)
		path := "/a"
		if op == "session" || op == "server time" {
			path = ""
		}
		e.requireOpError(err, op, path)
	}
	batch := p.CommitAll(e.ctx, []registry.Txn{creation("/a")})
	require.ErrorIs(e, batch[0].Err, registry.ErrClosed)
	e.requireOpError(batch[0].Err, "commit", "/a")
	require.Equal(e, registry.SessionLost, session.State())
}

func everythingFailsAfterwards(e *env) {
	p, other := e.open(), e.open()
	session := e.session(p)
	view := e.view(p, registry.Root)
	require.NoError(e, p.Close(e.ctx))
	e.requireClosed(p, session)
	<-view.Done()
	require.ErrorIs(e, view.Err(), registry.ErrClosed)
	require.Empty(e, e.list(other, registry.Root))
}

func deadHandleFailsToo(e *env) {
	p := e.open()
	session := e.session(p)
	view := e.view(p, registry.Root)
	p.Vanish()
	e.requireClosed(p, session)
	<-view.Done()
}

func repeatedCallsAgree(e *env) {
	p := e.open()
	e.session(p)
	errs := make([]error, 4)
	var closing sync.WaitGroup
	for i := range errs {
		closing.Go(func() { errs[i] = p.Close(e.ctx) })
	}
	closing.Wait()
	for _, err := range append(errs, p.Close(e.ctx)) {
		require.NoError(e, err)
	}
}

func closeWakesWhoWaits(e *env) {
	p := e.open()
	session := e.session(p)
	view := e.view(p, registry.Root)
	p.Cut()
	e.waitLost(session)
	calls := []func() error{
		func() error { _, err := p.Session(e.ctx); return err },
		func() error { _, err := p.Get(e.ctx, "/a"); return err },
		func() error { return view.WaitRevision(e.ctx, 1<<60) },
		func() error { return p.Latch(e.ctx, "/latch", func(context.Context) error { return nil }) },
		func() error {
			_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", "")}, Repeat: registry.RepeatHarmless})
			return err
		},
	}
	errs := make([]error, len(calls))
	var waiting sync.WaitGroup
	for i, call := range calls {
		waiting.Go(func() { errs[i] = call() })
	}
	time.Sleep(e.ttls(0.1))
	_ = p.Close(e.within(0.1))
	waiting.Wait()
	for i, err := range errs {
		require.ErrorIs(e, err, registry.ErrClosed, "call %d", i)
	}
}

// closeDoesNotWaitForALatch has a handle closed while a function runs under a latch that commits with a context of its own, and
// returns when the handle is closed.
func closeDoesNotWaitForALatch(e *env) {
	p := e.open()
	inside, done, closed := make(chan struct{}), make(chan error, 1), make(chan struct{})
	ctx, giveUp := context.WithCancel(e.ctx)
	go func() {
		done <- p.Latch(ctx, "/latch", func(held context.Context) error {
			close(inside)
			<-held.Done()
			_, err := p.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", "")}, Repeat: registry.RepeatHarmless})
			select {
			case <-closed:
			case <-ctx.Done():
			}
			return err
		})
	}()
	<-inside
	var err error
	go func() { err = p.Close(ctx); close(closed) }()
	select {
	case <-closed:
	case <-time.After(longPatience):
		giveUp()
		require.FailNow(e, "Close waits for a function that holds a latch")
	}
	require.NoError(e, err)
	require.ErrorIs(e, <-done, registry.ErrClosed)
	giveUp()
}

func farewellIsBounded(e *env) {
	e.despiteStalls(func() error {
		p, other := e.open(), e.open()
		e.commit(p, registry.PutOwned("/owned", "", e.session(p)))
		view := e.view(other, registry.Root)
		p.Cut()
		err := p.Close(e.within(0.2))
		require.ErrorIs(e, err, context.DeadlineExceeded)
		require.Equal(e, err, p.Close(e.ctx), "every call gives the same result")
		if !e.get(other, "/owned").Exists() {
			return errors.New("the node is gone, and the farewell did not get through")
		}
		e.waitAbsent(view, "/owned")
		return nil
	})
}

// closeEndsByItself has a handle closed that cannot reach its store, by a caller who sets no bound.
func closeEndsByItself(e *env, lost bool) {
	stood := standstill.New(e)
	p, other := e.open(), e.open()
	session := e.session(p)
	e.commit(p, registry.PutOwned("/owned", "", session))
	view := e.view(other, registry.Root)
	p.Cut()
	if lost {
		e.waitLost(session)
	}
	began := time.Now()
	closed := make(chan error, 1)
	unbounded, giveUp := context.WithCancel(context.WithoutCancel(e.ctx))
	defer giveUp()
	go func() { closed <- p.Close(unbounded) }()
	select {
	case err := <-closed:
		require.ErrorIs(e, err, registry.ErrUnavailable, "it says that the nodes stay")
		require.Less(e, stood.Elapsed(began), e.ttls(1)+e.store.Slack, "the store needed no farewell any more")
	case <-e.within(4).Done():
		require.FailNow(e, "Close waits for a store that does not answer")
	}
	e.waitAbsent(view, "/owned")
}
