package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/chance"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
)

// A view ends when its store refuses to be followed, for example after a permission was taken away. Whoever follows it opens
// another one, and goes on with what is new in that. What follows here is how; what it means that there is no view meanwhile, a
// runner says in blind.go, and the catalog in catalog.go.

const (
	// firstReopening and longestReopening bound the pause before a view is opened again, or what was refused is asked again for a
	// job that was left. A random half of it is taken off: what ends one view, ends those of all jobs and processes, and they
	// should not ask in step.
	firstReopening   = 100 * time.Millisecond
	longestReopening = 5 * time.Second
	// mostOpening bounds how many views are opened at the same time, when jobs start and when views have ended.
	mostOpening = 256
)

// afterEnd calls ended once a view has ended, unless its owner closed it or life is over.
func afterEnd(life context.Context, view *registry.View, ended func(reason error)) {
	view.AfterEnd(func(reason error) {
		if !errors.Is(reason, registry.ErrClosed) && life.Err() == nil {
			ended(reason)
		}
	})
}

// goingOn returns a subscriber that calls tell with what is new since known, and then with each step. With the first, it passes
// begin, which is to be called before the step is taken in. It keeps neither known nor begin for longer.
func goingOn(known registry.Snapshot, begin func(), tell func(step registry.Step, begin func())) func(registry.Step) {
	type beginning struct {
		known registry.Snapshot
		begin func()
	}
	first := &beginning{known, begin}
	return func(step registry.Step) {
		begin := func() {}
		if first != nil {
			step.Changes, begin, first = step.Snapshot.Since(first.known), first.begin, nil
		}
		tell(step, begin)
	}
}

// reopenFor opens a view until that succeeds, and has the actor of box go on with it by regain. Nobody gets it if the box is
// closed meanwhile, or life is over.
func (s *Scheduler) reopenFor(life context.Context, box *actor.Mailbox, path string, except func(path string) bool, regain func(*registry.View)) {
	s.work.Go(func() {
		if view := s.reopen(life, path, except, box.Closed); view != nil {
			box.PostElse(func() { regain(view) }, view.Close)
		}
	})
}

// reopen opens a view until that succeeds; nil if it is not wanted any more.
func (s *Scheduler) reopen(life context.Context, path string, except func(path string) bool, unwanted func() bool) *registry.View {
	for pause := firstReopening; ; pause = min(2*pause, longestReopening) {
		if waitPause(life, pause, path) != nil || unwanted() {
			return nil
		}
		if view, err := s.open(life, path, except); err == nil {
			return view
		}
	}
}

// waitPause waits for a pause, of which a random half is taken off, or until ctx ends, and then returns its error. What the
// pause is of chooses apart from others.
func waitPause(ctx context.Context, pause time.Duration, what string) error {
	timer := time.NewTimer(pause/2 + chance.Within(pause/2, time.Now(), what))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open opens a view, in its turn.
func (s *Scheduler) open(life context.Context, path string, except func(path string) bool) (*registry.View, error) {
	select {
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-life.Done():
		return nil, context.Cause(life)
	}
	return s.registry.View(life, path, except)
}
