package stopping

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/execution"
)

// LastWords is how long code whose context was cancelled has to return, and the registry to take what is
// left to be said, before Run gives them up. A stop has three such moments: for items, for listeners and
// handlers and a registry that does not answer, and to record what was given up.
const LastWords = execution.LastWords

// LastNews is how much of the last moment is kept for observers, whoever used up the rest.
const LastNews = LastWords / 2

// ErrStopped is the cause with which the contexts end that a stop ends.
var ErrStopped = execution.ErrStopped

// Curfew is the deadline of a stop: one for all code that is not the scheduler's own, which are items,
// listeners and error handlers. When the stop timeout is over, all their contexts end together. A last
// moment later items are given up, and listeners may hear of that; another one later nobody waits for any
// listener or handler, however many there are, and those that wait for their turn are not called.
//
// It is safe for concurrent use once it is armed.
type Curfew struct {
	Cut   context.Context // of listeners and error handlers; ends when the stop timeout is over
	Last  context.Context // ends when nothing is waited for any more
	Items chan struct{}   // closed when items are not waited for any more

	endCut  context.CancelCauseFunc
	endLast context.CancelCauseFunc

	hurry   chan struct{} // closed when a stop must not wait
	hurried sync.Once

	mu        sync.Mutex
	at        time.Time      // of the cut; zero before a stop
	calls     map[string]int // calls under way, by callee
	givenUp   map[string]int // what hangs, by what it is
	notCalled map[string]int // what was not called any more, by what it is
}

// NewCurfew makes a curfew that is not armed yet.
func NewCurfew() *Curfew {
	return &Curfew{
		hurry: make(chan struct{}), Items: make(chan struct{}),
		calls: make(map[string]int), givenUp: make(map[string]int), notCalled: make(map[string]int),
	}
}

// Arm makes the contexts, within the life of Run.
func (c *Curfew) Arm(life context.Context) {
	c.Cut, c.endCut = context.WithCancelCause(life)
	c.Last, c.endLast = context.WithCancelCause(context.WithoutCancel(life))
}

// Start starts the time: after the timeout, or at once in a hurry, cancel is called and the context of
// the calls ends. over ends that and returns when nothing of it is left.
func (c *Curfew) Start(timeout time.Duration, cancel func()) (over func()) {
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
		timer.Reset(LastWords)
		select {
		case <-timer.C:
		case <-done:
			return
		}
		close(c.Items)
		timer.Reset(LastWords)
		select {
		case <-timer.C:
		case <-done:
		}
	})
	return func() { close(done); watch.Wait() }
}

// Hasten ends the stop timeout, now or when a stop begins.
func (c *Curfew) Hasten() { c.hurried.Do(func() { close(c.hurry) }) }

// Moment returns the time from now until so long after the cut, at least 0.
func (c *Curfew) Moment(after time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, time.Until(c.at.Add(after)))
}

// Calling counts a call of what while it lasts.
func (c *Curfew) Calling(what string) (ended func()) {
	count := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.calls[what] += n; c.calls[what] == 0 {
			delete(c.calls, what)
		}
	}
	count(1)
	return func() { count(-1) }
}

// Note notes what the stop made of calls of what: how many hang and were given up, and how many were not made
// any more.
func (c *Curfew) Note(what string, givenUp, notCalled int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if givenUp > 0 {
		c.givenUp[what] += givenUp
	}
	if notCalled > 0 {
		c.notCalled[what] += notCalled
	}
}

// Report names what was given up; nil if nothing was.
func (c *Curfew) Report() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, what := range slices.Sorted(maps.Keys(c.givenUp)) {
		all = append(all, fmt.Errorf("%s did not return when the stop timeout was over and was given up (%s)", what, howOften(c.givenUp[what])))
	}
	for _, what := range slices.Sorted(maps.Keys(c.notCalled)) {
		all = append(all, fmt.Errorf("%s was not called any more: the scheduler stopped (%s)", what, howOften(c.notCalled[what])))
	}
	return errors.Join(all...)
}

func howOften(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Calls names what is being called.
func (c *Curfew) Calls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.calls))
}
