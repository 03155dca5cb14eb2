package registrytest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func latchCases() []testCase {
	return []testCase{
		{name: "OneHolderAtATime", run: oneHolderAtATime},
		{name: "WaitersAreServedInOrder", run: waitersAreServedInOrder},
		{name: "CallbackErrorIsReturned", run: callbackErrorIsReturned},
		{name: "WaitingEndsWithItsContext", run: latchWaitEndsWithItsContext},
		{name: "DeathOfTheHolderReleases", needs: []Ability{Vanish}, run: deathOfTheHolderReleases},
		{name: "LossOfTheSessionEndsTheCallback", needs: []Ability{Expire}, run: lossOfTheSessionEndsTheCallback},
		{name: "CallbackEndsBeforeAnotherBegins", needs: []Ability{Cut}, run: callbackEndsBeforeAnotherBegins},
		{name: "TakenTicketEndsTheCallback", run: takenTicketEndsTheCallback},
		{name: "ClosingEndsHolderAndWaiter", run: closingEndsHolderAndWaiter},
		{name: "LeavesNothingBehind", run: latchLeavesNothingBehind},
		{name: "LateTicketOfAHolderHoldsNobodyUp", needs: []Ability{HoldBack}, run: lateTicketOfAHolder},
		{name: "LateTicketOfWhoGaveUpHoldsNobodyUp", needs: []Ability{HoldBack}, run: lateTicketOfWhoGaveUp},
		{name: "LateTicketAcrossABrokenWatch", needs: []Ability{HoldBack, Cut, BreakWatch}, run: lateTicketAcrossABrokenWatch},
	}
}

// oneHolderAtATime has several processes, and several callers in each, contend for one latch.
func oneHolderAtATime(e *env) {
	participants := []*Participant{e.open(), e.open(), e.open()}
	const each = 4
	errs := make([]error, each*len(participants))
	var inside, most atomic.Int32
	var contending sync.WaitGroup
	for i := range errs {
		p := participants[i%len(participants)]
		contending.Go(func() {
			errs[i] = p.Latch(e.ctx, "/latch", func(ctx context.Context) error {
				most.Store(max(most.Load(), inside.Add(1)))
				defer inside.Add(-1)
				_, err := p.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put(fmt.Sprintf("/ran/%d", i), "")}})
				return err
			})
		})
	}
	contending.Wait()
	for _, err := range errs {
		require.NoError(e, err)
	}
	require.Equal(e, int32(1), most.Load())
	require.Len(e, e.list(participants[0], "/ran"), len(errs), "everybody had its turn")
}

// holder is a call of Latch that holds on until letGo is closed.
type holder struct {
	inside  chan context.Context // gives the callback's context when it runs
	letGo   chan struct{}
	done    chan struct{}
	err     error
	turn    *atomic.Int32
	arrived int32 // the how manieth it was to get the latch
}

// hold starts a call of Latch and returns without waiting for it.
func (e *env) hold(ctx context.Context, p *Participant, turn *atomic.Int32) *holder {
	h := &holder{inside: make(chan context.Context, 1), letGo: make(chan struct{}), done: make(chan struct{}), turn: turn}
	go func() {
		defer close(h.done)
		h.err = p.Latch(ctx, "/latch", h.callback)
	}()
	e.Cleanup(func() { <-h.done })
	return h
}

