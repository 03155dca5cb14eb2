package scheduler

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/job"
)

// Observer hears what the scheduler did. Each observer is called on a goroutine of its own, one call at a
// time, in the order of what happened, a moment after it: nothing waits for an observer. One that cannot
// keep up misses what comes while 65536 calls wait for it, and one that hangs misses the rest; the log
// counts that. Before Run returns, each hears what is left, if it takes no longer than two seconds. Embed
// [NopObserver], so that new methods do not break you.
type Observer interface {
	// RoundBegan: items of a job began here together, and are about to run.
	RoundBegan(RoundEvent)
	// RoundEnded: the last of them has ended. An end that was never heard of, because the process
	// vanished or the observer was too slow, leaves its round open.
	RoundEnded(RoundEvent)
	// ItemStarted: an item is about to run here.
	ItemStarted(ItemEvent)
	// ItemRetrying: an attempt failed, and another follows within the same execution.
	ItemRetrying(RetryEvent)
	// ItemEnded: an item ran here, and its end was recorded or refused.
	ItemEnded(ItemEvent)
	// ItemsWaiting: the number of items changed that have begun here and wait for their turn.
	ItemsWaiting(WaitingEvent)
	// HandlerFailed: the job's error handler failed, panicked, hung or could not be told.
	HandlerFailed(HandlerEvent)
	// ViewChanged: the tree of a job cannot be followed, or can be again, or its job was left.
	ViewChanged(ViewEvent)
	// Joined: this process registered as an instance of the job.
	Joined(job string)
	// Elected: this process became the leader of the job.
	Elected(job string)
	// Resigned: this process is not the leader of the job any more, for whatever reason.
	Resigned(job string)
	// JobPaused: the job pauses on this process because of its configuration, or goes on.
	JobPaused(PauseEvent)
	// Resharded: this process, as leader, spread the items anew.
	Resharded(ReshardEvent)
	// ConnectionChanged: the process's session was established, suspended, confirmed again or lost.
	ConnectionChanged(ConnectionEvent)
	// BarrierSettled: what a [job.OnceListener] waits for has come about, or will not any more.
	BarrierSettled(BarrierEvent)
	// LoadChanged: fires went by in the last second that could not begin in time although nothing but
	// the registry or this machine kept them from it; or that is over.
	LoadChanged(LoadEvent)
	// ListenerFailed: a listener returned an error, panicked, or took longer than it may.
	ListenerFailed(ListenerEvent)
}

// RoundEvent is what one decision of this process began of a job.
type RoundEvent struct {
	ID     string // of the round, the same in its items' events; see [ItemEvent]
	Job    string
	TaskID string    // names all items of this instance; see [job.TaskID]
	Items  []int     // that began, ascending; not to be changed
	Began  time.Time // when the begin was decided
	Ended  time.Time // of the last item; zero when it began
	// Failed has the items that did not succeed: with the error that they returned or, if that was
	// none, why their end was refused. It is nil when the round began.
	Failed map[int]error
}

// ItemEvent is one execution of one item.
type ItemEvent struct {
	Round   string // id of the round that it began in; an item begins at most once in a round
	Context job.ShardingContext
	Began   time.Time
	Ended   time.Time // zero when it started
	Err     error     // what the item returned, or its [job.PanicError]; nil is success
	// CutShort tells that the item's context had ended, as with its session or a stop, before its code
	// returned Err. An item that finished all the same is not cut short, also if its end was Refused.
	CutShort bool
	// Refused tells why the end could not be recorded: nil if it was, a conflict if the
	// execution had been taken away meanwhile, [registry.ErrSessionLost] if the scheduler stopped before
	// there was a session again, [registry.ErrInvalid] or
	// [registry.ErrTooLarge] if the registry does not take it. In the latter case the item is marked
	// as running until this session ends.
	Refused error
}

// ItemContext is what an [Observer] may implement besides, to have the context of an item's code carry
// something, such as the span of a trace. It is called after ItemStarted, for each observer that has
// it, and returns ctx or a context made of it. The item's code waits for that a second at most, and then
// runs without.
type ItemContext interface {
	ItemContext(ctx context.Context, e ItemEvent) context.Context
}

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

// HandlerEvent is a failure of an error handler.
type HandlerEvent struct {
	Context job.ShardingContext
	Err     error // of the item, which the handler was to be told
	Handler error // of the handler
}

// PauseEvent is a change of whether a job can run on this process.
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

// NopObserver hears everything and does nothing.
type NopObserver struct{}

// RoundBegan does nothing.
func (NopObserver) RoundBegan(RoundEvent) {}

// RoundEnded does nothing.
func (NopObserver) RoundEnded(RoundEvent) {}

// ItemStarted does nothing.
func (NopObserver) ItemStarted(ItemEvent) {}

// ItemRetrying does nothing.
func (NopObserver) ItemRetrying(RetryEvent) {}

// ItemEnded does nothing.
func (NopObserver) ItemEnded(ItemEvent) {}

// ItemsWaiting does nothing.
func (NopObserver) ItemsWaiting(WaitingEvent) {}

// HandlerFailed does nothing.
func (NopObserver) HandlerFailed(HandlerEvent) {}

// ViewChanged does nothing.
func (NopObserver) ViewChanged(ViewEvent) {}

// Joined does nothing.
func (NopObserver) Joined(string) {}

// Elected does nothing.
func (NopObserver) Elected(string) {}

// Resigned does nothing.
func (NopObserver) Resigned(string) {}

// ConnectionChanged does nothing.
func (NopObserver) ConnectionChanged(ConnectionEvent) {}

// BarrierSettled does nothing.
func (NopObserver) BarrierSettled(BarrierEvent) {}

// LoadChanged does nothing.
func (NopObserver) LoadChanged(LoadEvent) {}

// ListenerFailed does nothing.
func (NopObserver) ListenerFailed(ListenerEvent) {}

// JobPaused does nothing.
func (NopObserver) JobPaused(PauseEvent) {}

// Resharded does nothing.
func (NopObserver) Resharded(ReshardEvent) {}

var _ Observer = NopObserver{}
