package executions

import (
	"context"
	"slices"

	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// roundScope is what the executions of one round in this process share: a context, by which the
// failure of one can end the others. It lasts until the last of them has returned.
type roundScope struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	left   int   // executions that have not returned
	failed error // why the round failed
}

// shareScope puts the executions of a round under one context.
func shareScope(members []*Execution) {
	scope := &roundScope{left: len(members)}
	scope.ctx, scope.cancel = context.WithCancelCause(members[0].Under.Work) // that of all: they began in one decision
	for _, e := range members {
		e.scope = scope
	}
}

// leaveScope takes an execution that has returned out of what its round shares.
func (e *Execution) leaveScope() {
	if e.scope == nil {
		return // taken back before it was anything
	}
	if e.cancel != nil {
		e.cancel(nil)
	}
	if e.scope.left--; e.scope.left == 0 {
		e.scope.cancel(nil)
	}
}

// failRound ends what is left of a round: what runs is cancelled, what waits is not started. All of it
// has failed.
func (x *Executions) failRound(scope *roundScope, why error) {
	if scope.failed != nil {
		return
	}
	scope.failed = why
	x.ports.Log().ErrorContext(x.ports.Life(), "round failed", "cancelled", scope.left, room.KeyError, why)
	scope.cancel(why)
	var waiting []*Execution
	x.executor.waiting = slices.DeleteFunc(x.executor.waiting, func(e *Execution) bool {
		if e.scope != scope {
			return false
		}
		waiting = append(waiting, e)
		return true
	})
	for _, e := range waiting {
		x.Returned(e, x.ports.Now(), why)
	}
}

// cutByRound tells whether an execution failed because its round did.
func (e *Execution) cutByRound() bool { return e.scope != nil && e.scope.failed != nil && e.err != nil }
