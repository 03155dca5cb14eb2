package scheduler

import (
	"context"
	"slices"
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
func shareScope(members []*execution) {
	scope := &roundScope{left: len(members)}
	scope.ctx, scope.cancel = context.WithCancelCause(members[0].under.Work) // that of all: they began in one decision
	for _, e := range members {
		e.scope = scope
	}
}

// leaveScope takes an execution that has returned out of what its round shares.
func (e *execution) leaveScope() {
	if e.scope == nil {
		return // taken back before it was anything
	}
	if e.scope.left--; e.scope.left == 0 {
		e.scope.cancel(nil)
	}
}

// failRound ends what is left of a round: what runs is cancelled, what waits is not started. All of it
// has failed.
func (r *runner) failRound(scope *roundScope, why error) {
	if scope.failed != nil {
		return
	}
	scope.failed = why
	r.log.ErrorContext(r.life, "round failed", "cancelled", scope.left, logError, why)
	scope.cancel(why)
	var waiting []*execution
	r.executor.waiting = slices.DeleteFunc(r.executor.waiting, func(e *execution) bool {
		if e.scope != scope {
			return false
		}
		waiting = append(waiting, e)
		return true
	})
	for _, e := range waiting {
		r.returned(e, r.s.now(), why)
	}
}

// cutByRound tells whether an execution failed because its round did.
func (e *execution) cutByRound() bool { return e.scope != nil && e.scope.failed != nil && e.err != nil }
