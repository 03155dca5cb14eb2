package remote

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/elasticron/elasticron/registry/backend"
)

// NewClock returns the kernel's clock that also runs while the machine sleeps and that nobody sets. What it shows may
// be older by clockStep.
func NewClock() backend.SessionClock {
	if _, err := bootTime(); err != nil {
		return backend.NewClock()
	}
	return stepping(bootTime, time.Now)
}

// clockStep is for how long a reading of the clock counts, by Go's clock. Each reading is a system call, and an execution
// asks a dozen times whether its session stands. Whoever asks may be paused for longer than a step right after the
// answer, so nothing may rest on an answer that an older one of a step would break. A sleep of the machine does not stay
// hidden: before it and after it, the kernel takes longer than a step to stop the processes and to let them go on, and
// Go's clock runs meanwhile.
const clockStep = time.Millisecond

// reading is what a clock showed.
type reading struct {
	at time.Time // by Go's clock, right before
	is time.Duration
}

// stepping returns a clock that reads another one at most once in a step of Go's clock, and never goes back.
func stepping(read func() (time.Duration, error), now func() time.Time) backend.SessionClock {
	var last atomic.Pointer[reading]
	return func() time.Duration {
		for {
			kept, at := last.Load(), now()
			if kept != nil && at.Sub(kept.at) < clockStep {
				return kept.is
			}
			is, _ := read() // the only error there is was ruled out before
			if kept != nil {
				is = max(is, kept.is)
			}
			if last.CompareAndSwap(kept, &reading{at: at, is: is}) {
				return is
			}
		}
	}
}

func bootTime() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}
