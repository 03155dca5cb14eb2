package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/registry"
)

// anna may read everything.
var anna = access.Identity{Name: "anna", How: access.BySession, Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop"}}}

// event is a frame as a browser gets it.
type event struct {
	id, event, data string
}

// page reads a stream, as a browser does.
type page struct {
	*testing.T
	cancel context.CancelFunc
	over   chan struct{}

	mu      sync.Mutex
	text    bytes.Buffer
	header  http.Header
	status  int
	stalled chan struct{} // nil: writes go through
	events  []event
	read    int
}

// opens reads the stream of a query until close.
func opens(t *testing.T, h *Hub, who access.Identity, query, lastID string) *page {
	t.Helper()
	r := httptest.NewRequest("GET", "/events?"+query, nil)
	r.Header.Set("Last-Event-ID", lastID)
	return sends(t, h, who, r)
}

// asks opens a stream by a body.
func asks(t *testing.T, h *Hub, who access.Identity, body string) *page {
	t.Helper()
	return sends(t, h, who, httptest.NewRequest("POST", "/events", strings.NewReader(body)))
}

func sends(t *testing.T, h *Hub, who access.Identity, r *http.Request) *page {
	t.Helper()
	ctx, cancel := context.WithCancel(access.NewContext(context.Background(), who))
	p := &page{T: t, cancel: cancel, over: make(chan struct{}), header: make(http.Header)}
	r = r.WithContext(ctx)
	go func() {
		defer close(p.over)
		h.Events().ServeHTTP(p, r)
	}()
	synctest.Wait()
	return p
}

func (p *page) close() {
	p.cancel()
	<-p.over
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

func (p *page) Write(text []byte) (int, error) {
	p.mu.Lock()
	stalled := p.stalled
	p.mu.Unlock()
	if stalled != nil {
		<-stalled
		return 0, os.ErrDeadlineExceeded
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

// stall has writes stand still until stalled is closed, and then fail as the deadline of a write has them fail.
func (p *page) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = make(chan struct{})
}

func (p *page) FlushError() error { return nil }

// news returns the events since it was asked last.
func (p *page) news() []event {
	p.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []event
	var e event
	lines := bufio.NewScanner(bytes.NewReader(p.text.Bytes()))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.event = value
		case "data":
			e.data = value
		case "":
			if e.event != "" {
				all = append(all, e)
			}
			e = event{}
		}
	}
	fresh := all[p.read:]
	p.read = len(all)
	p.events = all
	return fresh
}

// lastID is what a browser would send with its next try.
func (p *page) lastID() (id string) {
	p.Helper()
	p.news()
	for _, e := range p.events {
		if e.id != "" {
			id = e.id
		}
	}
	return id
}

// of returns the data of the events of a name.
func of[T any](t *testing.T, events []event, name string) (all []T) {
	t.Helper()
	for _, e := range events {
		if e.event == name {
			var data T
			require.NoError(t, json.Unmarshal([]byte(e.data), &data), e.data)
			all = append(all, data)
		}
	}
	return all
}

// opened returns a hub that runs until the test's end.
func opened(t *testing.T, cfg Config) *Hub {
	t.Helper()
	cfg.Namespace = "shop"
	h, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; !errors.Is(err, registry.ErrClosed) { // as a cluster ends before its observer
			require.NoError(t, err)
		}
		h.Close()
	})
	return h
}

// seen puts the frames of a job together as a page does.
type seen struct {
	JobFrame
	spans map[spanName]Span
	log   []Entry
}

type spanName struct {
	item     int
	instance string
	begin    time.Time
}

func (s *seen) take(frames []JobFrame) {
	for _, f := range frames {
		if f.Full || s.spans == nil {
			*s = seen{spans: make(map[spanName]Span)}
		}
		if f.Row == nil {
			f.Row = s.Row
		}
		if f.Gaps == nil {
			f.Gaps = s.Gaps
		}
		if f.NextFires == nil {
			f.NextFires = s.NextFires
		}
		if f.Instances == nil {
			f.Instances = s.Instances
		}
		s.JobFrame = f
		for _, span := range f.Spans {
			s.spans[spanName{span.Item, span.Instance, span.Begin}] = span
		}
		for name, span := range s.spans { // as the page does, which is not to keep what it cannot draw
			if !span.End.IsZero() && span.End.Before(f.From) {
				delete(s.spans, name)
			}
		}
		s.log = append(s.log, f.Log...)
	}
}

// A reader that was cut off gets nothing more, however much room there is for it.
func TestACutOffReaderGetsNothing(t *testing.T) {
	t.Parallel()
	c := &client{batches: make(chan batch, waiting), gone: make(chan struct{}), slow: new(atomic.Int64)}
	c.give(batch{})
	require.Len(t, c.batches, 1)
	c.cut()
	c.give(batch{})
	require.Len(t, c.batches, 1)
}
