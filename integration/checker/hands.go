package checker

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// deed is what a careless hand did to a node.
type deed struct {
	Incident
	name  jobtree.Name
	known bool      // the path names a node
	until time.Time // from when on the cluster has recovered
}

// hands are all that careless hands did, in any order.
type hands []deed

// healing is what the cluster may take to put right what a careless hand did.
func (j *judge) healing() time.Duration { return j.rules.TTL + j.rules.Settle + j.rules.Detect }

func (j *judge) handsOf(incidents []Incident) hands {
	var all hands
	for _, i := range incidents {
		if i.Kind == Tampered {
			name, known := jobtree.Parse(i.Path)
			i.From = i.From.Add(-j.jitter())
			all = append(all, deed{i, name, known, i.until().Add(j.healing() + j.rules.Skew)})
		}
	}
	return all
}

// concerns tells whether a deed may be the reason for what is wrong with an item.
func (d deed) concerns(item int) bool {
	return item == NoItem || !d.known || !ofItem(d.name.Kind) || d.name.Item == item
}

func ofItem(kind jobtree.Kind) bool {
	switch kind {
	case jobtree.KindItem, jobtree.KindItemInstance, jobtree.KindItemRunning, jobtree.KindItemFailover, jobtree.KindItemMisfire,
		jobtree.KindItemDisabled, jobtree.KindItemRecord, jobtree.KindItemNext, jobtree.KindItemAside, jobtree.KindFailoverItem,
		jobtree.KindItemStarted, jobtree.KindItemCompleted, jobtree.KindOffset:
		return true
	default:
		return false
	}
}

// near tells whether the cluster may still be dealing with a deed that concerns an item.
func (h hands) near(at time.Time, item int) bool {
	return slices.ContainsFunc(h, func(d deed) bool { return d.concerns(item) && !at.Before(d.From) && !at.After(d.until) })
}

// deeds counts the nodes that hands wrote to within a time and that concern an item.
func (h hands) deeds(item int, from, until time.Time) int {
	paths := make(map[string]bool)
	for _, d := range h {
		if d.concerns(item) && !d.From.After(until) && !d.until.Before(from) {
			paths[d.Path] = true
		}
	}
	return len(paths)
}

// touched tells whether a hand wrote to a node of one of the kinds within a time.
func (h hands) touched(item int, from, until time.Time, kinds ...jobtree.Kind) bool {
	return slices.ContainsFunc(h, func(d deed) bool {
		return d.concerns(item) && slices.Contains(kinds, d.name.Kind) && !d.From.After(until) && !d.until.Before(from)
	})
}

// wrote tells whether it was a hand that wrote a revision of a node.
func (h hands) wrote(path string, revision registry.Revision) bool {
	return slices.ContainsFunc(h, func(d deed) bool { return d.Path == path && d.Revision == revision })
}

// ghost tells whether an instance is a node that a hand created and no session holds. There is no process behind it, or
// one that has yet to take it back, and it stays until somebody leads. One that anybody else created is not excused so,
// whatever hands did to the nodes that were there before it.
func (h hands) ghost(s *jobtree.State, i jobtree.Instance) bool {
	return i.Created != 0 && i.Session == 0 && h.wrote(s.Tree().Instance(i.ID), i.Created)
}

// mayOwn tells whether an instance may be given items, and is no ghost.
func (h hands) mayOwn(s *jobtree.State, i jobtree.Instance) bool {
	return s.MayOwn(i) && !h.ghost(s, i)
}

// made tells whether a step was the commit of a hand, which wrote all that it changes. What a commit finds as it wants it
// is no step of its own: its revision is that of the step before, which may have changed the same node and others.
func (h hands) made(at time.Time, step registry.Step) bool {
	return len(step.Changes) > 0 && !slices.ContainsFunc(step.Changes, func(c registry.Change) bool {
		return !slices.ContainsFunc(h, func(d deed) bool {
			return d.Path == c.Path() && d.Revision == step.Snapshot.Revision() && !at.Before(d.From)
		})
	})
}

// tampered notes what a hand's commit did to the execution of an item. It is over as far as the record
// tells if that is not the one that its begin wrote any more; its code may go on.
func (j *judge) tampered(at time.Time, n int) {
	was, is := j.before.Item(n), j.now.Item(n)
	open := j.open[n]
	wrote := was.Record.Revision != is.Record.Revision
	j.untold[n] = j.untold[n] || wrote
	if wrote {
		j.forgotten[n] = append(j.forgotten[n], at)
	}
	if was.Record.Err == nil && is.Record.Err != nil {
		j.spoilt[n] = at
	}
	if open == nil {
		return
	}
	if was.Running.Created == open.token && is.Running.Created != open.token {
		open.tampered, open.unmarked = true, at
	}
	if wrote {
		open.tampered, open.closed = true, at
		delete(j.open, n)
		if is.Running.Created == open.token {
			j.unrecorded[n] = open
		}
	}
	open.tampered = open.tampered || was.Running.Created != is.Running.Created
}

// noteFeigned notes from when to when records that hands wrote say that items run. Nothing does, until somebody has found
// that out.
func (j *judge) noteFeigned(state State, items []int) {
	for _, n := range items {
		record := j.now.Item(n).Record
		if record.Revision == j.before.Item(n).Record.Revision {
			continue
		}
		all := j.feigned[n]
		if last := len(all) - 1; last >= 0 && all[last].until.Equal(j.End) {
			all[last].until = state.At
		}
		if record.Err == nil && record.Value.State == jobtree.ItemRunning && j.hands.made(state.At, state.Step) {
			j.feigned[n] = append(all, span{state.At, j.End})
		}
	}
}

// noteOrphans notes which executions whose marks a hand took nothing shows any more.
func (j *judge) noteOrphans(at time.Time) {
	for n, e := range j.open {
		if !e.unmarked.IsZero() && e.orphaned.IsZero() && !j.onlyUnmarked(n) {
			e.orphaned = at
		}
	}
}

// unmarked returns the times for which something ran on an instance whose mark a hand had taken. Nothing but the
// instance shows then that it is not lost, so an instance that leaves stays for as long. It has an end recorded as soon as it
// can.
func (j *judge) unmarked(instance string) spans {
	trouble := j.during(instance, j.rules.Settle+j.rules.Detect, Cut, Paused, Slow, Down, Expired, Lost, Denied, Paced)
	var all spans
	for _, executions := range j.byItem {
		for _, e := range executions {
			if e.unmarked.IsZero() || e.instance() != instance {
				continue
			}
			until := j.End
			switch {
			case !e.closed.IsZero():
				until = e.freed()
			case e.run != nil && !e.run.Ended.IsZero():
				until, _ = trouble.room(maxTime(e.run.Ended, e.unmarked), j.End, j.rules.Settle)
			}
			for _, i := range j.Incidents {
				if i.Kind == Crashed && i.Instance == instance && i.From.After(e.unmarked) && i.From.Before(until) {
					until = i.From
				}
			}
			all = append(all, span{e.unmarked, until.Add(j.rules.Settle)})
		}
	}
	return all
}

// onlyUnmarked tells whether the execution of an item lacks no more than its mark, which a hand took: its
// instance lives.
func (j *judge) onlyUnmarked(n int) bool {
	e := j.open[n]
	return e != nil && e.tampered && j.now.Instance(e.instance()).Session == e.begun.Current.Session
}
