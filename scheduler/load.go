package scheduler

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// loadEvery is how often overload is looked at and told of.
	loadEvery = time.Second
	// loadLine is how often it is logged as long as it lasts.
	loadLine = time.Minute
	// loadOver is for how long nothing must have been dropped until overload is over.
	loadOver = 5 * time.Second
)

// LoadHealth tells whether this process can begin all that it should.
type LoadHealth struct {
	// Overloaded is true while fires pass that could not begin in time although nothing else kept them
	// from it: more is wanted than the registry, or this machine, can take.
	Overloaded bool `json:"overloaded"`
	// Wanted are the fires of this process's items in the last second of an overload, Begun those of them
	// and of earlier ones that began, Dropped those that could not and went by; all 0 without overload.
	Wanted  int64 `json:"wanted"`
	Begun   int64 `json:"begun"`
	Dropped int64 `json:"dropped"`
}

// LoadEvent is what was wanted of this process, and what it could begin, in a second of an overload. The
// last one of an overload is not Overloaded any more.
type LoadEvent struct {
	LoadHealth
	Interval time.Duration // that the numbers are of
}

// load counts fires of all jobs of this process. It costs nothing while all of them begin.
type load struct {
	wanted, begun, dropped atomic.Int64 // since the process started

	tell func(report)

	lasts atomic.Bool // there is an overload

	mu      sync.Mutex
	timer   *time.Timer // nil without overload
	stopped bool
	last    sampleOfLoad // when it was looked at last
	told    LoadHealth
	line    sampleOfLoad // when it was logged last
	first   sampleOfLoad // when the overload began
	quiet   time.Time    // since when nothing was dropped
}

// sampleOfLoad is the counters at one time.
type sampleOfLoad struct {
	at                     time.Time
	wanted, begun, dropped int64
}

func (l *load) sample(now time.Time) sampleOfLoad {
	return sampleOfLoad{at: now, wanted: l.wanted.Load(), begun: l.begun.Load(), dropped: l.dropped.Load()}
}

// Want counts fires that came.
func (l *load) Want(n int) { l.wanted.Add(int64(n)) }

// Begin counts fires that began.
func (l *load) Begin(n int) { l.begun.Add(int64(n)) }

// Drop counts fires that could not begin in time.
func (l *load) Drop(n int) {
	if n == 0 || l.dropped.Add(int64(n)) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil || l.stopped {
		return
	}
	now := time.Now()
	l.last = l.sample(now)
	l.last.dropped -= int64(n)
	l.line, l.first, l.quiet = sampleOfLoad{}, l.last, time.Time{}
	l.timer = time.AfterFunc(loadEvery, l.look)
	l.lasts.Store(true)
}

// over tells whether fires could not begin in time lately.
func (l *load) over() bool { return l.lasts.Load() }

// look compares what was wanted with what began, and tells.
func (l *load) look() {
	if told := l.compare(); told != nil {
		l.tell(*told)
	}
}

// report is what is told of a second of an overload.
type report struct {
	event LoadEvent
	text  string // of the line in the log; empty = there is none
	sum   LoadEvent
}

func (l *load) compare() *report {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return nil
	}
	before, now := l.last, l.sample(time.Now())
	l.last = now
	told := &report{event: now.since(before)}
	e := &told.event
	switch {
	case e.Dropped > 0:
		l.quiet = time.Time{}
	case l.quiet.IsZero():
		l.quiet = now.at
	case now.at.Sub(l.quiet) >= loadOver:
		e.Overloaded = false
	}
	switch {
	case !e.Overloaded:
		told.text, told.sum = "all fires begin in time again; of the overload", now.since(l.first)
		l.timer, l.told = nil, LoadHealth{}
		l.lasts.Store(false)
		return told
	case l.line.at.IsZero():
		told.text, told.sum = "more fires are due than can begin in time, the others are missed ones", now.since(l.first)
		l.line = now
	case now.at.Sub(l.line.at) >= loadLine:
		told.text, told.sum = "still more fires are due than can begin in time", now.since(l.line)
		l.line = now
	}
	l.told = e.LoadHealth
	l.timer.Reset(loadEvery)
	return told
}

func (s sampleOfLoad) since(before sampleOfLoad) LoadEvent {
	return LoadEvent{Interval: s.at.Sub(before.at), LoadHealth: LoadHealth{
		Overloaded: true,
		Wanted:     s.wanted - before.wanted, Begun: s.begun - before.begun, Dropped: s.dropped - before.dropped,
	}}
}

// health returns what is to be told of the last second.
func (l *load) health() LoadHealth {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told
}

// stop ends the looking.
func (l *load) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// tellLoad tells the observer of a second of an overload, and the log now and then.
func (s *Scheduler) tellLoad(told report) {
	s.observer.observe(told.event)
	if told.text == "" {
		return
	}
	level := slog.LevelWarn
	if !told.event.Overloaded {
		level = slog.LevelInfo
	}
	s.log.Log(context.Background(), level, told.text, "wanted", told.sum.Wanted, "begun", told.sum.Begun,
		"dropped", told.sum.Dropped, "interval", told.sum.Interval.Round(time.Millisecond).String())
}
