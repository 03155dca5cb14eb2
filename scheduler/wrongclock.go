package scheduler

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
)

const (
	// clockConfirmed is how fresh the registry's answer must be by which a clock is judged as wrong: one
	// that has been counted on for longer may have stood still with the machine.
	clockConfirmed = 2 * time.Second
	// clockAgain is how often the registry is asked while a clock is wrong.
	clockAgain = 10 * time.Second
	// clockRight is how long a clock must have been right for its instance to take part again.
	clockRight = time.Minute
	// leastClockBound is the smallest difference for which an instance leaves: asking takes time, too.
	leastClockBound = time.Second
)

// wrongClock is what a runner knows of its process's clock being too far off to run anything by it. Then
// its items would stand still here, so it leaves the job to others until the clock has been right for a
// while: as far from the registry's as half of what made it leave. What runs here ends here.
//
// The last instance stays. It refuses its fires, and leaves when another one comes.
type wrongClock struct {
	out      bool          // this instance stays out of the job
	alone    bool          // it would, if there were another
	off      time.Duration // by how much the clock was ahead when that began; negative if it was behind
	right    time.Time     // since when the clock has been right again; zero = it is not
	awaiting bool          // the registry has been asked, and its answer wakes the runner
}

// clockBound is the difference of clocks beyond which this instance leaves the job.
func (r *runner) clockBound() time.Duration {
	cfg := r.settings.config
	if cfg.ClockPolicy != job.ClockRefuse || cfg.MaxTimeDiff == 0 {
		return fires.ClockTolerance
	}
	return min(fires.ClockTolerance, max(leastClockBound, cfg.MaxTimeDiff))
}

// mindClock decides whether this process's clock lets the instance take part. A job that pauses here needs
// no clock.
func (r *runner) mindClock() {
	w := &r.clock
	off, known := r.s.clock.Off()
	if !known || !r.settings.ok {
		return
	}
	bound := r.clockBound()
	switch {
	case off.Abs() > bound:
		w.right = time.Time{}
		if !r.clockIsFresh(w.out || w.alone) {
			return
		}
		if r.other().Created == 0 {
			r.stayAlone(off)
		} else if !w.out {
			r.stayOut(off, bound)
		}
	case !w.out:
		w.alone = w.alone && off.Abs() > bound/2
	case off.Abs() > bound/2:
		w.right = time.Time{}
		r.clockIsFresh(true)
	case w.right.IsZero():
		w.right = time.Now()
		r.clockIsFresh(true)
	case time.Since(w.right) >= clockRight:
		r.comeBack()
		r.log.InfoContext(r.life, "this clock is right again: the instance takes part again", "difference", off.Round(time.Millisecond).String())
	default:
		r.clockIsFresh(true)
	}
}

// clockIsFresh tells whether the registry told its time a moment ago, and asks it if not: at once, or if the
// answer changes nothing soon, now and then.
func (r *runner) clockIsFresh(nowAndThen bool) bool {
	age, again := clockConfirmed, retryAfter
	if nowAndThen {
		age, again = clockAgain, clockAgain
	}
	r.alarm.Set(again)
	if r.s.clock.Fresh(age) {
		return true
	}
	if !r.clock.awaiting {
		r.clock.awaiting = true
		r.s.clock.WhenAsked(func() { r.box.Post(func() { r.clock.awaiting = false }) })
	}
	r.s.clock.Check(r.life, retryAfter)
	return false
}

// other returns another live instance of the job that could run its items.
func (r *runner) other() jobtree.Instance {
	i := slices.IndexFunc(r.state.Instances, func(i jobtree.Instance) bool {
		return i.ID != r.s.instance && i.Session != 0 && r.state.Enabled(i.ID)
	})
	if i < 0 {
		return jobtree.Instance{}
	}
	return r.state.Instances[i]
}

func (r *runner) stayOut(off, bound time.Duration) {
	r.clock.out, r.clock.alone, r.clock.off = true, false, off
	// What this clock ticked ahead of time was not missed, and says nothing about what others missed.
	r.witness.Forget()
	if horizon := r.s.now().Add(-off); off > 0 {
		for _, it := range r.items {
			it.due = r.settings.rules.Miss(it.due).DropAhead(horizon)
		}
	}
	r.log.ErrorContext(r.life, "this clock is too far off the registry's: the instance leaves the job until it is right again",
		"difference", off.Round(time.Millisecond).String(), "tolerated", bound.String())
}

