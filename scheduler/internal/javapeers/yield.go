package javapeers

import (
	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// yield proposes to leave to Java those executions of ours that Java instances run again.
func (s *java) yield(v room.View) room.Batch {
	var batch room.Batch
	for _, item := range s.taken.Take(v.State.Items()) {
		if !failover.TakenOver(v.State, item) && !s.Taken(v, item) {
			continue
		}
		txn, err := failover.Yield(v.State, item, v.Clock.Now())
		if err != nil {
			s.ports.Log().ErrorContext(s.ports.Life(), "cannot leave an execution to Java", room.KeyItem, item, room.KeyError, err)
			continue
		}
		batch.Add("leave to Java", txn, func(registry.Outcome) {
			s.ports.Log().InfoContext(s.ports.Life(), "a Java instance runs a lost execution again", room.KeyItem, item)
		})
	}
	return batch
}

// claimedWhile are the items that Java instances have claimed whose records said that they ran on instances that were gone, by
// the revisions of these. A claim may come and go, with the run that it was for, before anything is decided here.
type claimedWhile map[int]registry.Revision

// note takes in the claims of a step. The state is the one before it.
func (c *claimedWhile) note(v room.View, step registry.Step) {
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if !ok || name.Kind != jobtree.KindItemFailover || !jobtree.JavaInstance(change.New.Value) {
			continue
		}
		record := v.State.Record(name.Item)
		if run := record.Value.Current; record.Value.State == jobtree.ItemRunning && v.State.Instance(run.Instance).Session != run.Session {
			if *c == nil {
				*c = make(claimedWhile)
			}
			(*c)[name.Item] = record.Revision
		}
	}
}

// Taken implements [peers.Executors]: Java claims what it finds lost, and its claim ends with the run that it was for.
func (s *java) Taken(v room.View, item int) bool {
	record, claimed := s.claimed[item]
	if claimed && v.State.Record(item).Revision != record {
		delete(s.claimed, item)
		return false
	}
	return claimed && failover.Lost(v.State, item)
}
