package rounds

import (
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// Hooks are the hooks for whole rounds, of which a job may have none.
type Hooks interface {
	Open(v room.View, newest wholeround.Newest) room.Batch
	Any() bool
	Holds() bool
	Gate(held wholeround.Held) *wholeround.Gate
	Bound(gates []*wholeround.Gate)
	Forget(g *wholeround.Gate)
}

// shutGates makes a round's executions wait for the started hook, if the job has one.
func (r *Rounds) shutGates(v room.View, members []*executions.Execution) {
	hooks := r.ports.Hooks()
	if !hooks.Holds() || !wholeround.Together(v.Config, v.Rules) {
		return
	}
	var gates []*wholeround.Gate
	for _, e := range members {
		if !e.Monitored() {
			continue
		}
		gate := hooks.Gate(wholeround.Held{
			Record: e.Record, Item: e.Item,
			Opened: func() { r.executions.Opened(e) },
			Late: func() {
				r.ports.Log().WarnContext(r.ports.Life(), "item runs without the started hook: its round did not come together in time",
					room.KeyItem, e.Item, room.KeyFire, room.FireOf(e.Context.Fire))
			},
			Back: func() bool { return r.executions.GiveBack(e) },
		})
		if gate != nil {
			e.Wait, e.Forget = gate.Open, func() { hooks.Forget(gate) }
			gates = append(gates, gate)
		}
	}
	hooks.Bound(gates)
}
