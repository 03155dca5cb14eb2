// Package repeats logs a cause that recurs: the first time at once, then as a count once an interval, and once
// when it is over. A full store is one cause, however many jobs it refuses.
package repeats

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Every is the interval of [New].
const Every = 30 * time.Second

// Over is the line that tells that something has not happened again for an interval.
const Over = "not repeated any more"

// Keys of what a count adds to a line.
const (
	Times = "times" // how often it happened since the line before
	Since = "since" // when it happened first
	Until = "until" // when it happened last, which is before the line is written
	What  = "what"  // in the line Over: the message that is not repeated any more
	Jobs  = "jobs"  // whom it happened to since the line before, if more than one
)

const (
	maxCauses = 256 // that are counted apart at the same time; all others together
	maxAlike  = 8   // causes of one kind that are counted apart; the others together
	maxJobs   = 10  // that a line names
)

// Line is something that happened.
type Line struct {
	Level   slog.Level
	Message string // the same each time
	Cause   string // lines of one message and cause are counted together
	Kind    string // of the cause: of one kind only some causes are counted apart; empty = it is the only one of its
	Job     string // to which it happened; may be empty
	Tells   []any  // attributes that tell the cause: the line Over has them, too
	Attrs   []any  // the others, of this time, without the job
}

// Log counts the repetitions of lines. It is safe for concurrent use. It has no goroutine, and a timer
// for each cause that was met within the last interval.
type Log struct {
	log   *slog.Logger
	ctx   context.Context // of the lines: they are of no single call
	every time.Duration

	mu     sync.Mutex
	closed bool
	causes map[string]*cause
	alike  map[string]int // how many causes are kept of a kind
}

// cause is what is known of lines that are counted together.
type cause struct {
	timer *time.Timer
	kind  string    // empty if it has none
	since time.Time // of the first
	until time.Time // of the last
	last  Line
	jobs  []string // not yet told of, at most maxJobs
	more  bool     // there are others
	times int      // not yet told of
	total int
}

// New makes a Log that tells counts at an interval.
func New(log *slog.Logger, every time.Duration) *Log {
	return &Log{log: log, ctx: context.Background(), every: every, causes: make(map[string]*cause), alike: make(map[string]int)}
}

// Tell logs a line, or counts it if one of the same cause was logged within the interval.
func (l *Log) Tell(line Line) {
	if l.log.Enabled(l.ctx, line.Level) && l.first(line) {
		l.log.Log(l.ctx, line.Level, line.Message, line.attrs()...)
	}
}

// Close logs what was counted and not told yet. Lines that come later are logged as they come.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	causes := l.causes
	l.causes = nil
	for _, c := range causes {
		c.timer.Stop()
	}
	l.mu.Unlock()
	for _, c := range causes {
		if c.times > 0 {
			l.tellCount(*c)
		}
	}
}

// first counts a line, and tells whether the caller is to log it now.
func (l *Log) first(line Line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return true
	}
	key, kind := line.Message+"\x00"+line.Cause, ""
	c := l.causes[key]
	if c == nil && line.Kind != "" {
		kind = line.Message + "\x00" + line.Kind
		if l.alike[kind] >= maxAlike { // those beyond share one
			key, kind = kind+"\x00", ""
			c = l.causes[key]
		}
	}
	if c == nil && len(l.causes) >= maxCauses { // the causes beyond share one
		key, kind = "", ""
		c = l.causes[key]
	}
	if c != nil {
		c.note(line)
		return false
	}
	c = &cause{since: time.Now(), last: line, total: 1, kind: kind}
	l.causes[key] = c
	if kind != "" {
		l.alike[kind]++
	}
	c.timer = time.AfterFunc(l.every, func() { l.look(key, c) })
	return true
}

func (c *cause) note(line Line) {
	c.last, c.until = line, time.Now()
	c.times++
	c.total++
	switch {
	case line.Job == "" || slices.Contains(c.jobs, line.Job):
	case len(c.jobs) < maxJobs:
		c.jobs = append(c.jobs, line.Job)
	default:
		c.more = true
	}
}

// look tells what was counted in an interval, or that the cause is over.
func (l *Log) look(key string, c *cause) {
	l.mu.Lock()
	if l.causes[key] != c { // Close was faster
		l.mu.Unlock()
		return
	}
	seen := *c
	if seen.times == 0 {
		delete(l.causes, key)
		if l.alike[seen.kind]--; l.alike[seen.kind] <= 0 {
			delete(l.alike, seen.kind)
		}
	} else {
		c.times, c.jobs, c.more = 0, nil, false
		c.timer.Reset(l.every)
	}
	l.mu.Unlock()
	switch {
	case seen.times > 0:
		l.tellCount(seen)
	case seen.total > 1 && seen.last.Level >= slog.LevelWarn:
		l.log.Info(Over, append([]any{What, seen.last.Message, Times, seen.total, Since, seen.since}, seen.last.Tells...)...)
	}
}

func (l *Log) tellCount(c cause) {
	line := c.last
	if len(c.jobs) > 1 {
		line.Job = ""
		names := strings.Join(c.jobs, ", ")
		if c.more {
			names += " and others"
		}
		line.Attrs = append(slices.Clip(line.Attrs), Jobs, names)
	}
	l.log.Log(l.ctx, line.Level, line.Message, append(line.attrs(), Times, c.times, Since, c.since, Until, c.until)...)
}

func (l Line) attrs() []any {
	var attrs []any
	if l.Job != "" {
		attrs = append(attrs, "job", l.Job)
	}
	return slices.Concat(attrs, l.Tells, l.Attrs)
}
