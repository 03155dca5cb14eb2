package barrier

import (
	"cmp"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Missing tells whether an awaited item keeps a barrier from being complete. horizon is the latest fire
// that a clock in order can have ticked; zero is not known.
func Missing(s *jobtree.State, p jobtree.Phase, item int, horizon time.Time) bool {
	it := s.Item(item)
	if it.Record.Err != nil {
		return true // nothing is known, and it does not run until that is
	}
	key, record := s.Barrier(p).Round.Value.Key(), it.Record.Value
	if !began(record, key, horizon) {
		return !excused(s, it)
	}
	if p == jobtree.PhaseStarted || !ofRound(record.Current, key) {
		return false
	}
	switch record.State {
	case jobtree.ItemRunning:
		return true
	case jobtree.ItemWaiting:
		return s.Config.Value.Failover && !excused(s, it)
	default:
		return false
	}
}

// began tells whether an item began for the round, or for a later one of its kind: then it never
// begins for this one any more, as a missed fire's run stands for those before it.
func began(record jobtree.Record, key jobtree.RoundKey, horizon time.Time) bool {
	if key.Manual() {
		return record.Trigger >= key.Trigger
	}
	return !record.LastFire.Before(key.Fire) && !record.FireAhead(horizon)
}

// excused tells whether an item cannot begin as things are.
func excused(s *jobtree.State, it jobtree.Item) bool { return it.Disabled || it.Number >= s.Total() }

// ofRound tells whether an execution belongs to the round, or to one before it.
func ofRound(e *jobtree.Execution, key jobtree.RoundKey) bool {
	if e == nil {
		return false
	}
	if key.Manual() {
		return e.ByHand()
	}
	return !e.ByHand() && !e.Fire.After(key.Fire)
}

// Failed lists the awaited items whose execution in the barrier's round did not succeed, as far as
// their records still tell. Who did not run in it, because it was disabled meanwhile, has not failed in it.
func Failed(s *jobtree.State, p jobtree.Phase) []int {
	b := s.Barrier(p).Round.Value
	var failed []int
	for _, n := range b.Items {
		record := s.Record(n).Value
		e := record.Current
		if previous, ok := record.Previous(); ok && !ranIn(record.Trigger, e, b.Key()) {
			e = &previous
		}
		if ranIn(record.Trigger, e, b.Key()) && e.Outcome != "" && e.Outcome != jobtree.Success {
			failed = append(failed, n)
		}
	}
	return failed
}

// ranIn tells whether an execution is one of the very round, and its code was called. newest is the last request by hand of
// its record, which is meant where the execution names none.
func ranIn(newest registry.Revision, e *jobtree.Execution, key jobtree.RoundKey) bool {
	switch {
	case e == nil || e.Outcome == jobtree.NotStarted || e.ByHand() != key.Manual():
		return false
	case key.Manual():
		return cmp.Or(e.Trigger, newest) == key.Trigger
	default:
		return e.Fire.Equal(key.Fire)
	}
}
