package remote

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/elasticron/elasticron/registry/backend"
)

// NewClock returns the kernel's clock that also runs while the machine sleeps and that nobody sets.
func NewClock() backend.SessionClock {
	if _, err := bootTime(); err != nil {
		return backend.NewClock()
	}
	return func() time.Duration {
		now, _ := bootTime() // the only error there is was ruled out above
		return now
	}
}

func bootTime() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}
