package live

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// topicKind tells topics apart.
type topicKind uint8

const (
	topicOverview topicKind = iota
	topicJobs
	topicJob
)

// topicKey names a topic: everybody who asks for the same gets the same bytes.
type topicKey struct {
	kind topicKind
	of   string // the scope of an overview, the names of a window, the name of a job
}

func (k topicKey) event() string {
	switch k.kind {
	case topicOverview:
		return EventOverview
	case topicJobs:
		return EventJobs
	default:
		return EventJob + k.of
	}
}

// names are those of a window.
func (k topicKey) names() []string {
	if k.of == "" { // a list in which nothing is to be seen
		return nil
	}
	return strings.Split(k.of, "\x00")
}

// topic is one for which there are readers, or were until a minute ago.
type topic struct {
	key     topicKey
	clients map[*client]struct{}
	idle    time.Time // since when nobody reads it
	since   uint64    // the number of the frame after which all its frames were made
	last    time.Time // when it was last looked at
	changed uint64    // the number of the change up to which readers know all
	owes    bool      // something has changed since, and was not looked at
	full    []byte    // a full frame that is still right; nil: make one

	told any // *toldOverview, *toldJobs, *toldJob
}

type toldOverview struct{ text string }

type toldJobs struct {
	names []string
	gone  []string
}

type toldJob struct {
	row       string
	items     []string
	instances string
	gaps      string
	from      time.Time
	fires     []time.Time
	missing   bool
}

func (h *Hub) newTopic(key topicKey, now time.Time) *topic {
	t := &topic{key: key, clients: make(map[*client]struct{}), idle: now}
	t.since = h.sent.add(nil, nil).number // who has an older id knows nothing of what came before the topic was read again
	switch key.kind {
	case topicOverview:
		t.told = &toldOverview{}
	case topicJobs:
		t.told = &toldJobs{names: key.names()}
	default:
		t.told = &toldJob{}
	}
	h.news(t, now) // from here on it is known what readers were told
	return t
}

// news returns what readers of a topic have not been told; nil if there is nothing.
func (h *Hub) news(t *topic, now time.Time) any {
	t.last, t.owes = now, false
	after := t.changed
	t.changed = h.number
	switch told := t.told.(type) {
	case *toldOverview:
		o := h.overview(t.key.of, now)
		bare := o
		bare.Revision, bare.AsOf = 0, time.Time{}
		if text := encode(bare); string(text) != told.text {
			told.text = string(text)
			return o
		}
	case *toldJobs:
		if f := h.jobsFrame(told.names, after); len(f.Rows) > 0 || !slices.Equal(f.Gone, told.gone) {
			told.gone = f.Gone
			return f
		}
	case *toldJob:
		if f, any := h.jobFrame(t.key.of, told, after, now); any {
			return f
		}
	}
	return nil
}

// whole returns all of a topic, for who begins to read it.
func (h *Hub) whole(t *topic, now time.Time) any {
	switch told := t.told.(type) {
	case *toldOverview:
		return h.overview(t.key.of, now)
	case *toldJobs:
		f := h.jobsFrame(told.names, 0)
		f.Full = true
		return f
	default:
		// What the topic's readers were told is also what this one is told, so the two agree on what is new next.
		f, _ := h.jobFrame(t.key.of, &toldJob{}, 0, now)
		f.Full = true
		return f
	}
}

// jobsFrame returns the rows of a window that were made after a change.
func (h *Hub) jobsFrame(names []string, after uint64) JobsFrame {
	p := h.picture.Load()
	f := JobsFrame{Revision: p.Revision, AsOf: p.AsOf, Rows: []json.RawMessage{}}
	for _, name := range names {
		row, exists := p.Row(name)
		switch {
		case !exists:
			f.Gone = append(f.Gone, name)
		case row.changed > after:
			f.Rows = append(f.Rows, row.JSON)
		}
	}
	return f
}

