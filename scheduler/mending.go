package scheduler

import (
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/mending"
)

// mend puts right what no live session answers for.
func (r *runner) mend() { r.commit(r.mending.Decide(r.look())) }

// clearOrphans ends executions that are marked as running under the present session and that nobody runs.
func (r *runner) clearOrphans() {
	v := r.look()
	r.commit(r.mending.Orphans(v, func(n int) bool { return r.rounds.Idle(v, n) }))
}

// mendingPorts is what the room that puts the job's tree right may ask beside.
type mendingPorts struct{ ports }

var _ mending.Ports = mendingPorts{}

// Snapshot implements [mending.Ports]: what the state was made of. The view itself may not show it yet.
func (p mendingPorts) Snapshot() registry.Snapshot { return p.runner().snapshot }

func (p mendingPorts) Held(id registry.SessionID) bool { return p.runner().membership.Held(id) }
