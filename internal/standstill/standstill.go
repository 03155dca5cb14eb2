// Package standstill tells tests for how long their process was given no processor. What is promised within a
// time is promised by a machine that goes on: a test that measures a time takes off it what the process stood
// still, so that its limit can be as tight as what it is about. A server that is a process of its own may stand still
// while the test goes on: [RetryBeside] asks it all the while. Only tests import it.
package standstill

import (
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	// interval is how often a process notes that it goes on, and threshold is for how long it must not have
	// gone on to have stood still.
	interval  = 20 * time.Millisecond
	threshold = 150 * time.Millisecond
	// tries is how often a story is told at most.
	tries = 6
)

// Detect calls told whenever the process has stood still, with for how long, until stop is called.
func Detect(told func(stood time.Duration)) (stop func()) {
	return detect(func(last, now time.Time) {
		if stood := gap(last, now); stood > 0 {
			told(stood)
		}
	})
}

// detect calls tick with the last time and with this one, about once each interval.
func detect(tick func(last, now time.Time)) (stop func()) {
	over := make(chan struct{})
	var detector sync.WaitGroup
	detector.Go(func() {
		for last := time.Now(); ; {
			select {
			case <-over:
				return
			case <-time.After(interval):
			}
			now := time.Now()
			tick(last, now)
			last = time.Now()
		}
	})
	return func() { close(over); detector.Wait() }
}

// gap returns for how long a process stood still that noted at last, and not again before now, that it goes on.
func gap(last, now time.Time) time.Duration {
	if stood := now.Sub(last) - interval; stood > threshold {
		return stood
	}
	return 0
}

// A Watch knows when the process stood still since it began, and when a server did that it asks.
type Watch struct {
	mu     sync.Mutex
	last   time.Time
	asked  time.Time // when the server was asked what it has not answered; zero if it has answered all
	stalls []stall
}

type stall struct{ from, until time.Time }

// New begins to watch, until the test ends.
func New(tb testing.TB) *Watch {
	tb.Helper()
	w := &Watch{last: time.Now()}
	tb.Cleanup(detect(func(_, now time.Time) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.note(now)
	}))
	return w
}

// note adds the stall that has ended now, if there was one.
func (w *Watch) note(now time.Time) {
	if stood := gap(w.last, now); stood > 0 {
		w.stalls = append(w.stalls, stall{now.Add(-stood), now})
	}
	w.last = now
}

// beside asks a server, one request after the other, until the test ends and the last request has. The server stands still for
// as long as one takes.
func (w *Watch) beside(tb testing.TB, ask func()) {
	tb.Helper()
	over := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			w.ask()
			ask()
			w.answered(time.Now())
			select {
			case <-over:
				return
			case <-time.After(interval):
			}
		}
	})
	tb.Cleanup(func() { close(over); asking.Wait() })
}

// ask notes that the server is asked now.
func (w *Watch) ask() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Now()
}

// answered adds the stall that the answer, which came now, has ended, if there was one.
func (w *Watch) answered(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stalls = append(w.stalls, w.unanswered(now)...)
	w.asked = time.Time{}
}

// unanswered returns the stall of a server that has not answered yet, if that takes it so long.
func (w *Watch) unanswered(now time.Time) []stall {
	if w.asked.IsZero() || now.Sub(w.asked) <= threshold {
		return nil
	}
	return []stall{{w.asked, now}}
}

// Since returns for how long the process stood still since then, or the server, or both.
func (w *Watch) Since(then time.Time) (stood time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.note(now) // who asks may go on before the detector does
	stalls := slices.Concat(w.stalls, w.unanswered(now))
	slices.SortFunc(stalls, func(a, b stall) int { return a.from.Compare(b.from) })
	for _, s := range stalls {
		if from := latest(s.from, then); from.Before(s.until) {
			stood += s.until.Sub(from)
			then = s.until // what both stood still counts once
		}
	}
	return stood
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Elapsed returns the time since then, less what the process stood still.
func (w *Watch) Elapsed(then time.Time) time.Duration { return time.Since(then) - w.Since(then) }

// Retry tells a story that fails if the process stands still for slack. If it has failed and the process did
// so meanwhile, the story shows nothing and is told again, five times at most. What the last one comes to counts.
func Retry(tb testing.TB, slack time.Duration, story func() error) {
	tb.Helper()
	New(tb).retry(tb, slack, story)
}

// RetryBeside is [Retry] for a story that fails as well if the server of which it tells, another process, stands still for
// slack. ask makes a small request of it, on a connection that nothing else breaks, and returns when that was answered or has
// failed. A server that is down, and refuses the request at once, does not stand still.
func RetryBeside(tb testing.TB, slack time.Duration, ask func(), story func() error) {
	tb.Helper()
	w := New(tb)
	w.beside(tb, ask)
	w.retry(tb, slack, story)
}

func (w *Watch) retry(tb testing.TB, slack time.Duration, story func() error) {
	tb.Helper()
	for left := tries - 1; ; left-- {
		began := time.Now()
		err := story()
		if err == nil {
			return
		}
		stood := w.Since(began)
		if left == 0 || stood < slack {
			tb.Fatalf("%v (the machine stood still for %s)", err, stood)
		}
		tb.Logf("once more, as the machine stood still for %s: %v", stood, err)
	}
}
