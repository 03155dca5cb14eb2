package jobtree

import (
	"errors"
	"slices"
	"strconv"

	"github.com/elasticron/elasticron/registry"
)

// ErrNotFollowed is the error of the record of an item that a [State] does not follow: it says nothing of whether the
// item runs or has run.
var ErrNotFollowed = errors.New("the item is not followed here")

// narrow says of a state which items it follows.
type narrow struct {
	known  map[int]bool      // those of which all nodes are followed; nil = all are
	regain []int             // those that are followed again, from the next step on
	epoch  registry.Revision // of the assignment that the owners of the others are of
}

// Narrow takes in that from now on only some items are followed, beside all nodes that belong to no item. Of the
// others the state keeps, as it stands, who owns them, which are disabled, and their checkpoints. How they run is
// forgotten, and touches nothing.
//
// The steps that follow may say nothing of the others.
func (s *State) Narrow(items []int) {
	known := make(map[int]bool, len(items))
	for _, n := range items {
		known[n] = true
	}
	s.rest().narrow = &narrow{known: known, epoch: s.Epoch.Revision}
	for n := range s.items {
		if nodes := s.items.get(n); !known[n] {
			nodes.running, nodes.failover, nodes.claimed, nodes.misfire, nodes.record = nil, nil, nil, nil, nil
		}
	}
	s.items = s.items.trimmed()
}

// Widen takes in that all items are followed again. The next step must say all that is new since [Regained]. It touches
// each item that was not followed, whether or not there is anything to say of it.
func (s *State) Widen() {
	if s.KnowsAll() {
		return
	}
	narrow := s.few.narrow
	for n := range s.Total() {
		if !narrow.known[n] {
			narrow.regain = append(narrow.regain, n)
		}
	}
	narrow.known = nil
}

// regained returns the items that are followed again from this step on.
func (s *State) regained() []int {
	narrow := valueOf(s.few).narrow
	if narrow == nil || narrow.known != nil {
		return nil
	}
	s.few.narrow = nil
	s.settleRest()
	return narrow.regain
}

// Knows tells whether all nodes of an item are followed.
func (s *State) Knows(item int) bool { return s.KnowsAll() || s.few.narrow.known[item] }

// KnowsAll tells whether all items are followed.
func (s *State) KnowsAll() bool {
	narrow := valueOf(s.few).narrow
	return narrow == nil || narrow.known == nil
}

// Outdated tells whether some owners are those of a former assignment: another one has come into force since the state was
// narrowed, and who owns what is not followed shows with the next step after [State.Widen].
func (s *State) Outdated() bool {
	narrow := valueOf(s.few).narrow
	return narrow != nil && narrow.epoch != s.Epoch.Revision
}

// Narrowed splits what a view of a whole job shows into what one that is narrowed to parts would, and what a state
// keeps beside that when it is narrowed.
func Narrowed(whole registry.Snapshot, parts []registry.Part) (seen registry.Snapshot, kept []registry.Node) {
	outside := registry.Outside(parts)
	var inside []registry.Node
	for n := range whole.All() {
		if !outside(n.Path) {
			inside = append(inside, n)
			continue
		}
		switch name, _ := Parse(n.Path); name.Kind {
		case KindItemInstance, KindItemNext, KindItemDisabled, KindOffset:
			kept = append(kept, n)
		default:
		}
	}
	return registry.NewSnapshot(whole.Revision(), inside), kept
}

// Regained returns what a narrowed state knows: what its view shows, and what it kept when it was narrowed.
func Regained(seen registry.Snapshot, kept []registry.Node) registry.Snapshot {
	return registry.NewSnapshot(seen.Revision(), slices.AppendSeq(slices.Clone(kept), seen.All()))
}

// Parts are what a view shows of a job of which it follows some items: these, with their checkpoints, and all nodes
// that belong to no item. checkpoints tells whether the others' checkpoints are left out, too: where there are none,
// following them costs nothing.
func (t Tree) Parts(items []int, checkpoints bool) []registry.Part {
	names := make([]string, len(items))
	for i, n := range items {
		names[i] = strconv.Itoa(n)
	}
	parts := []registry.Part{{Folder: t.Sharding(), Only: names}}
	if checkpoints {
		parts = append(parts, registry.Part{Folder: t.Offsets(), Only: names})
	}
	return parts
}
