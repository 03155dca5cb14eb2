package scheduler

import (
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
)

// leastClockStep is the smallest change of a clock that is taken for one by hand: asking takes time, too.
const leastClockStep = time.Second

// registryIsMute is what a registry means that cannot tell its time.
const registryIsMute = "the registry cannot tell its time: nobody notices if this clock is off"

// watchRegistryClock makes the check of this process's clock.
func (s *Scheduler) watchRegistryClock() {
	s.clock.Wall, s.clock.Table, s.clock.Ask, s.clock.Start = s.now, s.timetable, s.registry.ServerTime, s.work.Go
	s.clock.Failed = func(err error) {
		mute := errors.Is(err, registry.ErrUnsupported)
		s.clockFails.Store(!mute)
		switch {
		case !mute:
			s.repeated(slog.LevelWarn, "the registry did not tell the time", "", err)
		case s.clock.FoundMute(): // which stays so, as a rule
			s.log.WarnContext(s.life, registryIsMute, logError, err)
		}
	}
}

// watchClock wakes all runners when the process's clock was set, because it may be their ticks that do not
// come any more. While the registry has told no time under a session though it can, it is asked again: without, nobody would
// notice a clock that is off, nor a fire that one has written. It is asked again now and then, too, as a clock that drifts goes
// unnoticed without, and a registry that cannot tell its time may be able to one day. The timetable calls it whenever it wakes.
func (s *Scheduler) watchClock() {
	off, known := s.clock.Off()
	s.clock.CheckDrift(s.life)
	if !s.clock.Confirmed() {
		fails := s.clockFails.Load()
		s.clockOwed = s.clockOwed || fails || s.clock.Mute()
		if fails {
			s.clock.Check(s.life, fires.ClockEvery)
		}
	}
	late := s.clock.Confirmed() && s.clockOwed
	if !known || !late && (off-s.clockWas).Abs() < leastClockStep {
		return
	}
	s.clockWas, s.clockOwed = off, false
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.box.Post(func() {
			if late { // until now items were looked at without
				r.rounds.LookAgainAtAll()
			}
		})
	}
}
