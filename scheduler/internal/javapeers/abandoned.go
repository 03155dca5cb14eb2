package javapeers

import (
	"iter"
	"slices"
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	// claimStep sets those apart who may claim an item that its owner does not claim.
	claimStep = 500 * time.Millisecond
	// claimSteps bounds how long the last of them holds back.
	claimSteps = 10
	// ownerPatience is how long an owner of ours may take to claim its item.
	ownerPatience = 5 * time.Second
)

// abandoned are lost executions that wait for somebody to run them again. As a rule it is the item's owner
// that does so, and the leader sees to it that there is one. A Java leader does that in its own next round,
// which may be a day away, and a Java owner looks for them at the end of its next one. So the others of
// ours step in.
type abandoned struct {
	waiting map[int]wish // by item
}

// wish is an item's wish for a claimant.
type wish struct {
	revision int64
	since    time.Time // when it was seen first
}

// Claims implements [peers.Executors]: it yields what nobody else would claim for long. A Java leader that is
// asked for a resharding is no hindrance: it waits for what runs, and Java leaves an item alone that is claimed.
func (s *java) Claims(v room.View, busy func(item int) bool) iter.Seq[int] {
	return func(yield func(int) bool) { s.claims(v, busy, yield) }
}

func (s *java) claims(v room.View, busy, yield func(item int) bool) {
	if !v.Usable || !v.Config.Failover || !v.TokensKnown || !v.ServerEnabled() || v.State.JavaAssigns() {
		return
	}
	s.noteWishes(v)
	candidates := candidates(v)
	for _, n := range v.State.FailoverItems {
		if !failover.Claimable(v.State, n) || busy(n) {
			continue
		}
		if wait := s.holdBackClaim(v, n, candidates) - time.Since(s.waiting[n].since); wait > 0 {
			s.ports.Wake(wait)
			continue
		}
		if !yield(n) {
			return
		}
	}
}

// noteWishes notes since when items wait for a claimant.
func (s *java) noteWishes(v room.View) {
	waiting := make(map[int]wish, len(v.State.FailoverItems))
	for _, n := range v.State.FailoverItems {
		revision := int64(v.State.Item(n).FailoverItem)
		known, ok := s.waiting[n]
		if !ok || known.revision != revision {
			known = wish{revision: revision, since: time.Now()}
		}
		waiting[n] = known
	}
	s.waiting = waiting
}

// candidates lists the instances of ours that may claim.
func candidates(v room.View) []string {
	var ids []string
	for _, i := range v.State.Instances {
		if !jobtree.JavaInstance(i.ID) && v.State.Enabled(i.ID) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// holdBackClaim returns how long this instance leaves an item to others: to its owner, if that is one of
// ours, and else to the candidates before this one; each item has another candidate as its first.
func (s *java) holdBackClaim(v room.View, n int, candidates []string) time.Duration {
	owner, me := v.State.Owner(n), v.Instance
	if owner == me {
		return 0
	}
	place := slices.Index(candidates, me) - n%len(candidates)
	if place < 0 {
		place += len(candidates)
	}
	wait := time.Duration(min(place, claimSteps)) * claimStep
	if slices.Contains(candidates, owner) {
		wait += ownerPatience
	}
	return wait
}
