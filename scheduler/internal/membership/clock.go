package membership

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	// clockConfirmed is how fresh the registry's answer must be to judge a clock as wrong by it: an answer
	// that has been counted on for longer may have stood still with the machine.
	clockConfirmed = 2 * time.Second
	// clockAgain is how often the registry is asked while a clock is wrong.
	clockAgain = 10 * time.Second
	// clockRight is how long a clock must have been right for its instance to take part again.
	clockRight = time.Minute
	// leastClockBound is the smallest difference for which an instance leaves: asking takes time, too.
	leastClockBound = time.Second
	// askAgain is how often the registry is asked for its time at most.
	askAgain = time.Second
)

// wrongClock is what a runner knows of its process's clock being too far off to run anything by it. Then
// its items would stand still here, so it leaves the job to others until the clock has been right for a
// while: as far from the registry's as half of what made it leave. What runs here ends here.
//
// The last instance stays, and leaves when another one comes. Fires that it ticks ahead of their time wait for that, unless the
// job's policy refuses them.
type wrongClock struct {
	out      bool          // this instance stays out of the job
	alone    bool          // it would, if there were another
	off      time.Duration // by how much the clock was ahead when that began; negative if it was behind
	right    time.Time     // since when the clock has been right again; zero = it is not
	awaiting bool          // the registry has been asked, and its answer wakes the runner
	reported bool          // that this clock is off by more than the job tolerates
	unheld   bool          // that nothing holds this clock against what the job tolerates was reported
	refused  bool          // the job's policy does not let this clock run fires
}

// clockBound is the difference of clocks beyond which this instance leaves the job.
func clockBound(cfg *job.Config) time.Duration {
	if cfg.ClockPolicy != job.ClockRefuse || cfg.MaxTimeDiff == 0 {
		return fires.ClockTolerance
	}
	return min(fires.ClockTolerance, max(leastClockBound, cfg.MaxTimeDiff))
}

// mindClock decides whether this process's clock lets the instance take part. A job that pauses here needs
// no clock.
func (m *Membership) mindClock(v room.View) {
	w := &m.clock
	off, known := v.Clock.Off()
	if !known || !v.Usable {
		return
	}
	bound := clockBound(v.Config)
	switch {
	case off.Abs() > bound:
		w.right = time.Time{}
		if !m.clockIsFresh(v, w.out || w.alone) {
			return
		}
		if other(v).Created == 0 {
			m.stayAlone(off)
		} else if !w.out {
			m.stayOut(off, bound)
		}
	case !w.out:
		w.alone = w.alone && off.Abs() > bound/2
	case off.Abs() > bound/2:
		w.right = time.Time{}
		m.clockIsFresh(v, true)
	case w.right.IsZero():
		w.right = time.Now()
		m.clockIsFresh(v, true)
	case time.Since(w.right) >= clockRight:
		m.comeBack()
		m.ports.Log().InfoContext(m.ports.Life(), "this clock is right again: the instance takes part again", "difference", off.Round(time.Millisecond).String())
	default:
		m.clockIsFresh(v, true)
	}
}

// clockIsFresh tells whether the registry gave its time a moment ago. If not, it asks for it: at once, or now and
// then if the answer changes nothing soon.
func (m *Membership) clockIsFresh(v room.View, nowAndThen bool) bool {
	age, again := clockConfirmed, askAgain
	if nowAndThen {
		age, again = clockAgain, clockAgain
	}
	m.ports.Wake(again)
	if v.Clock.Fresh(age) {
		return true
	}
	var told func()
	if !m.clock.awaiting {
		m.clock.awaiting = true
		told = func() { m.ports.Post(func() { m.clock.awaiting = false }) }
	}
	m.ports.AskClock(askAgain, told)
	return false
}

func (m *Membership) stayOut(off, bound time.Duration) {
	m.clock.out, m.clock.alone, m.clock.off = true, false, off
	m.ports.StaysOut(off)
	m.ports.Log().ErrorContext(m.ports.Life(), "this clock is too far off the registry's: the instance leaves the job until it is right again",
		"difference", off.Round(time.Millisecond).String(), "tolerated", bound.String())
}

