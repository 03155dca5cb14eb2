package fires

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bell rings when a time is over, sooner than a timer of Go's. Those of an idle process ring half a millisecond late, and
// up to a whole one, since Go waits for them with a timeout of epoll, in whole milliseconds that it rounds up. A
// timer that is a file is one of the events that epoll waits for, and wakes it to a tenth of a millisecond. A busy process
// looks at its timers more often than at its files, so a timer of Go's has to ring beside.
type bell struct {
	fd   int
	file *os.File // of fd
	rung sync.WaitGroup
}

// newBell makes a bell that calls ring, which must not block, on a goroutine of its own until close. It returns nil if the
// kernel has none to give, or time here is not the machine's, as in a bubble of package synctest: a goroutine that waits for a
// file would keep it from passing.
func newBell(ring func()) *bell {
	if !machineTime() {
		return nil
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	b := &bell{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
	b.rung.Go(func() {
		var count [8]byte
		for {
			if _, err := b.file.Read(count[:]); err != nil {
				return // it is closed
			}
			ring()
		}
	})
	return b
}

// set has the bell ring after d, which is positive, and not when it was to before.
func (b *bell) set(d time.Duration) {
	if b != nil {
		// Without it, the timer beside rings.
		_ = unix.TimerfdSettime(b.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
	}
}

// close ends the bell, and returns when it does not ring any more. Nothing may follow it.
func (b *bell) close() {
	if b != nil {
		_ = b.file.Close()
		b.rung.Wait()
	}
}

// machineTime tells whether Go's time is that of the machine.
func machineTime() bool {
	before, err := realTime()
	now := time.Now()
	after, errAfter := realTime()
	return err == nil && errAfter == nil && !now.Before(before) && !now.After(after)
}

func realTime() (time.Time, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &ts); err != nil {
		return time.Time{}, err
	}
	return time.Unix(ts.Unix()), nil
}
