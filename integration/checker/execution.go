package checker

import (
	"cmp"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// execution is one run of an item as the registry tells it, from the commit that began it to the one
// that recorded how it ended.
type execution struct {
	item     int
	token    registry.Revision
	began    time.Time
	begun    jobtree.Record // as its begin wrote it
	before   jobtree.Record // what its begin replaced
	settings job.Config     // in force when it began
	markGone time.Time      // when its mark vanished though nobody had recorded an end; zero = never
	closed   time.Time      // when its end was recorded; zero = it was not
	after    jobtree.Record // as its end wrote it
	run      *Run           // the call of user code; nil = there was none
	life     int            // how often the job had been removed before
	requeued bool           // it runs again what had come to its end, as its owner crashed
	tampered bool           // a careless hand took its mark or its record
	unmarked time.Time      // when a careless hand took its mark; zero = none did
	orphaned time.Time      // when its instance was gone after a careless hand had taken its mark; zero = never
	lapsed   time.Time      // when its mark vanished after a careless hand had written its record; zero = never
}

func (e *execution) source() job.Source { return e.begun.Current.Source }
func (e *execution) fire() time.Time    { return e.begun.Current.Fire }
func (e *execution) instance() string   { return e.begun.Current.Instance }

// planned tells whether the execution stands for a fire that nothing stood for before.
func (e *execution) planned() bool {
	return e.source() == job.Scheduled || e.source() == job.Misfire
}

// outcome returns how it ended; empty if that is not recorded.
func (e *execution) outcome() jobtree.Outcome {
	if e.closed.IsZero() || e.after.Current == nil {
		return ""
	}
	return e.after.Current.Outcome
}

// freed returns when the item was free again after an execution whose end is recorded: not before its
// code had returned, unless its process was taken for dead.
func (e *execution) freed() time.Time {
	if e.outcome() != jobtree.Lost && e.run != nil && !e.run.Died && e.run.Ended.After(e.closed) {
		return e.run.Ended
	}
	return e.closed
}

// over returns when an execution whose end is recorded came to it, which may be long before the record
// tells. Nobody saw a lost one end: it counts as over from when somebody found that out, at the earliest when its
// mark was gone. That is as good as when the record tells, unless the message may have been under way since.
func (j *judge) over(e *execution) time.Time {
	ended := e.closed
	if e.run != nil && !e.run.Died && !e.run.Ended.IsZero() && e.run.Ended.Before(ended) {
		ended = e.run.Ended
	}
	if e.outcome() != jobtree.Lost || e.markGone.IsZero() {
		return ended
	}
	found := j.stale(e.closed)
	if found.Before(e.markGone) {
		found = e.markGone
	}
	if found.Before(ended) { // its code heard of that later
		return found
	}
	return ended
}

// String tells the story of the execution in one line.
func (e *execution) String() string {
	text := fmt.Sprintf("%s token %d: %s", clock(e.began), e.token, e.source())
	if !e.fire().IsZero() {
		text += " of " + clock(e.fire())
	}
	text += fmt.Sprintf(" begun by %s (session %s)", e.instance(), e.begun.Current.Session)
	if !e.markGone.IsZero() {
		text += ", mark gone at " + clock(e.markGone)
	}
	if e.closed.IsZero() {
		return text + ", no end recorded"
	}
	return text + fmt.Sprintf(", recorded as %q at %s, then %s", e.outcome(), clock(e.closed), e.after.State)
}

// String tells the story of the run in one line.
func (r *Run) String() string {
	text := fmt.Sprintf("%s token %d: code of %s entered on %s", clock(r.Began), r.Context.Token, r.Context.Source, r.Instance)
	if !r.Cancelled.IsZero() {
		text += fmt.Sprintf(", cancelled at %s (%v)", clock(r.Cancelled), r.Cause)
	}
	switch {
	case r.Died:
		text += ", died at " + clock(r.Ended)
	case r.Ended.IsZero():
		text += ", never returned"
	default:
		text += fmt.Sprintf(", returned at %s (%v)", clock(r.Ended), r.Err)
	}
	return text
}

// String tells the incident in one line.
func (i Incident) String() string {
	text := fmt.Sprintf("%s %s %s", clock(i.From), cmp.Or(i.Instance, i.Path), i.Kind)
	if i.Ahead != 0 {
		text += fmt.Sprintf(" by %s", i.Ahead)
	}
	if i.until().After(i.From) {
		text += " until " + clock(i.Until)
	}
	return text
}
