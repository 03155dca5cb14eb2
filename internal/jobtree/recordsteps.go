package jobtree

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Begin describes an execution that is about to begin by [Record.Begin].
type Begin struct {
	Instance  string             // id of the instance, required
	Session   registry.SessionID // that will own the running node, required
	Source    job.Source         // Scheduled, Misfire or Manual
	Fire      time.Time          // the newest that it stands for; by hand, zero or the one that is asked for
	Trigger   registry.Revision  // the request to run by hand; 0 unless by hand
	Parameter string             // that came with the request
	Failover  bool               // whether failover is on now
	Round     string             // what begins together has the same; may be empty
	Time      time.Time          // now
	Base      int64              // where the job's fencing tokens start, see Tokens
	// Horizon is the latest time that a clock in order can show: the registry's clock and the
	// difference that is tolerated. Zero does not check.
	Horizon time.Time
	// Believe has a LastFire count that lies beyond the horizon: too little is known to doubt it.
	Believe bool
}

// Begin returns the record of an item that begins to run.
//
// Nothing may run or wait. A scheduled or misfire execution needs a fire later than LastFire, which it moves up, and not beyond
// the horizon; a LastFire beyond the horizon does not count, unless it is to be believed. A run by hand needs a trigger later
// than the last one and leaves LastFire alone, also if it is for a fire. If failover is off by now, an item that waits may
// begin too, and what it waited for is given up.
func (r Record) Begin(b Begin) (Record, error) {
	if err := r.mayBegin(b); err != nil {
		return Record{}, r.refuse("begin", err)
	}
	next := r.start(Execution{
		Instance: b.Instance, Session: b.Session, Source: b.Source, Fire: b.Fire.UTC(),
		Trigger: b.Trigger, Parameter: b.Parameter,
		Begin: moment(b.Time), Failover: b.Failover, Round: b.Round, Base: b.Base,
	})
	next.Reruns = 0
	if b.Source == job.Manual {
		next.Trigger = b.Trigger
	} else {
		next.LastFire = b.Fire.UTC()
	}
	return next, nil
}

func (r Record) mayBegin(b Begin) error {
	if err := b.check(); err != nil {
		return err
	}
	switch {
	case r.State == ItemRunning:
		return ErrItemRunning
	case r.State == ItemWaiting && b.Failover:
		return ErrItemWaiting
	case b.Source == job.Manual && b.Trigger <= r.Trigger:
		return fmt.Errorf("%w: trigger %d, last one %d", ErrTriggerPassed, b.Trigger, r.Trigger)
	case b.Source == job.Manual:
		return nil
	case !b.Horizon.IsZero() && b.Fire.After(b.Horizon):
		return fmt.Errorf("%w: fire %s, latest time %s", ErrFireAhead, show(b.Fire), show(b.Horizon))
	case (b.Believe || !r.FireAhead(b.Horizon)) && !b.Fire.After(r.LastFire):
		return fmt.Errorf("%w: fire %s, last one %s", ErrFirePassed, show(b.Fire), show(r.LastFire))
	default:
		return nil
	}
}

// check tells whether the description makes sense, whatever the record is.
func (b Begin) check() error {
	switch {
	case b.Instance == "" || b.Session == 0:
		return fmt.Errorf("%w: an execution needs an instance and a session", registry.ErrInvalid)
	case b.Source == job.Manual && (b.Fire.IsZero() || storable(b.Fire)) && b.Trigger > 0:
		return nil
	case b.Source == job.Manual:
		return fmt.Errorf("%w: a run by hand needs a trigger, and no fire or one of the years 0 to 9999", registry.ErrInvalid)
	case b.Source != job.Scheduled && b.Source != job.Misfire:
		return fmt.Errorf("%w: source %q cannot begin", registry.ErrInvalid, b.Source)
	case !storable(b.Fire) || b.Trigger != 0 || b.Parameter != "":
		return fmt.Errorf("%w: a %s execution needs a fire, and neither a trigger nor a parameter", registry.ErrInvalid, b.Source)
	default:
		return nil
	}
}

