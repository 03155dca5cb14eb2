package job

import (
	"context"
	"time"
)

// Round is what one instance runs together: the items whose executions one decision began. A fire is
// one round on every instance that owns items of the job.
type Round struct {
	JobName string
	ID      string // the same in all that the items' records, events and traces say of them
	TaskID  string // see [TaskID]
	// Items are the contexts of what runs, in ascending order of the items. Do not change it.
	Items []ShardingContext
}

// ItemResult tells how one item of a round ended.
type ItemResult struct {
	Context ShardingContext
	Began   time.Time
	Ended   time.Time
	Err     error // what the item's code returned, or its [PanicError]; nil is success
	// Refused tells why the end could not be recorded; nil if it was. Then the execution had been
	// taken away meanwhile, and another instance may run it again.
	Refused error
}

// Listener is told of the rounds of a job on this instance. An instance that runs nothing at a fire
// hears nothing of it.
//
// A listener never keeps a round from its end. An error, a panic or a late return is logged and told
// to the observer, and the items run all the same; see scheduler.WithListenerTimeout for what late is.
// Rounds of one job can overlap, because every item of a round ends by itself, so methods may be
// called concurrently.
type Listener interface {
	// BeforeRun is called when the items have begun, before the code of any of them is called. They
	// wait for it. ctx ends as the items' contexts do, and when the listener's time is over.
	BeforeRun(ctx context.Context, round Round) error
	// AfterRun is called when the end of the last item has been recorded, whatever became of the
	// items and of BeforeRun. Nothing waits for it but the end of scheduler.Scheduler.Run. results are
	// in the order of round.Items.
	AfterRun(ctx context.Context, round Round, results []ItemResult) error
}

// ListenerFuncs is a [Listener] made of functions, each of which may be nil.
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
