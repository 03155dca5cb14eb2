package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// errAbandoned is the recorded error of an item whose code did not return when it had to.
var errAbandoned = errors.New("given up: its code did not return after its context was cancelled")

// windDown waits for items, listeners and error handlers of runners that hand everything over, until the
// curfew. It logs what it waits for. The error names items that were given up; over ends the curfew.
func (s *Scheduler) windDown(runners []*runner) (over func(), abandoned error) {
	done := make(chan struct{})
	var tellers sync.WaitGroup
	tell := func(level slog.Level, message string) {
		a := s.awaited(runners)
		tellers.Go(func() {
			if a.Tell(s.log, level, message, done) {
				return
			}
			select { // what holds the stop up may only be seen when it lasts
			case <-time.After(stopping.LastWords / 2):
				again := s.awaited(runners)
				again.Late = true
				again.Tell(s.log, level, message, done)
			case <-done:
			}
		})
	}
	end := s.curfew.Start(s.timeToStop(), func() {
		tell(slog.LevelWarn, "stop timeout is over, what still runs is cancelled")
		s.cancelItems(ErrStopped)
	})
	tell(slog.LevelInfo, "stopping, waiting for what runs")
	abandoned = s.drain(runners)
	s.closeFailures()
	return func() {
		close(done)
		end()
		tellers.Wait()
	}, abandoned
}

// drain waits for what runs, until the curfew. What has not returned by then is
// given up, and named by the error. A registry that does not answer cannot hold it up either, and when the process
// vanishes, it waits for nothing.
func (s *Scheduler) drain(runners []*runner) error {
	vanished := s.life.Done()
	if waitDrained(runners, s.curfew.Items, vanished) {
		return nil
	}
	answers := make([]chan error, len(runners))
	for i, r := range runners {
		answer := make(chan error, 1)
		answers[i] = answer
		r.box.PostElse(func() { answer <- r.abandon() }, func() { answer <- nil }) // nothing of one that is not on the list any more
	}
	cutOff := time.AfterFunc(s.curfew.Moment(2*stopping.LastWords), s.cutOff)
	defer cutOff.Stop()
	var all []error
	for i, r := range runners {
		select {
		case err := <-answers[i]:
			all = append(all, err)
		case <-r.departure.drained.Done(): // after it answered, or it had nothing left to abandon
			select {
			case err := <-answers[i]:
				all = append(all, err)
			default:
			}
		case <-vanished:
			return nil
		}
	}
	end := time.NewTimer(s.curfew.Moment(3*stopping.LastWords - stopping.LastNews))
	defer end.Stop()
	waitDrained(runners, end.C, vanished)
	return errors.Join(all...)
}

// awaited finds out what a stop waits for: items by job, listeners and error handlers. The runners answer when
// they come to it, about this moment.
func (s *Scheduler) awaited(runners []*runner) *stopping.Awaited {
	a := stopping.NewAwaited(len(runners))
	a.Until, a.Listeners, a.Observers = time.Now().Add(s.curfew.Moment(0)), s.curfew.Calls(), s.observer.busy()
	s.mu.Lock()
	left := slices.Collect(maps.Keys(s.telling))
	s.mu.Unlock()
	left = slices.DeleteFunc(left, func(r *runner) bool { return slices.Contains(runners, r) }) // they leave meanwhile
	for _, r := range slices.Concat(runners, left) {
		if working, queued := r.failures.Pending(); working+queued > 0 {
			a.Handlers = append(a.Handlers, fmt.Sprintf("%s (%d failures)", r.name, working+queued))
		}
	}
	for _, r := range runners {
		if !r.departure.drained.Has() {
			a.Ask(r.name, r.departure.drained.Has, func(answer func(items []int, waits bool)) {
				r.box.PostElse(func() { answer(r.inCode(), r.waits()) }, func() { answer(nil, false) })
			})
		}
	}
	return a
}

// waits tells whether it is known by now that the runner has something to tell the registry, and cannot yet.
func (r *runner) waits() bool {
	return r.s.handovers.WaitsFor(r.departure.turn()) || r.rounds.Missed().ToNote() > 0 || r.rounds.Executions().EndsWait(r.look())
}

// inCode returns the items whose code was called here and has not returned.
func (r *runner) inCode() []int {
	var items []int
	for e := range r.rounds.Running() {
		if e.InCode() {
			items = append(items, e.Item)
		}
	}
	slices.Sort(items)
	return items
}

// leaveAll tells the runners to leave their jobs, and returns the runners.
func (s *Scheduler) leaveAll() []*runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	runners := s.list()
	slices.SortFunc(runners, func(a, b *runner) int { return strings.Compare(a.name, b.name) })
	for _, r := range runners {
		r.box.Post(func() { r.departure.leaving = true })
	}
	return runners
}

// waitDrained waits until nothing of the runners is left to be done, or the process vanishes, and not beyond enough.
// It is false if that was enough.
func waitDrained[T any](runners []*runner, enough <-chan T, vanished <-chan struct{}) bool {
	for _, r := range runners {
		select {
		case <-r.departure.drained.Done():
		case <-vanished:
			return true
		case <-enough:
			return false
		}
	}
	return true
}

// cancelItems cancels all items, and tells also those that were cancelled before.
func (s *Scheduler) cancelItems(cause error) {
	s.cancelAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached != nil {
		s.attached.CancelWork(cause)
	}
}

// cutOff ends the commits that are under way. What they would have recorded is for others to find out
// when the session ends.
func (s *Scheduler) cutOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached != nil {
		s.attached.Cancel(ErrStopped)
	}
}

// closeRunners ends what the runners hold, waits for what they still do, and then stops the timers that
// they set, which are theirs alone until then.
func (s *Scheduler) closeRunners() {
	s.mu.Lock()
	s.catalog.close()
	runners := s.list()
	for _, r := range runners {
		r.box.Close()
		s.timetable.Remove(r.entry)
		if r.view != nil {
			r.view.Close()
		}
		if r.next != nil {
			r.next.Close()
		}
	}
	s.mu.Unlock()
	s.closeLeft()
	s.work.Wait()
	s.load.Stop()
	for _, r := range runners {
		r.failures.Close()
		r.stopTimers()
	}
}

// busy tells whether an execution of this process has not ended yet, or listeners are still told of
// it.
func (r *runner) busy() bool {
	return r.rounds.Busy() || r.hooks.Busy() || r.rounds.Missed().ToNote() > 0 && r.attached != nil
}

// abandon ends what runs here as interrupted, though its code may go on, and names it.
func (r *runner) abandon() error {
	numbers := r.rounds.Executions().Abandon(errAbandoned)
	if numbers == nil {
		return nil
	}
	slices.Sort(numbers)
	return fmt.Errorf("job %q: items %v did not return when the stop timeout was over and were given up", r.name, numbers)
}
