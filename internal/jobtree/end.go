package jobtree

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// End describes how an execution ended, for [Record.End].
type End struct {
	Token   int64     // of the execution, above 0
	Time    time.Time // now
	Outcome Outcome   // Success, Failure or Interrupted
	Error   string    // why it did not succeed; cut to MaxErrorText
	// FailoverLimit is how often an execution that was cut short may be run again in a row; 0 is
	// without limit.
	FailoverLimit int
}

// End returns the record of an execution that has ended. After a success or a failure the item is
// idle. An execution that was cut short is run again like a lost one if failover was on for it.
func (r Record) End(e End) (Record, error) {
	if !r.running() {
		return Record{}, r.refuse("end", ErrItemNotRunning)
	}
	if e.Token <= 0 {
		return Record{}, r.refuse("end", fmt.Errorf("%w: token %d", registry.ErrInvalid, e.Token))
	}
	next := r.stop(e.Token, e.Time, e.Outcome, e.Error)
	switch e.Outcome {
	case Success:
		next.Counts.Success++
		next.State, next.Reruns = ItemIdle, 0
	case Failure:
		next.Counts.Failure++
		next.State, next.Reruns = ItemIdle, 0
	case Interrupted:
		next.Counts.Interrupted++
		next.State = next.afterLoss(e.FailoverLimit)
	default:
		return Record{}, r.refuse("end", fmt.Errorf("%w: outcome %q", registry.ErrInvalid, e.Outcome))
	}
	return next, nil
}

// DeclareLost returns the record of an execution whose session ended before it did. The caller must
// have seen that the running node is gone and that the instance is not there under that session.
// token is the lost execution's. The item waits to be run again if failover was on for the
// execution and it had fewer than limit reruns, where 0 is without limit; else it is interrupted.
func (r Record) DeclareLost(token int64, now time.Time, limit int) (Record, error) {
	if !r.running() {
		return Record{}, r.refuse("declare lost", ErrItemNotRunning)
	}
	if token <= 0 {
		return Record{}, r.refuse("declare lost", fmt.Errorf("%w: token %d", registry.ErrInvalid, token))
	}
	next := r.stop(token, now, Lost, "")
	next.Counts.Lost++
	next.State = next.afterLoss(limit)
	return next, nil
}

// Undo returns the record of an execution that was begun but whose code was never called, such as
// one whose begin was answered too late. All that decides what may run is again as it was before, so
// the same fire, trigger or claim can begin anew; a claim waits again.
func (r Record) Undo(token int64, now time.Time) (Record, error) {
	if !r.running() {
		return Record{}, r.refuse("undo", ErrItemNotRunning)
	}
	if token <= 0 {
		return Record{}, r.refuse("undo", fmt.Errorf("%w: token %d", registry.ErrInvalid, token))
	}
	next := r.stop(token, now, NotStarted, "")
	next.State = r.Before.State
	next.LastFire = r.Before.LastFire
	next.Trigger = r.Before.Trigger
	next.Reruns = r.Before.Reruns
	return next, nil
}
