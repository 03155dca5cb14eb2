package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Event is what an [Observer] hears of. It is one of these types, the value and never a pointer:
//
//   - [RoundEvent]: items of a job began here together, and are about to run; and once more, with
//     [RoundEvent.Over], when the last of them has ended. An end that was never heard of, because the
//     process vanished or the observer was too slow, leaves its round open.
//   - [ItemEvent]: an item is about to run here; and once more, with [ItemEvent.Over], when it ran and its
//     end was recorded or refused. Both come between those of its round.
//   - [RetryEvent]: an attempt failed, and another follows within the same execution.
//   - [WaitingEvent]: the number of items that have begun here and wait for their turn has changed.
//   - [ErrorHandlerEvent]: the job's error handler failed, panicked, hung or could not be told.
//   - [ViewEvent]: the tree of a job cannot be followed, or can be again, or its job was left.
//   - [JoinEvent]: this process registered as an instance of a job.
//   - [LeadershipEvent]: this process became the leader of a job, or ceased to be, for whatever reason.
//   - [PauseEvent]: a job pauses on this process because of its configuration, or goes on.
//   - [ReshardEvent]: this process, as leader, spread the items anew.
//   - [ConnectionEvent]: the process's session was established, suspended, confirmed again or lost.
//   - [WholeRoundEvent]: what a [job.WholeRoundListener] waits for has come about, or will not any more.
//   - [LoadEvent]: in the last second, fires went by that could not begin in time although nothing but the
//     registry or this machine kept them from beginning; or the overload is over.
//   - [ListenerEvent]: a listener returned an error, panicked, or took longer than it may.
//   - [LeftEvent]: this process has left a job, while the scheduler goes on.
//   - [EndEvent]: Run is about to return.
//
// Later versions may add types and fields. A type switch over the types that you know, without a default,
// goes on as before.
type Event interface {
	event() // no other package has events
}

func (RoundEvent) event()        {}
func (ItemEvent) event()         {}
func (RetryEvent) event()        {}
func (WaitingEvent) event()      {}
func (ErrorHandlerEvent) event() {}
func (ViewEvent) event()         {}
func (JoinEvent) event()         {}
func (LeadershipEvent) event()   {}
func (PauseEvent) event()        {}
func (ReshardEvent) event()      {}
func (ConnectionEvent) event()   {}
func (WholeRoundEvent) event()   {}
func (LoadEvent) event()         {}
func (ListenerEvent) event()     {}
func (LeftEvent) event()         {}
func (EndEvent) event()          {}

// RoundEvent is what one decision of this process began of a job. It comes twice: when the round began, and
// with Ended when it is over.
type RoundEvent struct {
	ID     string // of the round, the same in its items' events; see [ItemEvent]
	Job    string
	TaskID string    // names all items of this instance; see [job.TaskID]
	Items  []int     // that began, ascending; not to be changed
	Began  time.Time // when the begin was decided, or when the fire came if it was decided ahead of that
	Ended  time.Time // of the last item; zero when it began
	// Failed maps the items that did not succeed to the error that they returned or, if they returned
	// none, to why their end was refused. It is nil when the round began.
	Failed map[int]error
}

// Over tells whether the round has ended. If not, it began.
func (e RoundEvent) Over() bool { return !e.Ended.IsZero() }

// ItemEvent is one execution of one item. It comes twice: when the item started, and with Ended when it is
// over.
type ItemEvent struct {
	Round   string // id of the round that it began in; an item begins at most once in a round
	Context job.ShardingContext
	Began   time.Time
	Ended   time.Time // zero when it started
	// Err is what the item returned, or its [job.PanicError]; nil is success. It has the text that it had then; what of it
	// counts else, errors.Is and errors.As find. This goes for all errors of an application's code in events.
	Err error
	// CutShort tells that the item's context had ended, as with its session or a stop, before its code
	// returned Err, or while it waited to be tried again. An item that finished all the same is not cut short, and
	// neither is one that had failed before, also if its end was Refused. An item that made room is cut short, too: Err is
	// [job.ErrYielded] then.
	CutShort bool
	// Refused tells why the end could not be recorded: nil if it was, a conflict if the
	// execution had been taken away meanwhile, [registry.ErrSessionLost] if the scheduler stopped before
	// there was a session again, [registry.ErrInvalid] or
	// [registry.ErrTooLarge] if the registry does not take it. In the latter case the item is marked
	// as running until this session ends.
	Refused error
}

// Over tells whether the execution has ended. If not, it started.
func (e ItemEvent) Over() bool { return !e.Ended.IsZero() }

