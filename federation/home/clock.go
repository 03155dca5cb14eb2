package home

import (
	"context"
	"time"
)

// clock is this machine's two: one that nobody sets, but that stands still while the machine sleeps, and the one on the wall.
// Each shows how long ago something fixed was.
type clock func() (mono, wall time.Duration)

func newClock() clock {
	start := time.Now()
	return func() (mono, wall time.Duration) {
		now := time.Now()
		return now.Sub(start), now.Round(0).Sub(start.Round(0))
	}
}

// moment is when something was by the clock of the registry that a job leaves.
type moment struct {
	time.Time
	mono, wall time.Duration // by the mover's own clocks, then or just before
}

// tellsTime is how long a move waits for a registry to tell the time.
const tellsTime = 5 * time.Second

// now asks the registry that the job leaves for the time. Processes hold their clocks against that one, and leave their jobs if
// they differ by too much; nobody does that to the clock of whoever moves a job, which may be minutes off. It counts where the
// registry tells no time.
func (m *mover) now(ctx context.Context) moment {
	var at moment
	at.mono, at.wall = m.d.clock()
	bounded, cancel := context.WithTimeout(ctx, tellsTime)
	defer cancel()
	var err error
	if at.Time, err = m.from.ServerTime(bounded); err != nil {
		at.Time = time.Now()
		if ctx.Err() == nil {
			m.noteOnce(m.r.From + " did not tell the time, so the clock of this machine was taken for that of its processes")
		}
	}
	return at
}

// passed is how much time has passed since a moment, also while this machine slept. A clock on the wall that was set forward
// looks the same, so whether it was little is all that this tells.
func (m *mover) passed(since moment) time.Duration {
	mono, wall := m.d.clock()
	return max(mono-since.mono, wall-since.wall)
}