func (r *runner) stayAlone(off time.Duration) {
	w := &r.clock
	if w.out {
		r.comeBack()
	}
	if !w.alone {
		r.log.ErrorContext(r.life, "this clock is too far off the registry's, and there is no other instance that could run the job's items",
			"difference", off.Round(time.Millisecond).String())
	}
	w.alone, w.off = true, off
}

func (r *runner) comeBack() {
	r.clock.out, r.clock.right = false, time.Time{}
	r.leftAt = time.Time{}
	r.stale = true
	r.toConsider.Note(nil, true)
	r.leadership.LookAgain()
}

// staysOut tells whether this instance takes no part because of its clock, and leaves if it still does. It
// joins for the first time in any case: somebody may wait for that.
func (r *runner) staysOut() bool {
	if !r.clock.out || !r.hasJoined() {
		return false
	}
	other := r.other()
	if other.Created == 0 {
		r.comeBack() // as the last one
		return false
	}
	if !r.registered() && !r.leads() || r.runsUnmarked() || !r.noteMissed() {
		return true
	}
	txn := r.leaveTxn()
	txn.If = append(txn.If, registry.CreatedAt(r.tree.Instance(other.ID), other.Created))
	revision, err := r.s.registry.Commit(r.attached.Ctx, txn)
	if err != nil {
		r.refused("leave because of the clock", err)
		return true
	}
	r.peers.Left()
	r.noteLeft()
	r.committed(revision)
	return true
}

// clockAllows tells whether the job's policy lets this process's clock run items, and reports it if
// it is off by more than the job tolerates.
func (r *runner) clockAllows() bool {
	cfg := r.settings.config
	if cfg.MaxTimeDiff == 0 {
		off, known := r.s.clock.Off()
		r.clockReported = r.clockReported && known && off > fires.ClockTolerance/2
		return true
	}
	r.s.clock.Check(r.life, fires.ClockEvery)
	off, known := r.s.clock.Off()
	if !known || off.Abs() <= cfg.MaxTimeDiff {
		r.clockReported = false
		return true
	}
	if !r.clockReported {
		r.clockReported = true
		r.log.ErrorContext(r.life, "this clock differs from the registry's by more than the job tolerates",
			"difference", off.Round(time.Millisecond).String(), "tolerated_seconds", int(cfg.MaxTimeDiff/time.Second),
			"policy", cfg.ClockPolicy.String())
	}
	return cfg.ClockPolicy != job.ClockRefuse
}

// clockTrouble tells what is wrong with the clock of this process, for the job; empty if nothing is.
func (r *runner) clockTrouble() string {
	ahead := r.clock.off.Abs().Round(time.Millisecond).String() + " behind the registry's"
	if r.clock.off > 0 {
		ahead = r.clock.off.Round(time.Millisecond).String() + " ahead of the registry's"
	}
	switch {
	case r.clock.out:
		return "the instance stays out of the job: its clock was " + ahead
	case r.clock.alone:
		return "the only instance of the job has a wrong clock: " + ahead
	default:
		return ""
	}
}

// watchRegistryClock makes the check of this process's clock.
func (s *Scheduler) watchRegistryClock() {
	s.clock.Now, s.clock.Ask, s.clock.Start = s.now, s.registry.ServerTime, s.work.Go
	s.clock.Failed = func(err error) {
		if !errors.Is(err, registry.ErrUnsupported) {
			s.repeated(slog.LevelWarn, "the registry did not tell the time", "", err)
		}
	}
}

// watchClock wakes all runners when the process's clock was set, because it may be their ticks that do not
// come any more. The timetable calls it whenever it wakes.
func (s *Scheduler) watchClock() {
	off, known := s.clock.Off()
	if !known || (off-s.clockWas).Abs() < leastClockBound {
		return
	}
	s.clockWas = off
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.box.Post(func() {})
	}
}
