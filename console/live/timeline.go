package live

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// The limits of a timeline.
const (
	spansOfJob   = 2_000
	entriesOfJob = 200
	keptFor      = time.Hour
)

// timeline is what is known of a job's executions in the last hour.
type timeline struct {
	spans []*span // in ascending order of their begins
	log   []numbered
	gaps  []Gap // of which nobody knows what ran
	// since is when the spans begin to be complete; zero: when the hub began to follow.
	since time.Time
	// forgotten is before when spans may have begun that were dropped, in milliseconds.
	forgotten int64
	// removed is the number of the last change with which a span went of which readers may think that it runs: frames have only
	// what there is.
	removed uint64
	// filled tells up to when the history store has told what ran.
	filled time.Time
	size   int
}

// numbered is an entry and the number of the change that it was part of.
type numbered struct {
	Entry
	changed uint64
}

// find returns the span of an execution.
func (t *timeline) find(wanted *span) *span {
	i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].begin >= wanted.begin })
	for ; i < len(t.spans) && t.spans[i].begin == wanted.begin; i++ {
		if s := t.spans[i]; s.is(int(wanted.item), wanted.instance, wanted.begin) {
			return s
		}
	}
	return nil
}

// put adds a span, or says of the one that there is what is new. It returns how the size changed, and whether the
// execution was not known before.
func (t *timeline) put(s span) (grown int, added bool) {
	if known := t.find(&s); known != nil {
		if s.end != 0 || known.end == 0 {
			s.cut = cmp.Or(s.cut, known.cut)
			s.token = cmp.Or(s.token, known.token)
			grown = s.size() - known.size()
			*known = s
		}
		t.size += grown
		return grown, false
	}
	i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].begin > s.begin })
	t.spans = slices.Insert(t.spans, i, &s)
	before := t.size
	t.size += s.size()
	if len(t.spans) > spansOfJob {
		t.dropTo(t.spans[len(t.spans)-spansOfJob*9/10].begin)
	}
	return t.size - before, true
}

// remove takes a span out that turned out never to have run.
func (t *timeline) remove(wanted *span) {
	if i := slices.Index(t.spans, wanted); i >= 0 {
		t.spans = slices.Delete(t.spans, i, i+1)
		t.size -= wanted.size()
	}
}

// dropTo forgets the spans that began before a time, but those that still run.
func (t *timeline) dropTo(begin int64) (shrunk int) {
	t.forgotten = max(t.forgotten, begin)
	kept := t.spans[:0]
	for _, s := range t.spans {
		if s.begin < begin && !s.running() {
			shrunk += s.size()
			if !s.history { // readers who have not heard of its last change have not heard of its end
				t.removed = max(t.removed, s.changed)
			}
			continue
		}
		kept = append(kept, s)
	}
	clear(t.spans[len(kept):])
	t.spans = kept
	if 4*len(kept) < cap(kept) {
		t.spans = slices.Clone(kept)
	}
	t.size -= shrunk
	if since := moment(begin); since.After(t.since) {
		t.since = since
	}
	return shrunk
}

// forget drops what is older than an hour.
func (t *timeline) forget(now time.Time) (shrunk int) {
	horizon := now.Add(-keptFor)
	if len(t.spans) > 0 && t.spans[0].begin < horizon.UnixMilli() {
		since := t.since
		shrunk = t.dropTo(horizon.UnixMilli())
		t.since = since // nothing of the hour is missing for that
	}
	old := 0
	for old < len(t.log) && t.log[old].At.Before(horizon) {
		old++
	}
	t.log = slices.Delete(t.log, 0, old)
	t.gaps = slices.DeleteFunc(t.gaps, func(g Gap) bool { return g.To.Before(horizon) })
	return shrunk
}

// note adds an entry to the log.
func (t *timeline) note(e Entry, number uint64) {
	if len(t.log) >= entriesOfJob {
		t.log = slices.Delete(t.log, 0, len(t.log)-entriesOfJob+1)
	}
	t.log = append(t.log, numbered{e, number})
}

// failures is how many executions of an item in a row failed: the largest number of any item.
func (t *timeline) failures() (most int) {
	over, failed := make(map[int32]bool), make(map[int32]int)
	for _, s := range slices.Backward(t.spans) {
		switch {
		case s.running() || over[s.item]:
		case s.bad():
			failed[s.item]++
			most = max(most, failed[s.item])
		default:
			over[s.item] = true
		}
	}
	return most
}
