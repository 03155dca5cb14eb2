package javapeers

import (
	"cmp"
	"sync"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// past is what was seen of the owners that items had.
type past struct {
	away
	lag
	begun  bool                      // a state was seen
	former map[int]string            // owners of items before their present ones
	unsure map[int]registry.Revision // up to when an item was a Java instance's, or nobody here knows whose it was
	// blocked tells that a resharding was asked for under a Java leader, or under way, at the last tick, and still is. No Java
	// instance began anything for it: they wait until that is over, and then run the items that they have got.
	blocked bool
	ticked  registry.Revision // of the state at that tick
	busy    map[string]bool   // Java instances that ran something then
	theirs  map[int]bool      // the items that they ran
	waited  map[int]bool      // items that such a resharding gave to others: to an instance of ours; false is to a Java instance
}

// tick takes in that a fire has come.
func (s *java) tick(v room.View) {
	s.blocked, s.waited, s.fired = v.State.JavaReshards(), nil, true
	if !s.blocked {
		return
	}
	s.ticked, s.busy, s.theirs = v.Applied, make(map[string]bool), make(map[int]bool)
	for item := range v.State.Items() {
		m := v.State.Item(item).Running
		mark := registry.Node{Value: m.Value, Session: m.Session, Created: m.Created, Revision: m.Revision}
		if s.javas(mark) {
			s.theirs[item], s.busy[s.runnerOf(v, mark, item)] = true, true
		}
	}
}

// waits tells whether a Java instance waited in the round of the last tick: it was there, and ran nothing.
func (s *past) waits(v room.View, instance string) bool {
	created := v.State.Instance(instance).Created
	return created != 0 && created <= s.ticked && !s.busy[instance]
}

// noteOwners notes which items a step gives to others. The state is the one before it.
func (s *past) noteOwners(v room.View, step registry.Step) {
	shown := sync.OnceValue(func() time.Time { return s.shownUpTo(v) })
	s.noteSession(v, shown)
	defer s.noteBack(v, step)
	s.blocked = s.blocked && (v.State.JavaReshards() || v.State.Necessary != 0)
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if !ok || name.Kind != jobtree.KindItemInstance {
			continue
		}
		n, was, is := name.Item, change.Old.Value, change.New.Value
		if was != "" && was != is {
			s.former[n] = was
		}
		mine := cmp.Or(was, s.former[n]) == v.Instance // where an assignment is written in parts, a step takes it away before
		theirs := s.during(change) && s.noteMove(v, step, n, mine, change) ||
			!s.during(change) && mine && s.noteUnheard(v, step, n, is, shown)
		if !s.begun || theirs || jobtree.JavaInstance(is) || jobtree.JavaInstance(was) {
			s.unsure[n] = cmp.Or(change.New.Revision, step.Snapshot.Revision())
		}
		switch {
		case theirs: // what waited for that is not known
			delete(s.waited, n)
		case is != "":
			s.noteSuccessor(v, n, is)
		}
	}
	s.begun = true
}

// noteSuccessor notes to whom the resharding for which Java instances wait gives an item.
func (s *past) noteSuccessor(v room.View, item int, instance string) {
	ours := !jobtree.JavaInstance(instance)
	if !s.blocked || ours && s.theirs[item] || !ours && !s.waits(v, instance) {
		delete(s.waited, item)
		return
	}
	if s.waited == nil {
		s.waited = make(map[int]bool)
	}
	s.waited[item] = ours
}

// PastKnown implements [peers.Executors]: the former owner wrote the item's record, and no Java instance has had the item
// since; or nobody ran it for the newest tick, because every Java instance waited for the resharding by which it came.
func (s *past) PastKnown(node jobtree.Item) bool {
	if s.waited[node.Number] {
		return true
	}
	owner, last := s.former[node.Number], node.Record.Value.Current
	return owner != "" && last != nil && last.Instance == owner &&
		cmp.Or(registry.Revision(last.Token), node.Record.Revision) > s.unsure[node.Number]
}

// Successor implements [peers.Executors]: while a Java leader assigns items they have no owners, and one that waits for what
// runs here may give it to another then. The Java instances that waited for that run what they have got for the fire in
// whose round they waited.
func (s *past) Successor(v room.View, item int) (unsettled, runsNewest bool) {
	ours, waited := s.waited[item]
	if v.State.Owner(item) == "" {
		unsettled = v.State.JavaAssigns() || s.blocked && v.State.Necessary != 0
	} else {
		unsettled = v.Owns(item) && s.blocked && v.State.JavaReshards()
	}
	return unsettled, waited && !ours
}

// Unnamed implements [peers.Executors]: a note of Java's says that an item missed fires and not which.
func (s *java) Unnamed(v room.View, node jobtree.Item) []time.Time {
	if !node.Misfire.Exists() || !node.Misfire.Value.Newest().IsZero() {
		return nil
	}
	return missedByJava(v, node.Record.Value.LastFire)
}

// longestLook is how far fires are looked back for.
const longestLook = 366 * 24 * time.Hour

// missedByJava returns the fire that stands for those that an item missed by a note of Java's, which
// says that there were some and not which: the newest one since it ran.
func missedByJava(v room.View, ran time.Time) []time.Time {
	now := v.Clock.Now()
	from := now.Add(-longestLook)
	if ran.After(from) {
		from = ran
	}
	if fire := cronexpr.Last(v.Rules.Schedule, from, now); !fire.IsZero() {
		return []time.Time{fire}
	}
	return nil
}
