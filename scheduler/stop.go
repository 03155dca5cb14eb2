package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// There are three ways to go. All end Run; they differ in what the others see.
//
//   - Drain, when the context of Run ends: instances and leaderships are given up at once, running
//     items keep their marks and get the stop timeout to finish.
//   - [Scheduler.StopNow]: the same, with no time to finish. What runs is cancelled, and recorded as
//     interrupted when it has returned.
//   - [Scheduler.Vanish]: the registry learns nothing. Everything stays as it is until the session
//     ends, as when the process is killed.
//
// The files of a stop: stop.go says why, drain.go waits, leaving.go hands each job over, departure.go remembers how far that
// has come. One job alone: retire.go by code, shutdown.go by an operator. latejoin.go takes back what comes afterwards.

// StopNow ends Run like the end of its context, but cancels running items at once, with the cause
// [ErrStopped]. During a drain it cuts the stop timeout short. It does not wait for Run to return, and
// does nothing before Run or after it.
func (s *Scheduler) StopNow() {
	if s.end() {
		s.curfew.Hasten()
	}
}

// SetStopTimeout changes what [WithStopTimeout] has set, for a stop that begins later.
func (s *Scheduler) SetStopTimeout(d time.Duration) error {
	if err := checkStopTimeout(d); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopWithin = d
	return nil
}

func checkStopTimeout(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%w: stop timeout %s is negative", ErrInvalidOption, d)
	}
	return nil
}

func (s *Scheduler) timeToStop() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopWithin
}

// Vanish ends Run without a word to the registry: running items are cancelled with the cause
// [ErrVanished], and the nodes of this process stay until its session ends, which is when the
// registry handle is closed or abandoned. It is for a process that must not write any more, and for
// tests. During a drain it ends that at once. It does not wait for Run to return, and does nothing before Run or
// after it.
func (s *Scheduler) Vanish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		return
	}
	s.fail(ErrVanished)
	s.endLife(ErrVanished) // cancels items, and with them all commits; a drain under way waits for nothing more
	s.curfew.Hasten()
}

// end stops Run, and tells whether that was called.
func (s *Scheduler) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		return false
	}
	s.fail(errStop)
	return true
}

// ending is why Run ends, as the cause of its context: so that it is told from the causes with which callers end theirs, which
// may be any errors.
type ending struct{ why error }

func (e *ending) Error() string { return e.why.Error() }

// waitStop waits until Run is to stop and returns why: nil for a stop that was asked for.
func waitStop(stop context.Context) error {
	<-stop.Done()
	return failureOf(stop)
}

// failureOf returns why Run is to stop if nobody asked for that; nil if somebody did, or if it goes on.
func failureOf(stop context.Context) error {
	//nolint:errorlint // the cause may be an error of the caller's, whose methods may panic
	if e, ours := context.Cause(stop).(*ending); ours && !errors.Is(e.why, errStop) {
		return e.why
	}
	return nil
}

// stoppedFor returns [ErrStopped], and why Run has ended if nobody asked for that.
func stoppedFor(stop context.Context) error {
	if why := failureOf(stop); why != nil {
		return fmt.Errorf("%w: %w", ErrStopped, why)
	}
	return ErrStopped
}

// stopped returns what stoppedFor says of Run, and nil while it goes on. It is for who waits for what a stop brings about, too.
func (s *Scheduler) stopped() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop == nil || s.stop.Err() == nil {
		return nil
	}
	return stoppedFor(s.stop)
}

// leftForGood returns why the runner does not come back to its job, which it has left with nothing running; nil if it has not,
// or may.
func (r *runner) leftForGood() error {
	if !r.departure.drained.Has() {
		return nil
	}
	return r.s.stopped()
}

// whenLeftForGood calls a function when leftForGood has come to be, unless ctx ends before.
func (r *runner) whenLeftForGood(ctx context.Context, do func()) {
	r.s.mu.Lock()
	stop := r.s.stop
	r.s.mu.Unlock()
	go func() {
		for _, event := range []<-chan struct{}{stop.Done(), r.departure.drained.Done()} {
			select {
			case <-event:
			case <-ctx.Done():
				return
			}
		}
		do()
	}()
}

// errRemains is why a session is given up when Run returns.
var errRemains = errors.New("the scheduler has stopped and could not take back what it holds")

// giveUpRemains gives the session up if one of the runners may have left something in the tree: the registry
// did not answer until the stop was over, or it refused. A handle that stays open would keep the session, or
// take it up again, and with it an instance that runs nothing and marks under which nothing runs; others would
// wait for those for as long as the handle is open. Runners must be at rest.
func (s *Scheduler) giveUpRemains(runners []*runner) {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	for _, r := range runners {
		if session != nil && r.remains(session) {
			r.log.WarnContext(r.life, "gave the session up: the registry did not take what a stop had to tell it",
				logSession, session.ID().String())
			session.Abandon(errRemains)
			return
		}
	}
}

// remains tells whether the tree may still show what this runner holds under a session, or a session that was
// the same to the registry.
func (r *runner) remains(session *registry.Session) bool {
	switch {
	case !r.started:
		return false
	case r.departure.leftUnsettled(session.ID(), r.showsGone):
		return true
	case r.departure.left && r.departure.drained.Has():
		return false // whatever its view has not shown yet
	case r.needed > r.applied:
		return true
	}
	for node := range r.snapshot.All() { // the last that was shown, also to who sees
		if node.Session == session.ID() {
			return true
		}
	}
	return false
}

// showsGone tells whether the tree has shown that a node is not there any more that a revision created. One that it may not
// have shown, because it shows less, or nothing since, counts as there.
func (r *runner) showsGone(node registry.Condition) bool {
	if r.outside != nil && r.outside(node.Path) {
		return false
	}
	return r.snapshot.Revision() >= node.Revision && !node.Holds(r.snapshot.Get(node.Path))
}

// closeFailures waits until the error handlers have been told of everything, also those of jobs that were left, at most
// until the stop timeout is over and a last moment.
func (s *Scheduler) closeFailures() {
	s.mu.Lock()
	runners := slices.AppendSeq(s.list(), maps.Keys(s.telling))
	s.mu.Unlock()
	for _, r := range runners {
		s.closeFailuresOf(r)
	}
}

// closeFailuresOf is closeFailures for one job. A stop and whoever has the job left may both call it.
func (s *Scheduler) closeFailuresOf(r *runner) {
	hang, untold := r.failures.Close()
	s.curfew.Note(fmt.Sprintf("job %q: error handler", r.name), hang, untold)
}