// jobFrame returns what of a job is other than what readers were told, and notes that they are told.
func (h *Hub) jobFrame(name string, told *toldJob, after uint64, now time.Time) (f JobFrame, any bool) {
	p := h.picture.Load()
	f = JobFrame{Revision: p.Revision, AsOf: p.AsOf}
	row, exists := p.Row(name)
	j := h.jobs[name]
	if !exists || j == nil {
		f.Gone = true
		any = !told.missing
		*told = toldJob{missing: true}
		return f, any
	}
	from := h.sinceOf(j.line, now.Add(-keptFor))
	if told.missing || j.line.removed > after || from.Before(told.from) { // of before that, readers keep nothing
		*told, after = toldJob{}, 0
		f.Full = true
	}
	told.from = from
	if text := string(row.JSON); text != told.row {
		told.row, f.Row, any = text, row.JSON, true
	}
	items := p.Namespace.Items(name)
	f.Total = len(items)
	any = any || len(items) < len(told.items)
	told.items = told.items[:min(len(told.items), len(items))]
	for i, item := range items {
		text := encode(item)
		if i < len(told.items) && told.items[i] == string(text) {
			continue
		}
		if i == len(told.items) {
			told.items = append(told.items, "")
		}
		told.items[i] = string(text)
		f.Items, any = append(f.Items, text), true
	}
	instances := orEmpty(p.Namespace.Of(name).Instances())
	if text := string(encode(instances)); text != told.instances {
		told.instances, f.Instances, any = text, instances, true
	}
	fires := orEmpty(p.Namespace.NextFires(name, now, firesShown))
	if told.fires == nil || !slices.EqualFunc(fires, told.fires, time.Time.Equal) {
		told.fires, f.NextFires, any = fires, fires, true
	}
	any = h.lineFrame(&f, j.line, told, after, now) || any
	return f, any
}

// firesShown is how many of a job's next fires its frame has.
const firesShown = 5

// lineFrame adds what is new on a timeline.
func (h *Hub) lineFrame(f *JobFrame, line *timeline, told *toldJob, after uint64, now time.Time) (any bool) {
	horizon := now.Add(-keptFor)
	f.From = h.sinceOf(line, horizon)
	for _, s := range line.spans {
		if s.changed > after && (s.running() || s.end >= horizon.UnixMilli()) {
			f.Spans = append(f.Spans, s.shown())
		}
	}
	for _, e := range line.log {
		if e.changed > after {
			f.Log = append(f.Log, e.Entry)
		}
	}
	slices.SortStableFunc(f.Log, func(a, b Entry) int { return a.At.Compare(b.At) })
	gaps := []Gap{}
	if !line.filled.IsZero() && line.filled.Before(h.began) && h.began.After(horizon) {
		gaps = append(gaps, Gap{From: line.filled.UTC(), To: h.began.UTC()})
	}
	for _, g := range h.gaps {
		if g.To.After(line.filled) && g.To.After(horizon) {
			gaps = append(gaps, g)
		}
	}
	for _, g := range line.gaps {
		if g.To.After(horizon) {
			gaps = append(gaps, g)
		}
	}
	if text := string(encode(gaps)); text != told.gaps {
		told.gaps, f.Gaps, any = text, gaps, true
	}
	return any || len(f.Spans) > 0 || len(f.Log) > 0
}

// sinceOf returns from when on a timeline is complete but for its gaps.
func (h *Hub) sinceOf(line *timeline, horizon time.Time) time.Time {
	since := h.began
	if !line.filled.IsZero() {
		since = horizon
	}
	for _, t := range []time.Time{line.since, h.since, horizon} {
		if t.After(since) {
			since = t
		}
	}
	return since.UTC()
}

func orEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil { // a time that no calendar has: what is shown of it is nothing
		return json.RawMessage("null")
	}
	return text
}

// touches tells whether a topic may have something new, of jobs that were decided again, and remembers it if it is too early
// to look.
func (t *topic) touches(jobs map[string]bool, now time.Time) bool {
	switch t.key.kind {
	case topicJob:
		return jobs[t.key.of]
	case topicJobs:
		return now.Sub(t.last) >= jobsEvery
	default:
		t.owes = t.owes || len(jobs) > 0
		if t.key.of != wholeScope && now.Sub(t.last) < jobsEvery {
			return false
		}
		return t.owes || !t.last.Truncate(upcomingPart).Equal(now.Truncate(upcomingPart))
	}
}
