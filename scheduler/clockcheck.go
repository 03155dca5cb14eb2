package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

const (
	// clockTolerance is by how much clocks may differ before a fire is taken for that of a broken
	// one. A scheduled fire is executed at most once as long as clocks differ by less.
	clockTolerance = 30 * time.Second
	// clockEvery is how often the registry is asked for the time at most, and only for jobs that
	// want their clocks checked.
	clockEvery = time.Minute
	// clockTimeout bounds one such question.
	clockTimeout = 5 * time.Second
)

// clockCheck compares this process's wall clock with the registry's. It asks at the start of each
// session, and later only while a job wants it; in between it counts on by the monotonic clock, so
// a wall clock that is set shows at once. It never asks on the way to a begin.
type clockCheck struct {
	mu       sync.Mutex
	server   time.Time // the registry's clock when it was asked; zero = unknown
	measured time.Time // by this process, with a monotonic reading
	asked    time.Time // when the last answer, or none, came
	asking   bool
	told     []func() // called when the next answer, or none, has come
}

// fresh tells whether the registry told its time within age.
func (c *clockCheck) fresh(age time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.server.IsZero() && time.Since(c.measured) < age
}

// whenAsked has fn called when the next answer has come, or failed to.
func (c *clockCheck) whenAsked(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, fn)
}

// registryNow returns the registry's clock, as far as it is known.
func (c *clockCheck) registryNow() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server.Add(time.Since(c.measured)), !c.server.IsZero()
}

// begin tells whether to ask now: if nobody is asking, and the last answer is older than age.
func (c *clockCheck) begin(age time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking || !c.asked.IsZero() && time.Since(c.asked) < age {
		return false
	}
	c.asking = true
	return true
}

func (c *clockCheck) end(server, measured time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = false
	c.asked = time.Now()
	if !server.IsZero() {
		c.server, c.measured = server, measured
	}
	for _, fn := range c.told {
		fn()
	}
	c.told = nil
}

// checkClock asks the registry for the time, unless it was asked within age. It does not wait for
// the answer.
func (s *Scheduler) checkClock(ctx context.Context, age time.Duration) {
	if !s.clock.begin(age) {
		return
	}
	s.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, clockTimeout)
		defer cancel()
		sent := time.Now()
		server, err := s.registry.ServerTime(ctx)
		if err != nil {
			server = time.Time{}
			if !errors.Is(err, registry.ErrUnsupported) && ctx.Err() == nil {
				s.repeated(slog.LevelWarn, "the registry did not tell the time", "", err)
			}
		}
		// The answer was true at some time between; the middle errs the least.
		s.clock.end(server, sent.Add(time.Since(sent)/2))
	})
}

// horizon returns the latest fire that a clock in order can have ticked; zero if the registry's
// clock is not known.
func (s *Scheduler) horizon() time.Time {
	now, known := s.clock.registryNow()
	if !known {
		return time.Time{}
	}
	return now.Add(clockTolerance)
}

// clockOff returns by how much this process's wall clock is ahead of the registry's; negative if it
// is behind.
func (s *Scheduler) clockOff() (time.Duration, bool) {
	now, known := s.clock.registryNow()
	return s.now().Sub(now), known
}

// clockAllows tells whether the job's policy lets this process's clock run items, and reports it if
// it is off by more than the job tolerates.
func (r *runner) clockAllows() bool {
	cfg := r.settings.config
	if cfg.MaxTimeDiff == 0 {
		off, known := r.s.clockOff()
		r.clockReported = r.clockReported && known && off > clockTolerance/2
		return true
	}
	r.s.checkClock(r.life, clockEvery)
	off, known := r.s.clockOff()
	if !known || off.Abs() <= cfg.MaxTimeDiff {
		r.clockReported = false
		return true
	}
	if !r.clockReported {
		r.clockReported = true
		r.log.ErrorContext(r.life, "this clock differs from the registry's by more than the job tolerates",
			"difference", off.Round(time.Millisecond).String(), "tolerated_seconds", cfg.MaxTimeDiff.Seconds(),
			"policy", cfg.ClockPolicy.String())
	}
	return cfg.ClockPolicy != job.ClockRefuse
}
