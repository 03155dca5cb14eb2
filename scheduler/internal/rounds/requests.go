package rounds

import (
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/requests"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Wants tells whether an item is still to be run for a request by hand.
func (r *Rounds) Wants(v room.View, n int, request registry.Revision) bool {
	node := v.State.Item(n)
	switch {
	case node.Disabled:
		return false
	case node.Record.Err != nil:
		// What has begun before the request is not for it. The end of what one of ours runs brings a record that tells, unless
		// that one is lost; what Java runs, and what a newer version wrote, holds the request for as long as its mark stands.
		return node.Running.Exists() && node.Running.Created < request
	}
	done := node.Record.Value.Trigger
	if it := r.items[n]; it != nil {
		if it.running != nil && it.running.Undo || it.wrote > v.Applied {
			return true // the record does not show yet that the begin is taken back
		}
		done = max(done, it.triggered)
	}
	return done < request
}

// requests returns the requests by hand that are open.
func (r *Rounds) requests(v room.View) requests.Open {
	return requests.Look(v, r.ports.Traits(), v.Clock.Now(), r.answered)
}

// Answer notes that nothing more is to run here for the triggered node, where records do not tell that: an item
// that comes here later has run for it elsewhere, or nobody knows.
func (r *Rounds) Answer(v room.View) {
	if !v.Usable || !v.State.Triggered().Exists() {
		return
	}
	open := r.requests(v)
	if open.Node() == 0 || !open.Each() || !v.Settled() {
		return
	}
	for _, n := range r.owned {
		if open.Asks(n, 0) && r.Wants(v, n, open.Node()) {
			return
		}
	}
	r.answered = open.Node()
}
