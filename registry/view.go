package registry

import (
	"context"
	"slices"
	"sync"
)

// View is a copy of a subtree that follows the store. It shows states in order; every state it shows
// was a state of the store, it may skip some, and it always reaches the latest. It survives broken
// connections, restarts and compactions of the store by taking a fresh copy and showing the
// difference, so no change is shown twice. It ends only when it is closed or its store cannot be
// followed any more; then Done is closed and Err says why.
//
// All methods are safe for concurrent use.
type View struct {
	path    string
	advance func(ctx context.Context, to Revision) // asks the backend to confirm a revision
	closed  func()                                 // tells the backend, once

	mu    sync.Mutex
	now   Snapshot
	subs  []*subscriber // in the order in which they came; a new list with every change
	moved chan struct{} // closed whenever now changes; nil while nobody waits for that
	err   error
	done  chan struct{} // closed when err is set; nil until somebody asks for it
	ended []func(reason error)

	// deliver serialises applying and telling, so that subscribers see updates in order; it is
	// never held together with mu except to take mu inside.
	deliver sync.Mutex
}

// newView makes a view that shows first.
func newView(path string, first Snapshot, advance func(ctx context.Context, to Revision), closed func()) *View {
	return &View{
		path: path, advance: advance, closed: closed, now: first,
	}
}

// subscriber hears of every step.
type subscriber struct{ tell func(Step) }

// alreadyClosed is the channel of everything that has happened.
var alreadyClosed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Path returns the root of the subtree.
func (v *View) Path() string { return v.path }

// Snapshot returns the state that the view shows now. It does no I/O.
func (v *View) Snapshot() Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Subscribe calls fn first with the present state, all its nodes as added, and then with every step, one call at a time, in
// order, each change exactly once. The first call happens before Subscribe returns. fn runs on the goroutine that feeds all
// views of the handle: it must not block and must not call Subscribe, the returned function, [View.Close] or the handle's
// Close, which would wait for fn itself. The view shows a step only when all have been told of it: whoever fn wakes goes by
// the step's own snapshot, since [View.Snapshot] may still give the one before. After unsubscribe has returned, fn is not
// running and is never called again.
func (v *View) Subscribe(fn func(Step)) (unsubscribe func()) {
	v.deliver.Lock()
	defer v.deliver.Unlock()
	added := &subscriber{fn}
	v.mu.Lock()
	v.subs = append(v.subs[:len(v.subs):len(v.subs)], added)
	now := v.now
	v.mu.Unlock()
	fn(Step{Snapshot: now, Changes: difference(Snapshot{}, now)})
	return func() {
		v.deliver.Lock()
		defer v.deliver.Unlock()
		v.mu.Lock()
		defer v.mu.Unlock()
		v.subs = slices.DeleteFunc(slices.Clone(v.subs), func(s *subscriber) bool { return s == added })
	}
}

// WaitFor returns the first state, from the present one on, that satisfies the predicate. The
// predicate is called with each state that the view shows while waiting, on this goroutine; states
// that follow each other quickly may be skipped. Errors: the context's cause, or the view's Err.
func (v *View) WaitFor(ctx context.Context, predicate func(Snapshot) bool) (Snapshot, error) {
	for {
		now, moved, err := v.current()
		if predicate(now) {
			return now, nil
		}
		if err != nil {
			return now, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
	}
}

// WaitRevision returns when the view shows a state at least as new as revision, and its subscribers
// have been told of it: after a commit, its own writes; after a [ConflictError], what it conflicted
// with. It asks the store to confirm the revision if no change brings it. Errors as WaitFor.
func (v *View) WaitRevision(ctx context.Context, revision Revision) error {
	reached := func(s Snapshot) bool { return s.Revision() >= revision }
	if reached(v.Snapshot()) {
		return nil
	}
	v.advance(ctx, revision)
	_, err := v.WaitFor(ctx, reached)
	return err
}

// Done returns a channel that is closed when the view follows the store no more.
func (v *View) Done() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done == nil {
		v.done = make(chan struct{})
	}
	return v.done
}

// AfterEnd has fn called with the reason, on a goroutine of its own, once the view has ended; at once if
// it has ended already. It costs no goroutine before that. A nil fn is nothing to call.
func (v *View) AfterEnd(fn func(reason error)) {
	if fn == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		go fn(v.err)
		return
	}
	v.ended = append(v.ended, fn)
}

// Err returns why the view ended, [ErrClosed] after Close, and nil while it follows the store.
func (v *View) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// Close ends the view and returns when no subscriber is running any more. It may be called more
// than once, but not by a subscriber.
func (v *View) Close() {
	v.end(ErrClosed)
	v.deliver.Lock()
	defer v.deliver.Unlock()
}

// current returns the present state, and what is closed when another follows or the view ends.
func (v *View) current() (Snapshot, <-chan struct{}, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.moved == nil {
		v.moved = make(chan struct{})
	}
	return v.now, v.moved, v.err
}

// stir wakes those who wait for another state. The caller holds mu.
func (v *View) stir() {
	if v.moved != nil {
		close(v.moved)
		v.moved = nil
	}
}

func (v *View) end(reason error) {
	v.mu.Lock()
	if v.err != nil {
		v.mu.Unlock()
		return
	}
	v.err = reason
	v.subs = nil
	v.stir()
	if v.done == nil {
		v.done = alreadyClosed
	} else {
		close(v.done)
	}
	ended := v.ended
	v.ended = nil
	v.mu.Unlock()
	v.closed()
	for _, fn := range ended {
		go fn(reason)
	}
}

// move shows what next makes of the present state, unless that is nothing new. Moves come one after the
// other.
func (v *View) move(next func(now Snapshot) (to Snapshot, changes []Change, moved bool)) {
	v.deliver.Lock()
	defer v.deliver.Unlock()
	if to, changes, moved := next(v.Snapshot()); moved {
		v.publish(Step{Snapshot: to, Changes: changes})
	}
}

// publish tells the subscribers, if there is something to tell, and then shows the state: whoever waited for it finds that
// the subscribers know. A view that has ended has none, and shows nothing new. The caller holds deliver.
func (v *View) publish(s Step) {
	subs, over := v.subscribers()
	if over {
		return
	}
	if len(s.Changes) > 0 {
		for _, sub := range subs {
			sub.tell(s)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = s.Snapshot
	v.stir()
}

// subscribers returns whom to tell of a step, in the order in which they subscribed, or that the view is over.
func (v *View) subscribers() (subs []*subscriber, over bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.subs, v.err != nil
}
