package scheduler

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// enter puts the runner on the list, and starts it if Run is under way. Both are one step under the
// lock: Run, when it stops, sees the runner and waits for its start, or the runner is refused. wait
// returns when the job has joined, or at once before Run; of one that is absent, when it has started. It returns when Run is to
// stop, too: the job does not join then any more, and an item that adds a job must not wait for that until the stop timeout.
func (s *Scheduler) enter(ctx context.Context, r *runner) (wait func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	life, err := s.enterLocked(r)
	if err != nil {
		return nil, err
	}
	if life == nil {
		return func() error { return nil }, nil // Run starts it
	}
	started, stop := make(chan error), s.stop
	s.work.Go(func() { s.startNow(ctx, life, r, started) })
	return func() error {
		select {
		case err := <-started:
			if err != nil || s.isAbsent(r) { // it joins when somebody stores it
				return err
			}
			return r.waitJoined(ctx, stop)
		case <-ctx.Done():
			return fmt.Errorf("waiting to join: %w", context.Cause(ctx))
		case <-stop.Done():
			return stoppedFor(stop)
		}
	}, nil
}

// startNow starts a job of a Run that is under way, and tells how that went while ctx lasts. The job
// itself lives as long as Run.
func (s *Scheduler) startNow(ctx, life context.Context, r *runner, started chan<- error) {
	err := s.start(life, r)
	if err != nil {
		s.forgetUnopened(r)
	}
	select {
	case started <- err:
	case <-ctx.Done():
		if err != nil && life.Err() == nil {
			r.log.ErrorContext(life, "job was declared and cannot be started", logError, err)
		}
	}
}

// start opens the runner's view of the job's tree, and starts it with that.
func (s *Scheduler) start(life context.Context, r *runner) error {
	view, err := s.open(life, r.tree.Root(), jobtree.ForOperators)
	switch {
	case err != nil && life.Err() != nil:
		return stoppedFor(s.stop) //nolint:contextcheck // that of Run tells why it ended
	case err != nil:
		return err
	}
	return s.startWith(life, r, view)
}

// startWith gives the runner its first view; what it shows is the first message but one.
func (s *Scheduler) startWith(life context.Context, r *runner, view *registry.View) error {
	s.mu.Lock()
	if life.Err() != nil || s.runners[r.name] != r { // nobody would close it any more
		s.mu.Unlock()
		view.Close()
		if life.Err() == nil {
			return errLeft
		}
		return stoppedFor(s.stop) //nolint:contextcheck // that of Run tells why it ended
	}
	r.life, r.view = life, view
	attached := s.attached
	r.box.Post(func() { // in order with those of tell
		r.started = true
		r.seesFirst()
		r.attach(attached)
	})
	r.opened.Happen() // after that: who waits for it has the runner leave
	s.mu.Unlock()
	r.subscribe(view, registry.Snapshot{}, func() {}) //nolint:contextcheck // what the view shows is for as long as Run
	return nil
}

// enterData puts the runner of a job that nobody is declaring on the list, and returns Run's life.
func (s *Scheduler) enterData(r *runner) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.adding[r.name] != nil {
		return nil, ErrDeclared
	}
	if _, left := s.notData[r.name]; left {
		return nil, errLeft
	}
	return s.enterLocked(r)
}

// enterLocked puts the runner on the list, and returns Run's life if it is running. The caller holds mu.
func (s *Scheduler) enterLocked(r *runner) (context.Context, error) {
	if err := s.refusal(r.name); err != nil {
		return nil, err
	}
	s.runners[r.name] = r
	return s.life, nil
}

// refusal tells why a job of this name cannot be added. The caller holds mu.
func (s *Scheduler) refusal(name string) error {
	r := s.runners[name]
	switch {
	case r != nil && r.class == "":
		return errTakenUp
	case r != nil:
		return ErrDeclared
	case s.stop != nil && s.stop.Err() != nil:
		return stoppedFor(s.stop)
	default:
		return nil
	}
}

// forgetUnopened takes a runner off the list that has no view, and tells whether it had none.
func (s *Scheduler) forgetUnopened(r *runner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.view != nil {
		return false
	}
	s.strike(r)
	s.takeOutLeft(r.name)
	return true
}

// strike takes a runner off the list that has not begun. Who has got it from the list before asks it nothing any more: a Run
// that ends does not know of it. A stop may have told it to leave, and it does not come to that: it has nothing to hand over.
// The caller holds mu.
func (s *Scheduler) strike(r *runner) {
	delete(s.runners, r.name)
	r.box.Close()
	r.departure.drained.Happen()
	r.over()
}

// waitJoined waits until the runner's instance is registered, and no longer than until Run is to stop.
func (r *runner) waitJoined(ctx, stop context.Context) error {
	select {
	case <-r.joinedOrGone.Done():
	case <-ctx.Done():
		return fmt.Errorf("waiting to join: %w", context.Cause(ctx))
	case <-stop.Done():
		if !r.joinedOrGone.Has() {
			return stoppedFor(stop)
		}
	}
	if r.departure.gone.Has() {
		return errLeft
	}
	return nil
}

// isAbsent tells whether a job was not there when it was declared, was not to be created, and is not there now. Its view is
// open.
func (s *Scheduler) isAbsent(r *runner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.absent && !r.view.Snapshot().Get(r.tree.Config()).Exists()
}

// over notes that the scheduler has the job no more.
func (r *runner) over() {
	r.departure.gone.Happen()
	r.joinedOrGone.Happen()
}

// list returns the runners. The caller holds mu.
func (s *Scheduler) list() []*runner {
	all := make([]*runner, 0, len(s.runners))
	for _, r := range s.runners {
		all = append(all, r)
	}
	return all
}
