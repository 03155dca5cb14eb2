package logqueue

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// page is a log that does with each line what the test says before it writes it.
type page struct {
	slog.Handler
	before func(message string)

	mu   sync.Mutex
	text bytes.Buffer
}

func newPage(before func(message string)) *page {
	p := &page{before: before}
	p.Handler = slog.NewTextHandler(&p.text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return p
}

func (p *page) Handle(ctx context.Context, r slog.Record) error {
	p.before(r.Message)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Handler.Handle(ctx, r)
}

func (p *page) read() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSpace(p.text.String()), "\n")
}

func TestLinesComeInTheirOrder(t *testing.T) {
	t.Parallel()
	p := newPage(func(string) {})
	log, q := New(slog.New(p))
	var want []string
	for i := range 1000 {
		log.Info("line", "n", i)
		want = append(want, fmt.Sprintf("level=INFO msg=line n=%d", i))
	}
	q.Flush(time.Minute)
	require.Equal(t, want, p.read())
}

// What a logger is made of stays, and so do its level and the values of contexts, but for their ends.
func TestALoggerStaysWhatItIs(t *testing.T) {
	t.Parallel()
	type key struct{}
	var traces []any
	p := newPage(func(string) {})
	inner := contextual{p, func(ctx context.Context) { traces = append(traces, ctx.Value(key{}), ctx.Err()) }}
	log, q := New(slog.New(inner).With("a", 1))
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "trace"))
	cancel()
	log.With("b", 2).WithGroup("g").WarnContext(ctx, "line", "c", 3)
	log.Debug("nobody wants it")
	q.Flush(time.Minute)
	require.Equal(t, []string{"level=WARN msg=line a=1 b=2 g.c=3"}, p.read())
	require.Equal(t, []any{"trace", nil}, traces)

	again, same := New(log.With("d", 4))
	require.Same(t, q, same, "one queue is enough")
	again.Info("line")
	q.Flush(time.Minute)
	require.Equal(t, "level=INFO msg=line a=1 d=4", p.read()[1])
}

// contextual looks at contexts.
type contextual struct {
	slog.Handler
	look func(context.Context)
}

func (c contextual) Handle(ctx context.Context, r slog.Record) error {
	c.look(ctx)
	return c.Handler.Handle(ctx, r)
}

func (c contextual) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextual{c.Handler.WithAttrs(attrs), c.look}
}

func (c contextual) WithGroup(name string) slog.Handler {
	return contextual{c.Handler.WithGroup(name), c.look}
}

// A log that stands still holds nobody up. What it does not take is counted when it goes on.
func TestALogThatStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		p := newPage(func(string) { <-goOn })
		log, q := New(slog.New(p))
		const lines = mostWaiting + 100
		for range lines {
			log.Info("line")
			synctest.Wait()
		}
		began := time.Now()
		q.Flush(time.Second)
		require.Equal(t, time.Second, time.Since(began))
		close(goOn)
		q.Flush(time.Minute)
		all := p.read()
		require.Len(t, all, mostWaiting+2, "one that was being taken, and one that counts the rest")
		require.Equal(t, `level=WARN msg="lines of the log are missing" missing=99`, all[1])
		q.Flush(time.Minute)
		require.Equal(t, time.Second, time.Since(began), "nothing is left")
	})
}

// A log that panics, or ends the goroutine, loses that line alone.
func TestALogThatBreaks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		breaks func()
		want   []string
	}{
		"panics":             {func() { panic("no such key") }, []string{"level=INFO msg=second", `level=WARN msg="lines of the log are missing" missing=1 panic=string`}},
		"ends the goroutine": {runtime.Goexit, []string{"level=INFO msg=second", `level=WARN msg="lines of the log are missing" missing=1`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPage(func(message string) {
				if message == "first" {
					test.breaks()
				}
			})
			log, q := New(slog.New(p))
			log.Info("first")
			log.Info("second")
			q.Flush(time.Minute)
			require.Equal(t, test.want, p.read())
		})
	}
}

// Nothing of a log that stands still is waited for, as one does that holds a lock while it writes and wants it for all it does.
func TestALogThatHoldsALock(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	p := newPage(func(string) { <-goOn })
	log, q := New(slog.New(&locked{Handler: p, mu: new(sync.Mutex)}))
	log.Info("first")
	for range 100 {
		log.With("a", 1).WithGroup("g").Info("next", "b", 2)
	}
	close(goOn)
	q.Flush(time.Minute)
	all := p.read()
	require.Len(t, all, 101)
	require.Equal(t, "level=INFO msg=next a=1 g.b=2", all[100])
}

// locked does everything under one lock.
type locked struct {
	slog.Handler
	mu *sync.Mutex
}

func (l *locked) Handle(ctx context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Handler.Handle(ctx, r)
}

func (l *locked) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &locked{l.Handler.WithAttrs(attrs), l.mu}
}

func (l *locked) WithGroup(name string) slog.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &locked{l.Handler.WithGroup(name), l.mu}
}

// A log that panics when it is asked, or made, is left alone.
func TestALogThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	log, q := New(slog.New(hostile{}))
	require.NotPanics(t, func() {
		log.Info("line")
		log.With("a", 1).WithGroup("g").Info("line")
	})
	q.Flush(time.Minute)
}

// hostile panics whatever it is asked.
type hostile struct{}

func (hostile) Enabled(context.Context, slog.Level) bool  { panic("enabled") }
func (hostile) Handle(context.Context, slog.Record) error { panic("handle") }
func (hostile) WithAttrs([]slog.Attr) slog.Handler        { panic("attrs") }
func (hostile) WithGroup(string) slog.Handler             { panic("group") }

func TestManyWrite(t *testing.T) {
	t.Parallel()
	p := newPage(func(string) {})
	log, q := New(slog.New(p))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				log.Info("line")
				q.Flush(time.Minute)
			}
		})
	}
	all.Wait()
	q.Flush(time.Minute)
	require.Len(t, p.read(), 8*200)
}
