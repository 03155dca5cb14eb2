package jobtree

import (
	"time"

	"github.com/elasticron/elasticron/registry"
)

// ItemState is what is to be done about a sharding item, as its record says. There is no state in
// between: whoever claims a waiting item begins it in the same transaction.
type ItemState string

// The states of an item. An item without a record is idle.
const (
	// ItemIdle: nothing runs, nothing is owed.
	ItemIdle ItemState = "idle"
	// ItemRunning: an execution began and its end is not recorded. Whether it still goes on, the item's
	// running node tells.
	ItemRunning ItemState = "running"
	// ItemWaiting: an execution was lost or interrupted and must be run again.
	ItemWaiting ItemState = "waiting"
	// ItemInterrupted: an execution was lost or interrupted and is not run again. It is idle with a
	// regret: the next fire runs.
	ItemInterrupted ItemState = "interrupted"
)

// Record is what is known of a sharding item's executions. It outlives instances and sessions, and
// it is what makes a fire run once and a lost execution run again: whoever begins, ends or claims an
// execution reads the record, asks one of its methods for the next one, and commits that under the
// condition that the record is still as it was read.
//
//	Begin        idle, interrupted   → running
//	End          running             → idle, waiting or interrupted
//	Undo         running             → what it was before
//	DeclareLost  running             → waiting or interrupted
//	Claim        waiting             → running
//
// The methods are pure: they return a new record or, if the rules forbid the step, a
// [*RefusedError]. The zero Record is that of an item that never ran.
//
// The fencing token of an execution is the revision of the commit that began it, which cannot stand
// in the value that this very commit writes. So the record of a running execution has no token, its
// own revision is the token, and whoever rewrites it puts the token into the value. What the job's
// code is given is that revision and the base that [Tokens] adds.
type Record struct {
	State ItemState
	// LastFire is the newest fire that an execution stood for. No fire up to it runs any more.
	LastFire time.Time
	// Trigger is the newest request to run by hand that was granted: the revision that made it.
	Trigger registry.Revision
	// Reruns counts how often the current fire was run again after it was lost. What goes on after it made room is no such rerun:
	// a rolling update may move an item as often as it has processes.
	Reruns int
	// Counts are the outcomes so far.
	Counts Counts
	// Current is the execution that runs or, if none does, the last one; nil if there was none. Do
	// not change it: records share it.
	Current *Execution
	// Before is what [Record.Undo] restores; nil unless the item runs.
	Before *Before

	// previous is only shown and never decided upon, so it stays the text that it is stored as. In
	// a job of ten thousand items that saves megabytes, and a fault in it blocks nothing.
	previous string
}

// Counts are numbers of executions by outcome, since the record was made.
type Counts struct {
	Success, Failure, Interrupted, Lost int64
}

// Before is what a begin changed.
type Before struct {
	State    ItemState
	LastFire time.Time
	Trigger  registry.Revision
	Reruns   int
}

// Previous returns the execution before Current, if there was one and it can be read. Its session is not known.
func (r Record) Previous() (Execution, bool) {
	o, err := parseObject(r.previous)
	if err != nil {
		return Execution{}, false
	}
	e := Execution{Instance: r.runner()}
	var in reader
	e.read(&in, o)
	return e, in.err == nil
}

// Ended tells whether the execution with this token is known to have ended, and how. It answers for
// the last two executions.
func (r Record) Ended(token int64) (Outcome, bool) {
	if e := r.Current; e != nil && e.Token == token && e.Outcome != "" {
		return e.Outcome, true
	}
	if e, ok := r.Previous(); ok && e.Token == token && e.Outcome != "" {
		return e.Outcome, true
	}
	return "", false
}

// Token returns the token of the execution that the record has as running; 0 if it has none. revision is
// that of the node: a record that says running stands under its own revision, unless somebody rewrote it
// and copied the token into the value.
func (r Record) Token(revision registry.Revision) registry.Revision {
	switch {
	case !r.running():
		return 0
	case r.Current.Token != 0:
		return registry.Revision(r.Current.Token)
	default:
		return revision
	}
}

// GivenToken returns the fencing token that the code of an execution was given; 0 if that is not known, or if there is no
// execution. e is the current execution of the record or another one, such as the previous; revision is as for
// [Record.Token].
func (r Record) GivenToken(e *Execution, revision registry.Revision) int64 {
	if e == nil {
		return 0
	}
	token := e.Token
	if token == 0 && e == r.Current {
		token = int64(r.Token(revision))
	}
	if token == 0 {
		return 0
	}
	return e.Base + token
}

// GaveUp tells whether the item is interrupted although failover was on for its last execution: it
// was run again as often as is allowed, and was lost each time.
func (r Record) GaveUp() bool {
	return r.State == ItemInterrupted && r.Current != nil && r.Current.Failover && !r.Current.Yielded
}

// MadeRoom tells whether the execution that the item waits to have run again made room as it was told to. What was taken back
// before it started leaves that as it was.
func (r Record) MadeRoom() bool {
	owed := r.Owed()
	if owed != nil && owed.Outcome == NotStarted {
		before, _ := r.Previous()
		return before.Yielded
	}
	return owed != nil && owed.Yielded
}

// FireAhead tells whether LastFire lies beyond horizon, the latest time that any clock in order can
// show. Then a broken clock wrote it, and [Record.Begin] ignores it. A zero horizon is none.
func (r Record) FireAhead(horizon time.Time) bool {
	return !horizon.IsZero() && r.LastFire.After(horizon)
}

// state returns the state, which is idle for a record that is not there.
func (r Record) state() ItemState {
	if r.State == "" {
		return ItemIdle
	}
	return r.State
}

// running tells whether there is an execution to end.
func (r Record) running() bool {
	return r.State == ItemRunning && r.Current != nil && r.Before != nil
}

// runner returns the instance of the current execution. One that it follows does not name its own where that is the same.
func (r Record) runner() string {
	if r.Current == nil {
		return ""
	}
	return r.Current.Instance
}
