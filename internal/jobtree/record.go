package jobtree

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/job"
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
	// Reruns counts how often the current fire was run again after it was lost.
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

// GivenToken returns the fencing token that the code of an execution was given; 0 if that is not known, or if there is no execution.
// e is the current execution of the record or another one, such as the previous; revision is as for [Record.Token].
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
	return r.State == ItemInterrupted && r.Current != nil && r.Current.Failover
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

// afterLoss returns the state of an item whose execution did not come to its own end: it waits to
// be run again if failover was on for that run, unless it had as many reruns as are allowed.
func (r Record) afterLoss(limit int) ItemState {
	if !r.Current.Failover || limit > 0 && r.Reruns >= limit {
		return ItemInterrupted
	}
	return ItemWaiting
}

// Outcome is how an execution ended.
type Outcome string

// The outcomes. An execution that has not ended has none.
const (
	Success     Outcome = "success"
	Failure     Outcome = "failure"     // it returned an error or panicked
	Interrupted Outcome = "interrupted" // it was cancelled: at a stop, or as its session was lost
	Lost        Outcome = "lost"        // its session ended and nobody heard of it again
	NotStarted  Outcome = "not started" // it was begun, but its code was never called
)

// MaxErrorText bounds, in bytes, what a record keeps of an error. See [Excerpt] for longer texts.
const MaxErrorText = 256

// Of a longer text a record keeps so much of the beginning, and then what stands for the rest.
const (
	errorBeginning = 88
	errorLeftOut   = " ... "
)

// Execution is one run of an item, as its record keeps it.
type Execution struct {
	Instance  string             // id of the instance that ran it
	Session   registry.SessionID // under which it ran
	Source    job.Source         // why it ran
	Fire      time.Time          // which it stands for; zero for a run by hand that stands for none
	Trigger   registry.Revision  // the request by hand that it runs for, also if it is its rerun; 0 = none
	Parameter string             // that came with the request
	Token     int64              // fencing token; 0 while it runs, see Record
	Base      int64              // what [Tokens] added to it when it began
	Begin     time.Time          // by the clock of the instance, to the millisecond
	End       time.Time          // by the clock of whoever recorded it; zero while it runs
	Outcome   Outcome            // empty while it runs
	Failover  bool               // failover was on when it began, and so counts for it
	Round     string             // what began together has the same
	Error     string             // why it failed, at most MaxErrorText bytes
}

// ByHand tells whether the execution runs for a request by hand, or is the rerun of one, whatever fire it stands
// for. Before requests were named in records, only those had no fire.
func (e *Execution) ByHand() bool { return e.Trigger != 0 || e.Fire.IsZero() }

// moment is a time to the millisecond.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Excerpt returns what a record keeps of the text of an error: if that is too long, the beginning, which says what failed, and
// more of the end, which says why: there are the cause of a chain of errors, and the last words of a script.
func Excerpt(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxErrorText {
		return text
	}
	head, tail := errorBeginning, len(text)-(MaxErrorText-errorBeginning-len(errorLeftOut))
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + errorLeftOut + text[tail:]
}

// Duration returns how long the execution took; 0 while it runs.
func (e *Execution) Duration() time.Duration {
	if e.End.IsZero() {
		return 0
	}
	return e.End.Sub(e.Begin)
}

// Lateness returns how long after its fire the execution began; 0 for a run by hand, whatever fire that stands
// for.
func (e *Execution) Lateness() time.Duration {
	if e.ByHand() {
		return 0
	}
	return e.Begin.Sub(e.Fire)
}

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
}

// Begin returns the record of an item that begins to run.
//
// Nothing may run or wait. A scheduled or misfire execution needs a fire later than LastFire, which
// it moves up, and not beyond the horizon; a LastFire beyond the horizon does not count. A run by
// hand needs a trigger later than the last one and leaves LastFire alone, also if it is for a fire. If
// failover is off by now, an item that waits may begin too, and what it waited for is given up.
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
	case !r.FireAhead(b.Horizon) && !b.Fire.After(r.LastFire):
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

// Claim describes an instance that takes over a lost execution by [Record.Claim].
type Claim struct {
	Instance string             // id of the instance, required
	Session  registry.SessionID // that will own the running node, required
	Round    string             // what begins together has the same; may be empty
	Time     time.Time          // now
	Base     int64              // where the job's fencing tokens start, see Tokens
}

// Claim returns the record of an item that waits and now runs again, by the claimant: for the same
// fire and the same request by hand, with one rerun more, and again under failover. LastFire stays.
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
	next.Reruns++
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

// Why a step of a [Record] is refused.
var (
	// ErrItemRunning: an execution is recorded as running. It ends, or must be declared lost.
	ErrItemRunning = errors.New("item is running")
	// ErrItemNotRunning: no execution is recorded as running; it was ended or taken away.
	ErrItemNotRunning = errors.New("item is not running")
	// ErrItemWaiting: a lost execution must be claimed first.
	ErrItemWaiting = errors.New("item waits for failover")
	// ErrItemNotWaiting: there is nothing to claim.
	ErrItemNotWaiting = errors.New("item does not wait for failover")
	// ErrNeverRan: there is no execution to repeat.
	ErrNeverRan = errors.New("item never ran")
	// ErrFirePassed: this fire or a later one was run already.
	ErrFirePassed = errors.New("fire was run already")
	// ErrFireAhead: the fire lies further in the future than clocks may differ.
	ErrFireAhead = errors.New("fire lies in the future")
	// ErrTriggerPassed: this request to run by hand or a later one was granted already.
	ErrTriggerPassed = errors.New("trigger was run already")
)

// RefusedError says which step of a [Record] is not allowed, and why. errors.Is sees the reason: one
// of the sentinels of this package, or registry.ErrInvalid if the call itself makes no sense.
type RefusedError struct {
	Step   string // "begin", "end", "undo", "declare lost", "requeue", "give up" or "claim"
	State  ItemState
	Reason error
}

// Error names the step, the state of the item and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s of an item that is %s: %s", e.Step, e.State, e.Reason)
}

// Unwrap gives the reason.
func (e *RefusedError) Unwrap() error { return e.Reason }

func (r Record) refuse(step string, reason error) error {
	return &RefusedError{Step: step, State: r.state(), Reason: reason}
}