func (m *Membership) stayAlone(off time.Duration) {
	w := &m.clock
	if w.out {
		m.comeBack()
	}
	if !w.alone {
		m.ports.Log().ErrorContext(m.ports.Life(), "this clock is too far off the registry's, and there is no other instance that could run the job's items",
			"difference", off.Round(time.Millisecond).String())
	}
	w.alone, w.off = true, off
}

// JudgeClock finds out whether the job's policy lets this process's clock run fires. It is for the moment before
// something may begin.
func (m *Membership) JudgeClock(v room.View) { m.clock.refused = !m.clockAllows(v) }

// Refuses tells whether the policy did not let the clock run fires when that was judged last.
func (m *Membership) Refuses() bool { return m.clock.refused }

// clockAllows tells whether the job's policy lets this process's clock run fires, and reports it if
// it is off by more than the job tolerates.
func (m *Membership) clockAllows(v room.View) bool {
	cfg := v.Config
	if cfg.MaxTimeDiff == 0 {
		m.nothingToReport(v)
		return true
	}
	m.ports.AskClock(fires.ClockEvery, nil)
	m.reportUnheld(v)
	off, known := v.Clock.Off()
	tolerated := cfg.MaxTimeDiff
	if cfg.ClockPolicy == job.ClockRefuse {
		tolerated = max(leastClockBound, tolerated) // who refuses what is due here leaves it to others, see clockBound
	}
	if !known || off.Abs() <= tolerated {
		m.nothingToReport(v)
		return true
	}
	if !m.clock.reported {
		m.clock.reported = true
		m.ports.Log().ErrorContext(m.ports.Life(), "this clock differs from the registry's by more than the job tolerates",
			"difference", off.Round(time.Millisecond).String(), "tolerated_seconds", tolerated.Seconds(),
			"policy", cfg.ClockPolicy.String())
	}
	return cfg.ClockPolicy != job.ClockRefuse
}

// nothingToReport takes in that the clock is not off by more than the job tolerates. What was reported of it is said again only
// after no fire is about to lie ahead of time any more.
func (m *Membership) nothingToReport(v room.View) {
	off, known := v.Clock.Off()
	m.clock.reported = m.clock.reported && known && off > fires.ClockTolerance/2
}

// reportUnheld reports that the registry cannot tell the time by which the job wants its clocks checked.
func (m *Membership) reportUnheld(v room.View) {
	mute := v.Clock.Mute()
	if mute && !m.clock.unheld {
		m.ports.Log().ErrorContext(m.ports.Life(), "the registry cannot tell its time: nothing holds this clock against what the job tolerates",
			"tolerated_seconds", v.Config.MaxTimeDiff.Seconds(), "policy", v.Config.ClockPolicy.String())
	}
	m.clock.unheld = mute
}

// ClockTrouble tells what is wrong with the clock of this process, for the job; empty if nothing is.
func (m *Membership) ClockTrouble() string {
	ahead := m.clock.off.Abs().Round(time.Millisecond).String() + " behind the registry's"
	if m.clock.off > 0 {
		ahead = m.clock.off.Round(time.Millisecond).String() + " ahead of the registry's"
	}
	switch {
	case m.clock.out:
		return "the instance stays out of the job: its clock was " + ahead
	case m.clock.alone:
		return "the only instance of the job has a wrong clock: " + ahead
	default:
		return ""
	}
}

// FireAhead takes in that a fire does not begin yet, as it lies ahead of the registry's clock, and reports that once.
func (m *Membership) FireAhead(fire time.Time) {
	if m.clock.reported {
		return
	}
	m.clock.reported = true
	m.ports.Log().ErrorContext(m.ports.Life(), "this clock is ahead of the registry's, nothing begins by it", room.KeyFire, fire)
}
