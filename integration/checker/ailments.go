package checker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// ailment is something that is not as it should be, and may be so only for a moment.
type ailment struct {
	guarantee Guarantee
	item      int
	text      string
	instance  string    // that may be so for as long as something runs there unmarked; empty = none may
	ends      time.Time // when the request that is not answered ends; zero = it is about none
	over      time.Time // when it is over though nothing of the tree changes; zero = it is not
}

// ailments are those that are there now, by when they began.
type ailments map[ailment]time.Time

// examine looks for ailments of the present state, which came to be at a moment, and judges those
// that are over.
func (j *judge) examine(at time.Time) {
	found := make(ailments)
	s := j.now
	if len(s.Instances) > 0 {
		j.examineAssignment(found, at)
	}
	for _, i := range s.Instances {
		if i.Shutdown && !j.hands.ghost(s, i) {
			found[ailment{guarantee: NoStall, item: NoItem, text: i.ID + " was told to leave and stays", instance: i.ID}] = time.Time{}
			if s.Leader.Instance == i.ID {
				found[ailment{guarantee: NoStall, item: NoItem, text: i.ID + " was told to leave and leads"}] = time.Time{}
			}
		}
	}
	for _, a := range j.sortedAilments() {
		if _, still := found[a]; !still {
			j.judgeAilment(a, at)
			delete(j.ailments, a)
		}
	}
	if j.ailments == nil {
		j.ailments = make(ailments)
	}
	for a := range found {
		if _, known := j.ailments[a]; !known {
			j.ailments[a] = at
		}
	}
}

// examineEnd judges the ailments that were never cured, and those of processes.
func (j *judge) examineEnd() {
	for _, a := range j.sortedAilments() {
		j.judgeAilment(a, j.End)
	}
	for _, instance := range j.instances() {
		j.judgePresence(instance)
	}
}

func (j *judge) sortedAilments() []ailment {
	return slices.SortedFunc(maps.Keys(j.ailments), func(a, b ailment) int {
		if a.item != b.item {
			return a.item - b.item
		}
		return int(a.guarantee) - int(b.guarantee)
	})
}

// judgeAilment finds fault with an ailment that lasted longer than a change excuses.
func (j *judge) judgeAilment(a ailment, until time.Time) {
	since := j.ailments[a]
	if !a.over.IsZero() && a.over.Before(until) {
		until = a.over
	}
	excused := j.excused
	if a.guarantee == NothingForgotten {
		excused = slices.Concat(excused, j.lingering(a.item), j.patience()).merge()
	}
	if !a.ends.IsZero() {
		if ends := a.ends.Add(-j.rules.Skew - j.jitter()); ends.Before(until) {
			until = ends
		}
		excused = slices.Concat(excused, j.lingering(a.item), j.patience(), j.byWrongClocks(a.item), j.ranWithoutRecord(a.item)).merge()
	}
	if a.instance != "" {
		excused = slices.Concat(excused, j.unmarked(a.instance)).merge()
	}
	if at, bad := excused.gap(since.Add(j.rules.Settle), until); bad {
		j.find(a.guarantee, at, a.item, fmt.Sprintf("%s since %s, until %s", a.text, clock(since), clock(until)))
	}
}

// lingering returns the times for which cancelled code of an item went on, and a moment more. A process
// begins no item whose code has not returned to it, whatever the registry says of it; that ends when the
// code returns, or the process dies.
func (j *judge) lingering(n int) spans {
	var all spans
	for i := range j.Runs {
		r := &j.Runs[i]
		if told := r.told(); r.Context.Item == n && !told.IsZero() && !r.Ended.IsZero() {
			all = append(all, span{told, r.Ended.Add(j.rules.Settle)})
		}
	}
	return all
}

