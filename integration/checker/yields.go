package checker

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Code that is told to make room may end with work left, by [job.ErrYielded]. That is no failure, and no loss either: with
// failover on, its item waits to be run again however often that was so, and it counts as no rerun.

// yielded tells whether code ended with work left, as it was told to.
func (r *Run) yielded() bool { return r != nil && !r.Died && errors.Is(r.Err, job.ErrYielded) }

// yielded tells whether that is recorded of an execution.
func (e *execution) yielded() bool {
	return e.outcome() == jobtree.Interrupted && e.after.Current.Yielded
}

// judgeYield judges whether an execution is recorded as one that made room if its code did, and only then.
func (j *judge) judgeYield(e *execution) {
	r := e.run
	switch {
	case e.yielded() && (!r.yielded() || r.Ended.After(e.closed)):
		j.find(NothingForgotten, e.closed, e.item, "an execution is recorded as one that made room, and its code did not", proofs(e)...)
	case !r.yielded() || r.Ended.After(e.closed) || e.yielded() || !j.toldRecorded(e): // or others said how it went
	default:
		j.find(NothingForgotten, e.closed, e.item, fmt.Sprintf("code made room with work left, and that is recorded as %q", e.outcome()), proofs(e)...)
	}
}
