package scheduler

// retire makes the runner leave its job while the scheduler goes on: it hands over and lets what runs come
// to its end. Then left is called, on a goroutine of its own.
func (r *runner) retire(left func()) {
	r.box.Post(func() {
		if !r.departure.retire(left) {
			return
		}
		if r.departure.drained.Has() { // it was shut down before
			r.s.work.Go(left)
		}
		r.log.InfoContext(r.life, "leaving the job")
	})
}

// dismiss takes a runner off the list that has left its job, and ends what it holds.
func (s *Scheduler) dismiss(r *runner) {
	quiet := make(chan struct{})
	r.box.Post(func() {
		r.box.Close()
		r.dismissed = true
		r.rounds.Withdraw()
		s.handovers.Withdraw(r.departure.turn())
		s.timetable.Remove(r.entry)
		r.stopTimers()
		if r.pausedFor != "" {
			s.observer.observe(PauseEvent{Job: r.name}) // nobody would tell that it goes on elsewhere
		}
		if r.blind != nil {
			s.observer.observe(ViewEvent{Job: r.name, Time: s.now()})
		}
		s.observer.observe(LeftEvent{Job: r.name}) // before anybody can take the job up again
		close(quiet)
	})
	select {
	case <-quiet:
	case <-r.life.Done():
		return // Run ends, and with it everything
	}
	for _, view := range r.views() {
		view.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.telling[r] = struct{}{} // in one step with the list: a stop waits for the handlers of both
	s.work.Go(func() { s.tellRest(r) })
	delete(s.runners, r.name)
	s.takeOutLeft(r.name)
	r.over()
}

// tellRest waits until the error handler of a job that was left has been told of everything.
func (s *Scheduler) tellRest(r *runner) {
	s.closeFailuresOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.telling, r)
}
