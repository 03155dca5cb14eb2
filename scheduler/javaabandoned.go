package scheduler

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
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

// claimAbandoned claims what nobody else would for long. A Java leader that is asked for a resharding is no
// hindrance: it waits for what runs, and Java leaves an item alone that is claimed.
func (s *shared) claimAbandoned() {
	r := s.runner
	if len(r.state.FailoverItems) == 0 {
		s.waiting = nil
		return
	}
	if !r.settings.ok || !r.settings.config.Failover || !r.tokens.known || !r.serverEnabled() || r.state.JavaAssigns() {
		return
	}
	s.noteWishes()
	candidates := r.candidates()
	for _, n := range r.state.FailoverItems {
		if s.claiming {
			return // what comes of that has the next one considered
		}
		it := r.items[n]
		if !failover.Claimable(r.state, n) || it != nil && (it.running != nil || r.applied < it.wrote) {
			continue
		}
		if wait := s.holdBackClaim(n, candidates) - time.Since(s.waiting[n].since); wait > 0 {
			r.alarm.Set(wait)
			continue
		}
		r.proposeClaim(&round{id: rand.Text()[:12], now: r.s.now()}, &item{number: n})
	}
}

// noteWishes notes since when items wait for a claimant.
func (s *shared) noteWishes() {
	waiting := make(map[int]wish, len(s.runner.state.FailoverItems))
	for _, n := range s.runner.state.FailoverItems {
		revision := int64(s.runner.state.Item(n).FailoverItem)
		known, ok := s.waiting[n]
		if !ok || known.revision != revision {
			known = wish{revision: revision, since: time.Now()}
		}
		waiting[n] = known
	}
	s.waiting = waiting
}

// candidates lists the instances of ours that may claim.
func (r *runner) candidates() []string {
	var ids []string
	for _, i := range r.state.Instances {
		if !jobtree.JavaInstance(i.ID) && r.state.Enabled(i.ID) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// holdBackClaim returns how long this instance leaves an item to others: to its owner, if that is one of
// ours, and else to the candidates before this one, of which another one is the first for each item.
func (s *shared) holdBackClaim(n int, candidates []string) time.Duration {
	owner, me := s.runner.state.Owner(n), s.runner.s.instance
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