func show(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// End describes how an execution ended, for [Record.End].
type End struct {
	Token   int64     // of the execution, above 0
	Time    time.Time // now
	Outcome Outcome   // Success, Failure or Interrupted
	Error   string    // why it did not succeed; the record keeps its Excerpt
	// FailoverLimit is how often an execution that was cut short may be run again in a row; 0 is
	// without limit.
	FailoverLimit int
	// Yielded tells of an interrupted execution that it made room when it was told to, with work left. That counts for no limit.
	Yielded bool
	// RestIsOver leaves what is left of a yielded execution to the next fire, although failover is on for it.
	RestIsOver bool
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
		if e.Yielded {
			next.yield(e.RestIsOver)
		}
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

// Claim describes an instance that takes over a lost execution by [Record.Claim].
type Claim struct {
	Instance string             // id of the instance, required
	Session  registry.SessionID // that will own the running node, required
	Round    string             // what begins together has the same; may be empty
	Time     time.Time          // now
	Base     int64              // where the job's fencing tokens start, see Tokens
}

// Claim returns the record of an item that waits and now runs again, by the claimant: for the same
// fire and the same request by hand, with one rerun more, unless it goes on after it made room, and again under failover.
// LastFire stays.
func (r Record) Claim(c Claim) (Record, error) {
	if c.Instance == "" || c.Session == 0 {
		return Record{}, r.refuse("claim", fmt.Errorf("%w: a claim needs an instance and a session", registry.ErrInvalid))
	}
	owed := r.Owed()
	if owed == nil {
		return Record{}, r.refuse("claim", ErrItemNotWaiting)
	}
	next := r.start(Execution{
		Instance: c.Instance, Session: c.Session, Source: job.Failover, Fire: owed.Fire,
		Trigger: owed.Trigger, Parameter: owed.Parameter,
		Begin: moment(c.Time), Failover: true, Round: c.Round, Base: c.Base,
	})
	if !r.MadeRoom() {
		next.Reruns++
	}
	return next, nil
}

// Owed returns the execution that the item waits to have run again; nil if it waits for none. That is the current one,
// unless that one was to give it up, while failover was off, and was taken back before it started.
func (r Record) Owed() *Execution {
	e := r.Current
	switch {
	case r.State != ItemWaiting || e == nil:
		return nil
	case e.Outcome == NotStarted && e.Source != job.Failover:
		if before, known := r.Previous(); known {
			return &before
		}
	}
	return e
}

// TakenOver returns the record of an item whose lost execution a Java instance runs again. Java records
// nothing, so how that ends is not known here: the item is interrupted, and its next fire runs.
// token is the lost execution's, if it was not declared lost before.
func (r Record) TakenOver(token int64, now time.Time) (Record, error) {
	switch {
	case r.State == ItemWaiting:
		r.State = ItemInterrupted
		return r, nil
	case !r.running():
		return Record{}, r.refuse("leave to Java", ErrItemNotWaiting)
	case token <= 0:
		return Record{}, r.refuse("leave to Java", fmt.Errorf("%w: token %d", registry.ErrInvalid, token))
	}
	next := r.stop(token, now, Lost, "")
	next.Counts.Lost++
	next.State = ItemInterrupted
	return next, nil
}

// LostElsewhere returns the record of an item whose execution was lost while the job was in another registry: it waits
// to be run again. e is that execution. Its session, token, request by hand and round mean nothing here, and are dropped.
func LostElsewhere(e Execution, now time.Time) Record {
	return Record{State: ItemWaiting, Current: &Execution{
		Instance: e.Instance, Source: e.Source, Fire: e.Fire, Parameter: e.Parameter, Begin: e.Begin,
		End: moment(now), Outcome: Lost, Failover: true,
	}}
}

// GiveUp returns the record of an item whose lost execution is not to be run again after all: the item is
// interrupted, and its next fire runs.
func (r Record) GiveUp() (Record, error) {
	if r.State != ItemWaiting {
		return Record{}, r.refuse("give up", ErrItemNotWaiting)
	}
	r.State = ItemInterrupted
	return r, nil
}

// Requeue returns the record of an item that did not run when its instance crashed and is to be run
// again all the same, as failover of scope "assigned" wants: it waits, with its last execution to be
// repeated. An item that never ran has nothing to repeat.
func (r Record) Requeue() (Record, error) {
	switch {
	case r.State == ItemRunning:
		return Record{}, r.refuse("requeue", ErrItemRunning)
	case r.State == ItemWaiting:
		return Record{}, r.refuse("requeue", ErrItemWaiting)
	case r.Current == nil:
		return Record{}, r.refuse("requeue", ErrNeverRan)
	}
	r.State = ItemWaiting
	return r, nil
}

// start returns the record with a new current execution. One that was never started is no history
// worth keeping, so it makes room without becoming the previous one.
func (r Record) start(e Execution) Record {
	r.Before = &Before{State: r.state(), LastFire: r.LastFire, Trigger: r.Trigger, Reruns: r.Reruns}
	switch {
	case r.Current == nil:
	case r.Current.Outcome != NotStarted:
		r.previous = r.Current.past(e.Instance)
	case r.Current.Instance != e.Instance:
		if previous, known := r.Previous(); known {
			r.previous = previous.past(e.Instance)
		}
	}
	r.State, r.Current = ItemRunning, &e
	return r
}

// stop returns the record with its current execution ended, and nothing yet said about the state.
func (r Record) stop(token int64, at time.Time, outcome Outcome, text string) Record {
	e := *r.Current
	e.Token, e.End, e.Outcome, e.Error = token, moment(at), outcome, Excerpt(text)
	r.Current, r.Before = &e, nil
	return r
}

// yield notes that the current execution, which has ended, made room: it is run again if failover was on for it.
func (r *Record) yield(restIsOver bool) {
	e := *r.Current
	e.Yielded = true
	r.Current, r.State = &e, ItemInterrupted
	if e.Failover && !restIsOver {
		r.State = ItemWaiting
	}
}

// afterLoss returns the state of an item whose execution did not come to its own end: it waits to
// be run again if failover was on for that run, unless it had as many reruns as are allowed.
func (r Record) afterLoss(limit int) ItemState {
	if !r.Current.Failover || limit > 0 && r.Reruns >= limit {
		return ItemInterrupted
	}
	return ItemWaiting
}