// patience returns the times for which processes that lost their sessions wait for each other: a third of
// the TTL after each has heard that it has joined again, in which what others finished meanwhile is not declared lost.
func (j *judge) patience() spans {
	if j.patient != nil {
		return j.patient
	}
	wait := j.rules.TTL/3 + j.rules.Settle + j.rules.Detect
	j.patient = spans{}
	for _, i := range j.Incidents {
		switch i.Kind {
		case Cut, Paused, Slow, Down, Expired, Lost, Denied: // it may take its former session up again
			j.patient = append(j.patient, span{i.until(), i.until().Add(wait)})
		}
	}
	before := make(map[string]bool)
	for _, state := range j.States {
		for _, c := range state.Step.Changes {
			name, ok := jobtree.Parse(c.Path())
			if !ok || name.Kind != jobtree.KindInstance || c.Old.Created == c.New.Created || !c.New.Exists() {
				continue
			}
			if before[name.Key] {
				heard := state.At
				for _, held := range j.during(name.Key, 0, Held) {
					if held.from.After(heard) {
						break
					}
					heard = maxTime(heard, held.until)
				}
				j.patient = append(j.patient, span{state.At, heard.Add(wait)})
			}
			before[name.Key] = true
		}
	}
	j.patient = j.patient.merge()
	return j.patient
}

// examineAssignment looks at leader, assignment, debts and ghosts as they are from a moment on. There is somebody to care
// for them only while an instance is there that is enabled, was not asked to leave and is no ghost itself.
func (j *judge) examineAssignment(found ailments, at time.Time) {
	s, now := j.now, time.Time{}
	serves := func(i jobtree.Instance) bool { return j.serves(i, at) }
	if !slices.ContainsFunc(s.Instances, serves) || s.Config.Err != nil || s.Config.Revision == 0 {
		return
	}
	if s.Leader.Created == 0 {
		found[ailment{guarantee: NoStall, item: NoItem, text: "there is no leader"}] = now
	}
	for _, i := range s.Instances {
		if j.hands.ghost(s, i) {
			found[ailment{guarantee: NoLeftovers, item: NoItem, text: i.ID + " is registered and no session holds it"}] = now
		}
	}
	if s.Necessary != 0 {
		found[ailment{guarantee: NoStall, item: NoItem, text: "a request for a resharding is not answered"}] = now
	}
	asked := s.Triggered()
	for _, n := range s.Pending(at) {
		if j.unmonitored(j.timeOf(asked.Revision), at) {
			break // no record says for what an item ran
		}
		if it := s.Item(n); !it.Running.Exists() && it.Record.Value.State != jobtree.ItemRunning && it.Record.Value.State != jobtree.ItemWaiting {
			text := fmt.Sprintf("the item is asked for by request %d and does not run", asked.Revision)
			found[ailment{guarantee: NoStall, item: n, text: text, ends: asked.Value.Until}] = now
		}
	}
	total := s.Config.Value.ShardingTotalCount
	if s.Total() != total {
		found[ailment{guarantee: NoStall, item: NoItem, text: fmt.Sprintf("the assignment is of %d items and not of %d", s.Total(), total)}] = now
	}
	for n := range total {
		item := s.Item(n)
		if item.Disabled {
			continue
		}
		owner := s.Owner(n)
		if i := s.Instance(owner); i.Created == 0 || !j.hands.mayOwn(s, i) {
			found[ailment{guarantee: NoStall, item: n, text: fmt.Sprintf("the item belongs to %q, which cannot run it,", owner)}] = now
		} else if refusal := j.refusal(owner, at); refusal != nil {
			text := fmt.Sprintf("the item belongs to %q, which refuses the settings,", owner)
			found[ailment{guarantee: NoStall, item: n, text: text, over: refusal.until()}] = now
		}
		if item.Record.Value.State == jobtree.ItemRunning && !item.Running.Exists() && !j.onlyUnmarked(n) {
			found[ailment{guarantee: NothingForgotten, item: n, text: "a lost execution is not declared as lost"}] = now
		}
		if item.Record.Value.State == jobtree.ItemWaiting && s.Config.Value.Failover && !item.Running.Exists() {
			found[ailment{guarantee: NothingForgotten, item: n, text: "a lost execution waits to be run again"}] = now
		}
	}
}
