package fires

import (
	"sync"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
)

// schedulesKept is how many schedules are kept for those who fire by the same times.
const schedulesKept = 1024

// Schedules are those by which jobs fire. Jobs that fire by the same times share one: there may be thousands, and each
// that is parsed has its own copy of its time zone, of some kilobytes. The zero Schedules has none. All methods may be
// called concurrently.
type Schedules struct {
	mu  sync.Mutex
	all map[Times]cronexpr.Schedule
}

// Of returns the schedule of a configuration.
func (s *Schedules) Of(cfg job.Config) (cronexpr.Schedule, error) {
	times := TimesOf(cfg)
	s.mu.Lock()
	defer s.mu.Unlock()
	if schedule := s.all[times]; schedule != nil {
		return schedule, nil
	}
	schedule, err := cfg.Schedule()
	if err != nil {
		return nil, err
	}
	if len(s.all) >= schedulesKept {
		clear(s.all) // jobs keep theirs
	}
	if s.all == nil {
		s.all = make(map[Times]cronexpr.Schedule)
	}
	s.all[times] = schedule
	return schedule, nil
}
