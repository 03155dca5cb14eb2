//go:build linux

package process_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// moment is a time by two clocks: the one that people set and jobs fire by, and the kernel's own, which
// nobody sets and all processes of the machine share.
type moment struct {
	Wall time.Time     `json:"wall"`
	Boot time.Duration `json:"boot"`
}

func now() moment { return moment{time.Now().Round(0), bootTime()} }

func bootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// origin is the time of the wall clock at which the kernel's stood at zero.
var origin = findOrigin()

// findOrigin reads both clocks several times, and trusts the reading that was disturbed the least.
func findOrigin() time.Time {
	var best time.Time
	least := time.Duration(1<<63 - 1)
	for range 20 {
		before, wall := bootTime(), time.Now().Round(0)
		if took := bootTime() - before; took < least {
			least, best = took, wall.Add(-before-took/2)
		}
	}
	return best
}

// time returns the moment on the axis of a history: by the kernel's clock, as the wall clock would show
// it had nobody set it since the test began.
func (m moment) time() time.Time { return origin.Add(m.Boot) }

// drift tells how far the wall clock had been moved by then.
func (m moment) drift() time.Duration { return m.Wall.Sub(m.time()) }