// RetryEvent is a failed attempt that is followed by another.
type RetryEvent struct {
	Round   string // id of the round that the item began in
	Context job.ShardingContext
	Err     error
	Pause   time.Duration // before the next attempt
}

// WaitingEvent is the state of a job's executor in this process.
type WaitingEvent struct {
	Job     string
	Waiting int // items that have begun and wait for their turn
	Running int // items whose code runs
	Limit   int // of Running; 0 = none
}

// ErrorHandlerEvent is a failure of an error handler.
type ErrorHandlerEvent struct {
	Context job.ShardingContext
	Err     error // of the item, which the handler was to be told
	Handler error // of the handler
}

// JoinEvent tells that this process registered as an instance of a job.
type JoinEvent struct {
	Job string
}

// PauseEvent is a change of whether a job can run on this process. If that is so for a reason of the process's own, its items
// go to other instances.
type PauseEvent struct {
	Job string
	// Err is why it pauses: its configuration is not in the registry, or cannot be read or used. nil is
	// that it goes on, or was left.
	Err error
}

// ReshardEvent is a new assignment.
type ReshardEvent struct {
	Job       string
	Instances int // that take part
	Items     int // sharding total count
	Moved     int // items whose owner changed
}

// ViewEvent tells that the tree of a job, or the list of jobs, cannot be followed, or can be again.
type ViewEvent struct {
	Job  string // empty for the list of jobs that processes with handlers follow
	Err  error  // why not; nil if it can be again, or the job was left
	Time time.Time
}

// ConnectionChange says how the process's session with the registry changed. The words are logged
// and exported.
type ConnectionChange string

// The changes of a session, in the order in which they can follow each other.
const (
	// ConnectionEstablished: there is a session, the first one or another after a lost one.
	ConnectionEstablished ConnectionChange = "established"
	// ConnectionSuspended: a keep-alive is overdue. What runs goes on, nothing new starts.
	ConnectionSuspended ConnectionChange = "suspended"
	// ConnectionBack: the suspended session has been confirmed again.
	ConnectionBack ConnectionChange = "back"
	// ConnectionLost: the session is over and its items are cancelled. Another will follow.
	ConnectionLost ConnectionChange = "lost"
)

// ConnectionEvent is a change of the process's session.
type ConnectionEvent struct {
	Change  ConnectionChange
	Session registry.SessionID
	Time    time.Time // by this process's clock
	Reason  error     // why it was lost, wrapping [registry.ErrSessionLost]; else nil
}

// LeadershipEvent tells that this process has become the leader of a job, or has ceased to be.
type LeadershipEvent struct {
	Job     string
	Leading bool
	Term    registry.Revision // of the leadership gained or lost: the revision that created the leader node
	Time    time.Time         // by this process's clock
}

// WholeRoundEvent tells what a [job.WholeRoundListener] waited for: that all items of a round started or completed,
// or why that did not come about. Of all processes, one hears of it: the one that settled it.
type WholeRoundEvent struct {
	Job     string
	Phase   string // "started" or "completed"
	Fire    time.Time
	Trigger int64  // of a round that was asked for by hand
	Outcome string // "success", "failure", "timeout", "lost" or "replaced"
	Err     error  // of the listener
	Opened  time.Time
	Ended   time.Time
}

// LoadEvent is what was wanted of this process, and what it could begin, in a second of an overload. The
// last one of an overload is not Overloaded any more.
type LoadEvent struct {
	LoadHealth
	Interval time.Duration // that the numbers are of
}

// ListenerEvent tells that a listener failed. What it listened to went on.
type ListenerEvent struct {
	Job      string // empty if it listened to the process
	Listener string // one of the Listener constants
	Err      error  // what it returned, its [job.PanicError], or [ErrListenerTimeout]
}

// LeftEvent tells that this process has left a job, by [Job.Leave] or because the job, which was data, is gone. Nothing
// more comes of the job until it is taken up again, but for failures of listeners and of its error handler that are
// still to hear of something.
type LeftEvent struct {
	Job string
}

// EndEvent tells that Run is about to return, and that nothing more comes. What was said last of jobs and of the
// session does not hold any more.
type EndEvent struct{}

// What kind of listener a [ListenerEvent] is about.
const (
	ListenerConnection = "connection"
	ListenerLeadership = "leadership"
	ListenerBeforeRun  = "before run"
	ListenerAfterRun   = "after run"
	// ListenerHook is a hook of a [job.WholeRoundListener]. A [WholeRoundEvent] tells how it ends.
	ListenerHook = "hook"
)
