package scheduler

import (
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// leastClockStep is the smallest change of a clock that is taken for one by hand: asking takes time, too.
const leastClockStep = time.Second

// watchRegistryClock makes the check of this process's clock.
func (s *Scheduler) watchRegistryClock() {
	s.clock.Wall, s.clock.Ask, s.clock.Start = s.now, s.registry.ServerTime, s.work.Go
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
	if !known || (off-s.clockWas).Abs() < leastClockStep {
		return
	}
	s.clockWas = off
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.box.Post(func() {})
	}
}
