package wholeround

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Newest names the rounds of the whole job to which executions that begin together belong: the newest fire, and
// the newest request by hand.
type Newest struct {
	fire    time.Time
	trigger registry.Revision
}

// Note notes an execution that is about to begin.
func (n *Newest) Note(record jobtree.Record) {
	if key := keyOf(record); key.Fire.IsZero() {
		n.trigger = max(n.trigger, key.Trigger)
	} else if key.Fire.After(n.fire) {
		n.fire = key.Fire
	}
}

func (n *Newest) keys() []jobtree.RoundKey {
	return []jobtree.RoundKey{{Fire: n.fire}, {Trigger: n.trigger}}
}

// Open proposes to open the barriers of a round, if none is open: in the same request, ahead of the begins.
// Several instances do that at once, and the first one's set counts.
func (r *Rounds) Open(v room.View, newest Newest) room.Batch {
	if r == nil || !Together(v.Config, v.Rules) {
		return nil
	}
	var opens room.Batch
	for _, g := range r.barriers {
		opens = append(opens, r.open(v, g.phase, newest.keys())...)
	}
	for i := range opens {
		opens[i].Optional = true
	}
	return opens
}

// open proposes to open a barrier for the first of some rounds for which it may be opened: one at a time. A round that has
// had one has no other, even if somebody has deleted or spoilt it by hand: its hook may have run.
func (r *Rounds) open(v room.View, p jobtree.Phase, keys []jobtree.RoundKey) room.Batch {
	for _, key := range keys {
		if !barrier.Opens(v.State, p, key) || r.of(p).last.Covers(key) {
			continue
		}
		before, clock := v.State.Barrier(p).Round.Value, v.Clock
		return room.Batch{{Step: "open a barrier", Txn: barrier.Open(v.State, p, key, clock.Now()), Apart: true, Done: func(registry.Outcome) {
			if before.Awaits() {
				r.ports.BarrierSettled(p, before.Settled(jobtree.BarrierReplaced, "", clock.Now()), nil)
			}
		}}}
	}
	return nil
}

// reopen proposes to open a barrier for a round that is under way and could have none at its begin, because
// the hook of the one before had not ended. It is the leader's, so that one alone writes. A round of which no record
// knows was one of the job before that was removed.
func (r *Rounds) reopen(v room.View, p jobtree.Phase) room.Batch {
	if !v.Leads() {
		return nil
	}
	under := Newest{fire: r.fire, trigger: r.trigger}
	opens := r.open(v, p, slices.DeleteFunc(under.keys(), func(key jobtree.RoundKey) bool {
		return barrier.Opens(v.State, p, key) && !recorded(v.State, key)
	}))
	for i := range opens {
		opens[i].Alone = true
	}
	return opens
}

// recorded tells whether an item has run in a round, or in a later one.
func recorded(s *jobtree.State, key jobtree.RoundKey) bool {
	for n := range s.Items() {
		record := s.Record(n).Value
		if key.Manual() && record.Trigger >= key.Trigger || !key.Manual() && !record.LastFire.Before(key.Fire) {
			return true
		}
	}
	return false
}
