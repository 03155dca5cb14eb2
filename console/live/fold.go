package live

import (
	"fmt"
	"slices"
	"time"
	"unique"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// fold takes what changed over into the timeline of a job. It is pure but for the timeline, and for what it counts.
type fold struct {
	line    *timeline
	now     time.Time // by the server's clock
	number  uint64    // of the change
	first   bool      // everything is new because nothing was known before
	minutes perMinute
}

// change takes over the change of one node.
func (f *fold) change(name jobtree.Name, c registry.Change) {
	switch name.Kind {
	case jobtree.KindItemRecord:
		f.record(name.Item, c)
	case jobtree.KindItemMisfire:
		f.misfire(name.Item, c)
	case jobtree.KindOperated:
		f.operated(c)
	}
}

// record takes over what an item's record says of its last two executions. If neither follows on those that it told
// of before, others may have run in between.
func (f *fold) record(item int, c registry.Change) {
	before, _ := decodeRecord(c.Old)
	after, readable := decodeRecord(c.New)
	switch {
	case !c.New.Exists():
		f.abandon(item)
		return
	case !readable:
		return
	}
	was, wasSpan := spanOf(item, before.Current, before.GivenToken(before.Current, c.Old.Revision))
	is, isSpan := spanOf(item, after.Current, after.GivenToken(after.Current, c.New.Revision))
	previous, hasPrevious := after.Previous()
	last, lastSpan := span{}, false
	if hasPrevious {
		last, lastSpan = spanOf(item, &previous, after.GivenToken(&previous, 0))
	}
	same := func(a, b *span) bool { return a.is(int(b.item), b.instance, b.begin) }
	switch {
	case !wasSpan:
	case isSpan && same(&was, &is), lastSpan && same(&was, &last):
	case sameExecution(before, after):
		f.takeBack(&was) // it was begun, and its code was never called
	default:
		f.gap(item, before.Current, previous, hasPrevious, after.Current)
	}
	if lastSpan {
		f.put(last)
	}
	if !isSpan {
		if after.Current != nil {
			s := span{item: int32(item), begin: milliseconds(after.Current.Begin), instance: unique.Make(after.Current.Instance)}
			f.takeBack(&s)
		}
		return
	}
	if f.put(is) && is.failover && !f.first {
		f.failover(item, is, last, lastSpan)
	}
}

// sameExecution tells whether a record told of nothing new but one that was never called: its previous execution is
// the one that it had before.
func sameExecution(before, after jobtree.Record) bool {
	old, had := before.Previous()
	now, has := after.Previous()
	return had == has && (!has || old.Begin.Equal(now.Begin) && old.Instance == now.Instance)
}

// gap notes the time between the last execution of which something was known and the first of which something is known
// again.
func (f *fold) gap(item int, was *jobtree.Execution, previous jobtree.Execution, hasPrevious bool, is *jobtree.Execution) {
	from, to := was.End, f.now
	if from.IsZero() {
		from = was.Begin
	}
	switch {
	case hasPrevious:
		to = previous.Begin
	case is != nil:
		to = is.Begin
	}
	known := span{item: int32(item), begin: milliseconds(was.Begin), instance: unique.Make(was.Instance)}
	if s := f.line.find(&known); s != nil && s.running() { // it ended, and nobody told how
		f.lose(s, milliseconds(from))
	}
	if to.After(from) {
		f.line.gaps = append(f.line.gaps, Gap{From: from, To: to, Item: &item})
		if extra := len(f.line.gaps) - entriesOfJob; extra > 0 {
			f.line.gaps = slices.Delete(f.line.gaps, 0, extra)
		}
	}
}

// put adds an execution or what is new of it, and counts it. It tells whether it was not known before.
func (f *fold) put(s span) bool {
	s.changed = f.number
	known := f.line.find(&s)
	wasBad, wasRunning := known != nil && known.bad(), known == nil || known.running()
	fresh := known == nil
	if known != nil && known.outcome == s.outcome && known.end == s.end && (known.token == s.token || s.token == 0) {
		return false
	}
	if known == nil && s.end != 0 && s.end < f.now.Add(-keptFor).UnixMilli() {
		return false // of no interest any more
	}
	if _, added := f.line.put(s); added {
		f.minutes.count(s.begin, s.bad())
	} else if s.bad() && !wasBad {
		f.minutes.fail(s.begin)
	}
	if s.outcome.Value() == string(jobtree.Lost) && wasRunning && !f.first {
		f.note(Entry{
			At: moment(s.end), Kind: EntryLost, Item: number(s.item), From: s.instance.Value(),
			Text: fmt.Sprintf("the run of item %d on %s was lost", s.item, s.instance.Value()),
		})
	}
	return fresh
}

// takeBack removes a span that turned out never to have run.
func (f *fold) takeBack(s *span) {
	if known := f.line.find(s); known != nil && known.running() {
		f.line.remove(known)
		f.line.removed = f.number
		f.minutes.takeBack(s.begin)
	}
}

// abandon ends what runs of an item whose record is gone.
func (f *fold) abandon(item int) {
	for _, s := range f.line.spans {
		if int(s.item) == item && s.running() {
			f.lose(s, f.now.UnixMilli())
		}
	}
}

// lose notes that an execution ended at a time or later, and that nobody told how.
func (f *fold) lose(s *span, end int64) {
	s.end, s.outcome, s.changed = end, unique.Make(outcomeUnknown), f.number
}

// loseOthers notes that of what an item is said to run only one execution can still do so.
func (f *fold) loseOthers(item int, current *jobtree.Execution) {
	for _, s := range f.line.spans {
		if int(s.item) == item && s.running() && (current == nil || !s.is(item, unique.Make(current.Instance), milliseconds(current.Begin))) {
			f.lose(s, f.now.UnixMilli())
		}
	}
}

// settle looks at what is said to run in a state: an execution without its mark was cut off.
func (f *fold) settle(state *jobtree.State) {
	for _, s := range f.line.spans {
		if !s.running() {
			continue
		}
		it := state.Item(int(s.item))
		marked := it.Running.Exists()
		switch {
		case marked == (s.cut == 0):
		case marked:
			s.cut, s.changed = 0, f.number
		default:
			s.cut, s.changed = f.now.UnixMilli(), f.number
		}
	}
}

func decodeRecord(n registry.Node) (jobtree.Record, bool) {
	if !n.Exists() {
		return jobtree.Record{}, false
	}
	record, err := jobtree.DecodeRecord(n)
	return record, err == nil
}

func number(item int32) *int {
	n := int(item)
	return &n
}

// fold takes what changed over into the timelines.
func (h *Hub) fold(now time.Time, news news, before, after *operate.Namespace, first bool) {
	folds := make(map[string]*fold, len(news.changed))
	for name := range news.changed {
		state, exists := after.State(name)
		j := h.jobs[name]
		if !exists {
			if j != nil {
				h.size -= j.line.size
				delete(h.jobs, name)
			}
			continue
		}
		if j == nil {
			j = &jobLive{line: &timeline{}}
			h.jobs[name] = j
		}
		f := &fold{line: j.line, now: now, number: h.number, first: first, minutes: h.minutes}
		folds[name] = f
		h.size -= j.line.size
		if old, had := before.State(name); had {
			f.compare(old, state)
		}
		if first || news.skipped {
			f.all(news.snapshot, state)
		}
	}
	for _, c := range news.changes {
		if f := folds[c.name.Job]; f != nil {
			f.change(c.name, c.change)
		}
	}
	for name, f := range folds {
		state, _ := after.State(name)
		f.settle(state)
		f.line.forget(now)
		h.size += f.line.size
	}
	h.keepWithin()
}

// all takes over what a state says of all items, when the changes that led to it are not known.
func (f *fold) all(s registry.Snapshot, state *jobtree.State) {
	known := f.first
	f.first = true // so that nothing old is noted as new
	for item := range state.Items() {
		if n := s.Get(state.Tree().ItemRecord(item)); n.Exists() {
			f.record(item, registry.Change{New: n})
			if !known {
				f.loseOthers(item, state.Item(item).Record.Value.Current)
			}
		}
	}
	if n := s.Get(state.Tree().Operated()); n.Exists() && known {
		f.operated(registry.Change{New: n})
	}
	f.first = known
}
