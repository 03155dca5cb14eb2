// Package chance makes choices at random that come out the same when the clock shows the same again: a cluster that is
// simulated under a clock of its own does the same in each replay, while two processes on machines, which never ask at the
// same nanosecond, choose apart from each other.
package chance

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"
)

// At returns a source of choices for a moment and what is to be chosen. Two things that are chosen at one moment are
// chosen apart.
func At(now time.Time, what string) *rand.Rand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, what) // a hash takes everything
	return rand.New(rand.NewPCG(uint64(now.UnixNano()), h.Sum64()))
}

// Within returns a part of a time, from none of it up to but not including all of it; 0 of a time that is not positive.
func Within(d time.Duration, now time.Time, what string) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(At(now, what).Int64N(int64(d)))
}
