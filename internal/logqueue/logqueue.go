// Package logqueue keeps a log from holding up who writes to it. A log may stand still, as a pipe does that nobody reads, be
// slow, as one does that goes over a network which is out, or panic; and whoever keeps a session alive, cancels what runs or
// stops must not wait for it.
package logqueue

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// mostWaiting bounds how many lines wait for the log to take them.
const mostWaiting = 8192

// Queue has the lines that wait for a log. It costs a goroutine only while there are any. All methods may be called
// concurrently.
type Queue struct {
	log *handler // that was given

	mu      sync.Mutex
	lines   []line
	working bool          // a goroutine hands lines over
	missing int           // lines that were not taken, and that nobody was told of
	why     string        // what the log panicked with last; empty if it did not
	empty   chan struct{} // closed when no line waits any more, and none is being handed over; nil if nobody waits for that
}

// line is one line, and where it goes.
type line struct {
	ctx    context.Context //nolint:containedctx // a handler may read values from it
	to     *handler
	record slog.Record
}

// New returns a logger that writes to log without waiting for it, and the queue of its lines. If log is such a logger
// itself, it is that, with its queue. Whatever the context of a line has for the log stays in it; only its end does not.
func New(log *slog.Logger) (*slog.Logger, *Queue) {
	if h, is := log.Handler().(*handler); is {
		return log, h.queue
	}
	q, inner := &Queue{}, log.Handler()
	q.log = &handler{queue: q, asked: inner, made: func() slog.Handler { return inner }}
	return slog.New(q.log), q
}

// LastLines is for how long who logs no more leaves the log to take what is left, as a rule.
const LastLines = 500 * time.Millisecond

// Flush waits until the log has taken all lines, at most for so long.
func (q *Queue) Flush(most time.Duration) {
	q.mu.Lock()
	if !q.working {
		q.mu.Unlock()
		return
	}
	if q.empty == nil {
		q.empty = make(chan struct{})
	}
	empty := q.empty
	q.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-empty:
	case <-timer.C:
	}
}

// add adds a line, unless too many wait.
func (q *Queue) add(l line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) >= mostWaiting {
		q.missing++
		return
	}
	q.lines = append(q.lines, l)
	if !q.working {
		q.working = true
		go q.work()
	}
}

// work hands lines over until there are none.
func (q *Queue) work() {
	over := false
	defer func() {
		if !over { // the log has ended the goroutine
			q.miss("")
			go q.work()
		}
	}()
	for {
		l, more := q.next()
		if !more {
			over = true
			return
		}
		if err := handle(l); err != nil {
			q.miss(err.Error())
		} else if missing := q.takeMissing(); missing != nil && q.log.Enabled(context.Background(), missing.Level) {
			_ = handle(line{context.Background(), q.log, *missing}) // who panics now, does so for the next line as well
		}
	}
}

// miss counts a line that was not taken; why is what the log panicked with, empty if it did not.
func (q *Queue) miss(why string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.missing++
	q.why = why
}

// next returns the line that waits for the longest; more is false if there is none, and then nobody works any more.
func (q *Queue) next() (l line, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		q.lines, q.working = nil, false
		if q.empty != nil {
			close(q.empty)
			q.empty = nil
		}
		return line{}, false
	}
	l = q.lines[0]
	q.lines[0] = line{}
	q.lines = q.lines[1:]
	return l, true
}

// takeMissing returns a line that tells how many lines are missing; nil if none are.
func (q *Queue) takeMissing() *slog.Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.missing == 0 {
		return nil
	}
	r := slog.NewRecord(time.Now(), slog.LevelWarn, "lines of the log are missing", 0)
	r.AddAttrs(slog.Int("missing", q.missing))
	if q.why != "" {
		r.AddAttrs(slog.String("panic", q.why))
	}
	q.missing, q.why = 0, ""
	return &r
}

// handle hands a line over. What the log itself returns is nobody's here, as ever with slog; the error is what it panicked
// with.
func handle(l line) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%T", v) // whose methods may be what panicked
		}
	}()
	_ = l.to.made().Handle(l.ctx, l.record)
	return nil
}

// handler puts lines into a queue. What else the log does, such as to make another handler of one with attributes, may stand
// still as well, and is left to who hands lines over.
type handler struct {
	queue *Queue
	asked slog.Handler        // whether it wants lines of a level: the log itself
	made  func() slog.Handler // returns what takes the lines
}

// Enabled implements [slog.Handler]. A log that panics is asked for nothing more of this line.
func (h *handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer func() {
		if recover() != nil {
			enabled = false
		}
	}()
	return h.asked.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	h.queue.add(line{context.WithoutCancel(ctx), h, r.Clone()}) //nolint:contextcheck // what counts missing lines is of no line
	return nil
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func(made slog.Handler) slog.Handler { return made.WithAttrs(attrs) })
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return h.with(func(made slog.Handler) slog.Handler { return made.WithGroup(name) })
}

func (h *handler) with(more func(slog.Handler) slog.Handler) slog.Handler {
	return &handler{h.queue, h.asked, sync.OnceValue(func() slog.Handler { return more(h.made()) })}
}
