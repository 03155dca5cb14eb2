// Package load counts the fires of all jobs of a process, and tells when more are due than can begin in time.
package load

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// every is how often overload is looked at and told of.
	every = time.Second
	// lineEvery is how often it is logged as long as it lasts.
	lineEvery = time.Minute
	// over is for how long nothing must have been dropped until overload is over.
	over = 5 * time.Second
)

// Fires are those of this process's items, in some time.
type Fires struct {
	Wanted  int64 // that came
	Begun   int64 // that began, of those and of earlier ones
	Dropped int64 // that could not begin in time and went by
}

// Second is what was wanted and what began in a second of an overload. The last one of an overload is not
// Overloaded any more.
type Second struct {
	Fires
	Overloaded bool
	Interval   time.Duration // that the numbers cover
}

// Load counts fires of all jobs of a process. It costs nothing while all of them begin. Its methods are safe for
// concurrent use.
type Load struct {
	wanted, begun, dropped atomic.Int64 // since the process started

	Tell func(Report) // set once, before the first fire

	lasts atomic.Bool // there is an overload

	mu      sync.Mutex
	timer   *time.Timer // nil without overload
	stopped bool
	last    sample // when it was looked at last
	told    Second
	line    sample    // when it was logged last
	first   sample    // when the overload began
	quiet   time.Time // since when nothing was dropped
}

// sample is the counters at one time.
type sample struct {
	at                     time.Time
	wanted, begun, dropped int64
}

func (l *Load) at(now time.Time) sample {
	return sample{at: now, wanted: l.wanted.Load(), begun: l.begun.Load(), dropped: l.dropped.Load()}
}

// Want counts fires that came.
func (l *Load) Want(n int) { l.wanted.Add(int64(n)) }

// Begin counts fires that began.
func (l *Load) Begin(n int) { l.begun.Add(int64(n)) }

// Drop counts fires that could not begin in time.
func (l *Load) Drop(n int) {
	if n == 0 || l.dropped.Add(int64(n)) == 0 || l.lasts.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil || l.stopped {
		return
	}
	now := time.Now()
	l.last = l.at(now)
	l.last.dropped -= int64(n)
	l.line, l.first, l.quiet = sample{}, l.last, time.Time{}
	l.timer = time.AfterFunc(every, l.look)
	l.lasts.Store(true)
}

// Over tells whether fires could not begin in time lately.
func (l *Load) Over() bool { return l.lasts.Load() }

// look compares what was wanted with what began, and tells.
func (l *Load) look() {
	if told := l.compare(); told != nil {
		l.Tell(*told)
	}
}

// Report is what is told of a second of an overload.
type Report struct {
	Second
	Line Line   // to be logged
	Sum  Second // that the line is about
}

// Line says which line of the log a second calls for.
type Line int

// The lines.
const (
	NoLine Line = iota
	Begins      // the overload begins
	Lasts       // it still lasts, a minute after the last line
	Ends        // it is over
)

func (l *Load) compare() *Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return nil
	}
	before, now := l.last, l.at(time.Now())
	l.last = now
	told := &Report{Second: now.since(before)}
	switch {
	case told.Dropped > 0:
		l.quiet = time.Time{}
	case l.quiet.IsZero():
		l.quiet = now.at
	case now.at.Sub(l.quiet) >= over:
		told.Overloaded = false
	}
	switch {
	case !told.Overloaded:
		told.Line, told.Sum = Ends, now.since(l.first)
		l.timer, l.told = nil, Second{}
		l.lasts.Store(false)
		return told
	case l.line.at.IsZero():
		told.Line, told.Sum = Begins, now.since(l.first)
		l.line = now
	case now.at.Sub(l.line.at) >= lineEvery:
		told.Line, told.Sum = Lasts, now.since(l.line)
		l.line = now
	}
	l.told = told.Second
	l.timer.Reset(every)
	return told
}

func (s sample) since(before sample) Second {
	return Second{Overloaded: true, Interval: s.at.Sub(before.at), Fires: Fires{
		Wanted: s.wanted - before.wanted, Begun: s.begun - before.begun, Dropped: s.dropped - before.dropped,
	}}
}

// Last returns the last second of the overload; zero without one.
func (l *Load) Last() Second {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told
}

// Stop ends the looking.
func (l *Load) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// Counted returns the fires since the process started. Tests alone ask, in more than one package.
func (l *Load) Counted() Fires {
	return Fires{Wanted: l.wanted.Load(), Begun: l.begun.Load(), Dropped: l.dropped.Load()}
}
