package history

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
	// Latch is for how long those who want to lead wait for each other, at most. Where requests arrived
	// late, a place in line may be left over that nobody takes, so there every change may take longer
	// by that much.
	Latch time.Duration
	// Late is how late a scheduled execution may begin. Beyond, it is a missed fire.
	Late time.Duration
	// Skew is by how much the clocks of processes may be ahead or behind.
	Skew time.Duration
	// Grace is the stop timeout.
	Grace time.Duration
}

// DefaultRules returns the bounds that are promised, for sessions of five seconds and the default
// stop timeout.
func DefaultRules() Rules {
	return Rules{
		TTL: 5 * time.Second, Detect: 500 * time.Millisecond, Settle: time.Second, Latch: 2 * time.Second,
		Late: 5 * time.Second, Grace: 30 * time.Second,
	}
}
