package job

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// WholeRound is a round of a job over all instances, as the hooks of a [WholeRoundListener] see it.
type WholeRound struct {
	JobName string
	// Fire is the fire of the round. It is zero if somebody asked for the round by hand; then Trigger
	// numbers the request.
	Fire    time.Time
	Trigger int64
	// Items are the items that the round waits for, ascending: those that were enabled when it began and, with
	// [MisfireSkip], did not run then for an earlier fire. TotalCount is the sharding total count when this
	// instance took on the hook.
	Items      []int
	TotalCount int
	// Failed are the items whose execution did not succeed, ascending; for AllCompleted only. A record
	// keeps two executions, so an item that has run twice since may be missing.
	Failed []int
	// Token is a fencing token: larger than that of every earlier hook of this phase of the job.
	Token int64
}

// WholeRoundListener has hooks that run once for a whole round, on exactly one of all instances that take part. All of
// them must declare it. Either hook may be nil. The job must not be [Config.Unmonitored], nor have a
// fixed delay ("@delay"), with which each item goes its own way. If it is stored so later, there are no hooks while it is,
// and what waits for one runs.
//
// A round belongs to a fire, or to a request to run by hand. When its first item begins, its items are fixed: all
// that are enabled then. The round does not wait for an item that is disabled or falls away before it begins. If
// the next round begins before this one is complete, it takes its place, and the hook of this one never runs.
//
// A hook runs at most once. If its instance dies meanwhile, the round goes on, and the outcome is
// recorded as lost.
type WholeRoundListener struct {
	// AllStarted runs when every item has begun; the code of the items waits for it. If an item has waited
	// for longer than StartedWithin, or if the hook fails or is lost, the code runs all the same. If the item or the job is
	// disabled first, or its instance stops and no hook can come, or leaves the job because it cannot follow it any more, it is
	// given back, and its fire is a missed one; where missed fires are not made up, and by hand, it goes on to wait.
	AllStarted    func(ctx context.Context, round WholeRound) error
	StartedWithin time.Duration // required with AllStarted
	// AllCompleted runs when every item has ended, reruns after a crash included. It does not run if
	// the round has taken longer than CompletedWithin by then. Nothing waits for it.
	AllCompleted    func(ctx context.Context, round WholeRound) error
	CompletedWithin time.Duration // required with AllCompleted
	// HookTimeout bounds one run of a hook. Zero means the listener timeout of the scheduler.
	HookTimeout time.Duration
}

// Validate reports every fault of the listener at once.
func (l WholeRoundListener) Validate() error {
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
