package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// curfew is the deadline of a stop: one for all code that is not the scheduler's own, which are items,
// listeners and error handlers. When the stop timeout is over, all their contexts end together. A last
// moment later items are given up, and listeners may hear of that; another one later nobody waits for any
// listener or handler, however many there are, and those that wait for their turn are not called.
type curfew struct {
	cut     context.Context // of listeners and error handlers; ends when the stop timeout is over
	items   chan struct{}   // closed when items are not waited for any more
	last    context.Context // ends when nothing is waited for any more
	endCut  context.CancelCauseFunc
	endLast context.CancelCauseFunc

	hurry   chan struct{} // closed when a stop must not wait
	hurried sync.Once

	mu       sync.Mutex
	at       time.Time             // of the cut; zero before a stop
	calls    map[ListenerEvent]int // of listeners, under way
	givenUp  map[string]int        // what hangs, by what it is
	notGiven map[string]int        // what was not called any more, by what it is
}

// arm makes the contexts, within the life of Run.
func (c *curfew) arm(life context.Context) {
	c.cut, c.endCut = context.WithCancelCause(life)
	c.last, c.endLast = context.WithCancelCause(context.WithoutCancel(life))
}

// start has the time run: after the timeout, or at once in a hurry, cancel is called and the context of
// the calls ends. over ends that and returns when nothing of it is left.
func (c *curfew) start(timeout time.Duration, cancel func()) (over func()) {
	c.mu.Lock()
	c.at = time.Now().Add(timeout)
	c.mu.Unlock()
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		defer c.endLast(ErrStopped)
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.hurry:
			c.mu.Lock()
			c.at = time.Now()
			c.mu.Unlock()
		case <-done:
			return
		}
		cancel()
		c.endCut(ErrStopped)
		timer.Reset(lastWords)
		select {
		case <-timer.C:
		case <-done:
			return
		}
		close(c.items)
		timer.Reset(lastWords)
		select {
		case <-timer.C:
		case <-done:
		}
	})
	return func() { close(done); watch.Wait() }
}

// hasten has the stop timeout be over, now or when a stop begins.
func (c *curfew) hasten() { c.hurried.Do(func() { close(c.hurry) }) }

// moment returns the time from now until so long after the cut, at least 0.
func (c *curfew) moment(after time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, time.Until(c.at.Add(after)))
}

// call counts a listener's call while it lasts.
func (c *curfew) call(e ListenerEvent) (ended func()) {
	count := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.calls[e] += n; c.calls[e] == 0 {
			delete(c.calls, e)
		}
	}
	count(1)
	return func() { count(-1) }
}

// noteListener notes what the stop made of a listener's call.
func (c *curfew) noteListener(e ListenerEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(e.Err, errNotCalled):
		c.notGiven[e.what()]++
	case errors.Is(e.Err, errListenerHangs) && errors.Is(e.Err, ErrStopped):
		c.givenUp[e.what()]++
	}
}

// what names the listener's job and kind.
func (e ListenerEvent) what() string {
	if e.Job == "" {
		return fmt.Sprintf("%s listener", e.Listener)
	}
	return fmt.Sprintf("job %q: %s listener", e.Job, e.Listener)
}

// noteHandler notes what the stop made of a job's error handler.
func (c *curfew) noteHandler(job string, hang, untold int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := fmt.Sprintf("job %q: error handler", job)
	if hang > 0 {
		c.givenUp[what] += hang
	}
	if untold > 0 {
		c.notGiven[what] += untold
	}
}

// noteObserver notes what the stop made of an observer.
func (c *curfew) noteObserver(what string, hang bool, untold int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hang {
		c.givenUp[what]++
	}
	if untold > 0 {
		c.notGiven[what] += untold
	}
}

// report names what was given up; nil if nothing was.
func (c *curfew) report() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, what := range slices.Sorted(maps.Keys(c.givenUp)) {
		all = append(all, fmt.Errorf("%s did not return when the stop timeout was over and was given up (%s)", what, howOften(c.givenUp[what])))
	}
	for _, what := range slices.Sorted(maps.Keys(c.notGiven)) {
		all = append(all, fmt.Errorf("%s was not called any more: the scheduler stopped (%s)", what, howOften(c.notGiven[what])))
	}
	return errors.Join(all...)
}

func howOften(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// listening names the listeners that are being told.
func (c *curfew) listening() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for e := range c.calls {
		all = append(all, e.what())
	}
	slices.Sort(all)
	return all
}

// namesToLog is how many names one log record lists.
const namesToLog = 20

// list joins names for a log record, not more than can be read.
func list(names []string) string {
	if more := len(names) - namesToLog; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesToLog], ", "), more)
	}
	return strings.Join(names, ", ")
}
