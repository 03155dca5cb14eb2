package javapeers

import (
	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// yield proposes to leave to Java those executions of ours that Java instances run again.
func (s *java) yield(v room.View) room.Batch {
	var batch room.Batch
	for _, item := range s.taken.Take(v.State.Items()) {
		if !failover.TakenOver(v.State, item) {
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
