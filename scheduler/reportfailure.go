package scheduler

import "fmt"

// closeFailures waits until the error handlers have been told of everything, at most until the stop
// timeout is over and a last moment.
func (s *Scheduler) closeFailures() {
	s.mu.Lock()
	runners := s.list()
	s.mu.Unlock()
	for _, r := range runners {
		s.closeHandler(r)
	}
}

// closeHandler is closeFailures for one job.
func (s *Scheduler) closeHandler(r *runner) {
	hang, untold := r.failures.Close()
	s.curfew.Note(fmt.Sprintf("job %q: error handler", r.name), hang, untold)
}
