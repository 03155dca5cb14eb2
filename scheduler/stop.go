package scheduler

import (
	"context"
	"errors"
)

// There are three ways to go. All end Run; they differ in what the others see.
//
//   - Drain, when the context of Run ends: instances and leaderships are given up at once, running
//     items keep their marks and get the stop timeout to finish.
//   - [Scheduler.StopNow]: the same, with no time to finish. What runs is cancelled, and recorded as
//     interrupted when it has returned.
//   - [Scheduler.Vanish]: the registry is told nothing. Everything stays as it is until the session
//     ends, as when the process is killed.

// StopNow ends Run like the end of its context, but cancels running items at once, with the cause
// [ErrStopped]. During a drain it cuts the stop timeout short. It does not wait for Run to return, and
// does nothing before Run or after it.
func (s *Scheduler) StopNow() {
	if s.end() {
		s.curfew.Hasten()
	}
}

// Vanish ends Run without a word to the registry: running items are cancelled with the cause
// [ErrVanished], and the nodes of this process stay until its session ends, which is when the
// registry handle is closed or abandoned. It is for a process that must not write any more, and for
// tests. It does not wait for Run to return, and does nothing before Run or after it.
func (s *Scheduler) Vanish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		return
	}
	s.fail(ErrVanished)
	s.endLife(ErrVanished) // cancels items, and with them all commits
}

// end has Run stop, and tells whether it was called.
func (s *Scheduler) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		return false
	}
	s.fail(errStop)
	return true
}

// waitStop waits until Run is to stop and returns why: nil for a stop that was asked for.
func waitStop(ctx, stop context.Context) error {
	<-stop.Done()
	cause := context.Cause(stop)
	if errors.Is(cause, errStop) || errors.Is(cause, context.Cause(ctx)) {
		return nil
	}
	return cause
}