func (h *holder) callback(ctx context.Context) error {
	h.arrived = h.turn.Add(1)
	h.inside <- ctx
	select {
	case <-h.letGo:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// waitInside waits until the callback runs and returns its context.
func (e *env) waitInside(h *holder) context.Context {
	e.Helper()
	select {
	case ctx := <-h.inside:
		return ctx
	case <-h.done:
		e.Fatalf("the latch was not had: %v", h.err)
	case <-e.ctx.Done():
		e.Fatal("the latch is not had")
	}
	return nil
}

func waitersAreServedInOrder(e *env) {
	var turn atomic.Int32
	watcher := e.open()
	queue := e.view(watcher, "/latch")
	var holders []*holder
	for i := range 5 {
		holders = append(holders, e.hold(e.ctx, e.open(), &turn))
		// Contenders stand in the tree, below the latch, in every backend so far.
		e.waitFor(queue, func(s registry.Snapshot) bool { return s.Len() == i+1 })
	}
	for i, h := range holders {
		e.waitInside(h)
		close(h.letGo)
		<-h.done
		require.NoError(e, h.err)
		require.Equal(e, int32(i+1), h.arrived)
	}
}

func callbackErrorIsReturned(e *env) {
	p := e.open()
	fault := errors.New("callback's own")
	err := p.Latch(e.ctx, "/latch", func(context.Context) error { return fault })
	require.Equal(e, fault, err, "as it is")
	require.NoError(e, p.Latch(e.ctx, "/latch", func(context.Context) error { return nil }))
}

func latchWaitEndsWithItsContext(e *env) {
	var turn atomic.Int32
	p, impatient, patient := e.open(), e.open(), e.open()
	first := e.hold(e.ctx, p, &turn)
	e.waitInside(first)
	ran := false
	err := impatient.Latch(e.within(0.3), "/latch", func(context.Context) error {
		ran = true
		return nil
	})
	require.ErrorIs(e, err, registry.ErrUnavailable)
	require.ErrorIs(e, err, context.DeadlineExceeded)
	require.False(e, ran)
	last := e.hold(e.ctx, patient, &turn)
	close(first.letGo)
	e.waitInside(last)
	close(last.letGo)
	<-last.done
	require.NoError(e, last.err, "who gave up stands in nobody's way")
}

func deathOfTheHolderReleases(e *env) {
	var turn atomic.Int32
	p, other := e.open(), e.openSteady()
	first := e.hold(e.ctx, p, &turn)
	held := e.waitInside(first)
	second := e.hold(e.ctx, other, &turn)
	p.Vanish()
	<-held.Done()
	<-first.done
	require.Error(e, first.err)
	e.waitInside(second)
	close(second.letGo)
	<-second.done
	require.NoError(e, second.err)
}

func lossOfTheSessionEndsTheCallback(e *env) {
	var turn atomic.Int32
	p := e.open()
	session := e.session(p)
	h := e.hold(e.ctx, p, &turn)
	held := e.waitInside(h)
	p.Expire()
	select {
	case <-held.Done():
	case <-e.within(8).Done():
		e.Fatal("the callback's context goes on without a session")
	}
	require.ErrorIs(e, context.Cause(held), registry.ErrSessionLost)
	<-h.done
	require.ErrorIs(e, h.err, registry.ErrSessionLost)
	e.waitLost(session)
	require.NoError(e, p.Latch(e.ctx, "/latch", func(context.Context) error { return nil }), "the next session may")
}

// callbackEndsBeforeAnotherBegins cuts off the holder, which then cannot be told anything.
func callbackEndsBeforeAnotherBegins(e *env) {
	var turn atomic.Int32
	p, other := e.open(), e.openSteady()
	first := e.hold(e.ctx, p, &turn)
	held := e.waitInside(first)
	p.Cut()
	second := e.hold(e.ctx, other, &turn)
	e.waitInside(second)
	require.ErrorIs(e, context.Cause(held), registry.ErrSessionLost, "it was told in time")
	close(second.letGo)
	<-second.done
	require.NoError(e, second.err)
	p.Heal()
	<-first.done
	require.ErrorIs(e, first.err, registry.ErrSessionLost)
}

// takenTicketEndsTheCallback removes what the holder stands with, as the removal of a job does with all that lies in its tree.
func takenTicketEndsTheCallback(e *env) {
	var turn atomic.Int32
	p, other := e.open(), e.open()
	session := e.session(p)
	first := e.hold(e.ctx, p, &turn)
	held := e.waitInside(first)
	e.commit(other, registry.DeleteTree("/latch"))
	require.NoError(e, other.Latch(e.ctx, "/latch", func(context.Context) error {
		select {
		case <-held.Done():
		case <-e.within(4).Done():
			e.Fatal("two hold the latch, and the first one is not told")
		}
		return nil
	}))
	require.ErrorIs(e, context.Cause(held), registry.ErrConflict)
	<-first.done
	require.ErrorIs(e, first.err, registry.ErrConflict)
	require.NoError(e, session.Err())
	require.NoError(e, p.Latch(e.ctx, "/latch", func(context.Context) error { return nil }), "it may stand in the line again")
}

func closingEndsHolderAndWaiter(e *env) {
	var turn atomic.Int32
	p, other := e.open(), e.open()
	first := e.hold(e.ctx, p, &turn)
	e.waitInside(first)
	waiter := e.hold(e.ctx, other, &turn)
	require.NoError(e, other.Close(e.ctx))
	<-waiter.done
	require.ErrorIs(e, waiter.err, registry.ErrClosed)
	require.NoError(e, p.Close(e.ctx))
	<-first.done
	require.ErrorIs(e, first.err, registry.ErrClosed)
	require.Equal(e, int32(1), turn.Load())
}

func latchLeavesNothingBehind(e *env) {
	p, other := e.open(), e.open()
	for _, participant := range []*Participant{p, other, p} {
		require.NoError(e, participant.Latch(e.ctx, "/deep/latch", func(context.Context) error { return nil }))
	}
	e.waitFor(e.view(other, "/deep"), func(s registry.Snapshot) bool { return s.Len() == 0 })
	require.Equal(e, registry.SessionConnected, e.session(p).State())
}

// A request for a place in the line that got no answer may be carried out when its repetition was answered and
// the place given up. The session lasts, and so would the place.

func lateTicketOfAHolder(e *env) {
	p, other := e.openSteady(), e.openSteady()
	e.session(p)
	late := time.Now().Add(e.ttls(0.4))
	p.HoldBack(time.Until(late))
	require.NoError(e, p.Latch(e.ctx, "/latch", func(context.Context) error { return nil }))
	e.requireFreeLatch(other, late)
}

func lateTicketOfWhoGaveUp(e *env) {
	var turn atomic.Int32
	p, other := e.openSteady(), e.openSteady()
	e.session(p)
	first := e.hold(e.ctx, other, &turn)
	e.waitInside(first)
	late := time.Now().Add(e.ttls(0.4))
	p.HoldBack(time.Until(late))
	ctx, giveUp := context.WithCancel(e.ctx)
	impatient := e.hold(ctx, p, &turn)
	e.waitFor(e.view(other, "/latch"), func(s registry.Snapshot) bool { return s.Len() == 2 })
	giveUp()
	<-impatient.done
	close(first.letGo)
	<-first.done
	e.requireFreeLatch(other, late)
}

// lateTicketAcrossABrokenWatch has the place come while its process hears nothing, and what the process hears of next is
// later than that.
func lateTicketAcrossABrokenWatch(e *env) {
	p, other := e.openSteady(), e.openSteady()
	e.session(p)
	late := time.Now().Add(e.ttls(0.4))
	p.HoldBack(time.Until(late))
	require.NoError(e, p.Latch(e.ctx, "/latch", func(context.Context) error { return nil }))
	p.Cut()
	time.Sleep(time.Until(late) + e.ttls(0.1))
	p.BreakWatch()
	p.Heal()
	e.requireFreeLatch(other, late)
}

// requireFreeLatch waits until what is late has been carried out, and has the latch.
func (e *env) requireFreeLatch(p *Participant, late time.Time) {
	e.Helper()
	e.session(p)
	time.Sleep(time.Until(late) + e.ttls(0.4))
	began := time.Now()
	err := p.Latch(e.within(8), "/latch", func(context.Context) error { return nil })
	require.NoError(e, err, "after %s somebody still stands in the line: %v", time.Since(began), e.list(p, "/latch"))
	require.Empty(e, e.list(p, "/latch"))
}
