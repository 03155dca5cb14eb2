package checker

import (
	"time"
)

// Rules are the bounds by which a history is judged.
type Rules struct {
	// TTL is how long the store keeps a session that it does not hear of.
	TTL time.Duration
	// Detect is what others may take to act when a session has run out.
	Detect time.Duration
	// Settle is what the cluster may take after any other change.
	Settle time.Duration
	// Handover is for how long the new owner of an item waits for what others have to say of its missed
	// fires, at most, if each of them is to be made up.
	Handover time.Duration
	// Late is how late a scheduled execution may begin. Beyond, it is a missed fire.
	Late time.Duration
	// HeadStart is how long before a fire comes an execution may begin for it at most. Its code waits for the fire.
	HeadStart time.Duration
	// Witnesses tells that each process follows all items, and so can tell others what an item has missed.
	Witnesses bool
	// Skew is by how much the clocks of processes may be ahead or behind.
	Skew time.Duration
	// Clock is by how much the clock of a process may differ from the store's before its instance leaves the
	// job, unless the job says less.
	Clock time.Duration
	// Look is after what time a process has noticed that its clock was set, at most.
	Look time.Duration
	// Right is for how long a clock must have been right again until its instance takes part.
	Right time.Duration
	// Reopen is after what time one that could not follow the job tries again, at most.
	Reopen time.Duration
	// Goodput is which part of what a store can take, or of what is wanted if that is less, runs at least.
	Goodput float64
	// Hooks are the phases of rounds that the job has hooks for, with within what time a round must have come there.
	Hooks map[string]time.Duration
	// Grace is the stop timeout.
	Grace time.Duration
	// Farewell is what a stop may take beyond that, at most.
	Farewell time.Duration
}

// DefaultRules returns the bounds that are promised, for sessions of five seconds and a stop timeout of half a
// minute.
func DefaultRules() Rules {
	return Rules{
		TTL: 5 * time.Second, Detect: 500 * time.Millisecond, Settle: time.Second, Handover: 2 * time.Second,
		Late: 5 * time.Second, HeadStart: 200 * time.Millisecond, Clock: 30 * time.Second, Look: 10 * time.Second, Right: time.Minute,
		Reopen: 5 * time.Second, Goodput: 0.5, Grace: 30 * time.Second, Farewell: 3 * time.Second,
	}
}
