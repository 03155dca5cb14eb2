package job

import (
	"context"
	"time"
)

// Round is the items that one instance begins together. A fire is one round on every instance that owns items
// of the job.
type Round struct {
	JobName string
	ID      string // as in the items' records, events and traces
	TaskID  string // see [TaskID]
	// Items are the contexts of what runs, in ascending order of the items. Do not change it.
	Items []ShardingContext
}

// ItemResult tells how one item of a round ended on this instance.
type ItemResult struct {
	Context ShardingContext
	Began   time.Time
	Ended   time.Time
	Err     error // what the item's code returned, as [HandlerFunc] says, or its [PanicError]; nil is success
	// Refused tells why the end could not be recorded; nil means that it was. If it is set, the execution
	// had been taken away, and another instance may run it again.
	Refused error
}

// Listener hears of the rounds of a job on its own instance. If an instance runs nothing at a fire, its
// listeners hear nothing.
//
// A listener never keeps a round from ending. If it fails, panics or returns late, the scheduler logs this and
// reports it to the observer, and the items run all the same; scheduler.WithListenerTimeout says what late is.
// Rounds of one job can overlap, because each item of a round ends by itself. So the scheduler may call the
// methods concurrently.
type Listener interface {
	// BeforeRun is called when the items have begun. Their code waits for it. ctx ends when the items'
	// contexts end, and when the listener's time is over.
	BeforeRun(ctx context.Context, round Round) error
	// AfterRun is called when the end of the last item has been recorded, however the items and BeforeRun
	// ended. Only the end of scheduler.Scheduler.Run waits for it. results are in the order of round.Items.
	AfterRun(ctx context.Context, round Round, results []ItemResult) error
}

// ListenerFuncs is a [Listener] made of two functions. Either may be nil.
type ListenerFuncs struct {
	Before func(ctx context.Context, round Round) error
	After  func(ctx context.Context, round Round, results []ItemResult) error
}

// BeforeRun calls f.Before.
func (f ListenerFuncs) BeforeRun(ctx context.Context, round Round) error {
	if f.Before == nil {
		return nil
	}
	return f.Before(ctx, round)
}

// AfterRun calls f.After.
func (f ListenerFuncs) AfterRun(ctx context.Context, round Round, results []ItemResult) error {
	if f.After == nil {
		return nil
	}
	return f.After(ctx, round, results)
}

var _ Listener = ListenerFuncs{}
