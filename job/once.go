package job

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// WholeRound is a round of a job over all instances, as the hooks of a [OnceListener] see it.
type WholeRound struct {
	JobName string
	// Fire is the round's; zero if it was asked for by hand, and then Trigger numbers the request.
	Fire    time.Time
	Trigger int64
	// Items are those that the round awaits, ascending: the enabled ones when it began. TotalCount is
	// the sharding total count when the hook was taken.
	Items      []int
	TotalCount int
	// Failed are the items whose execution did not succeed, ascending; for AllCompleted only. Their
	// records keep two executions, so one that ran on may be missing.
	Failed []int
	// Token is a fencing token: larger than that of every earlier hook of this phase of the job.
	Token int64
}

// OnceListener has hooks that run once for a whole round: on exactly one of all instances that take
// part, which must all declare it. Either hook may be nil. The job must not be [Config.Unmonitored].
//
// A round is that of a fire or of a request to run by hand. Its items are the enabled ones when its
// first item begins; that is fixed then, but one that is disabled or falls away before it begins is
// not waited for. The next round takes the place of one that is not complete yet, whose hook then
// never runs.
//
// A hook runs at most once. If its instance dies meanwhile, the round goes on, and the outcome is
// recorded as lost.
type OnceListener struct {
	// AllStarted runs when every item has begun; their code waits for it. If that takes longer than
	// StartedWithin from the begin of an item, or the hook fails or is lost, the code runs all the same.
	AllStarted    func(ctx context.Context, round WholeRound) error
	StartedWithin time.Duration // required with AllStarted
	// AllCompleted runs when every item has ended, reruns after a crash included. If that takes longer
	// than CompletedWithin from the begin of the round, it does not run. Nothing waits for it.
	AllCompleted    func(ctx context.Context, round WholeRound) error
	CompletedWithin time.Duration // required with AllCompleted
	// HookTimeout bounds one run of a hook. Zero means the listener timeout of the scheduler.
	HookTimeout time.Duration
}

// Validate reports every fault of the listener at once.
func (l OnceListener) Validate() error {
	var faults []error
	if l.AllStarted == nil && l.AllCompleted == nil {
		faults = append(faults, errors.New("AllStarted and AllCompleted are nil, one must be given"))
	}
	if l.AllStarted != nil && l.StartedWithin <= 0 {
		faults = append(faults, fmt.Errorf("StartedWithin is %s, must be above 0", l.StartedWithin))
	}
	if l.AllCompleted != nil && l.CompletedWithin <= 0 {
		faults = append(faults, fmt.Errorf("CompletedWithin is %s, must be above 0", l.CompletedWithin))
	}
	if l.HookTimeout < 0 {
		faults = append(faults, fmt.Errorf("HookTimeout is %s, must not be negative", l.HookTimeout))
	}
	return errors.Join(faults...)
}
