package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// clockOf is a registry of which nothing but the clock works.
type clockOf struct {
	registry.Registry
	ahead time.Duration // of the true clock
	takes time.Duration // half of it on the way there
	err   error
	asked atomic.Int32
}

func (c *clockOf) ServerTime(context.Context) (time.Time, error) {
	c.asked.Add(1)
	time.Sleep(c.takes / 2)
	server := time.Now().Add(c.ahead)
	time.Sleep(c.takes - c.takes/2)
	return server, c.err
}

// checker is a scheduler of which nothing but the check of clocks works.
func checker(c *clockOf) *Scheduler {
	log := slog.New(slog.DiscardHandler)
	return &Scheduler{registry: c, log: log, repeats: repeats.New(log, repeats.Every), options: options{now: time.Now}}
}

func TestTheRegistrysClockIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := checker(&clockOf{ahead: 7 * time.Second, takes: 2 * time.Second})
		_, known := s.clock.registryNow()
		require.False(t, known)
		require.Zero(t, s.horizon(), "nobody knows")

		s.checkClock(t.Context(), 0)
		s.work.Wait()
		until(time.Hour)
		now, known := s.clock.registryNow()
		require.True(t, known)
		require.WithinDuration(t, midnight.Add(time.Hour+7*time.Second), now, 0)
		require.WithinDuration(t, midnight.Add(time.Hour+7*time.Second+clockTolerance), s.horizon(), 0)
		off, known := s.clockOff()
		require.True(t, known)
		require.Equal(t, -7*time.Second, off)
	})
}

func TestTheRegistryDoesNotTellTheTime(t *testing.T) {
	t.Parallel()
	for _, err := range []error{registry.ErrUnsupported, registry.ErrUnavailable, errors.New("oops")} {
		synctest.Test(t, func(t *testing.T) {
			s := checker(&clockOf{err: err})
			s.checkClock(t.Context(), 0)
			s.work.Wait()
			_, known := s.clockOff()
			require.False(t, known)
			require.Zero(t, s.horizon())
		})
	}
}

// A question that is not answered leaves what is known as it was.
func TestAFailedQuestionForgetsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &clockOf{ahead: 7 * time.Second}
		s := checker(c)
		s.checkClock(t.Context(), 0)
		s.work.Wait()
		until(time.Hour)
		c.err = registry.ErrUnavailable
		s.checkClock(t.Context(), 0)
		s.work.Wait()
		off, known := s.clockOff()
		require.True(t, known)
		require.Equal(t, -7*time.Second, off)
		require.Equal(t, int32(2), c.asked.Load())
	})
}

// One question at a time, and none while the last answer is young enough for who asks.
func TestHowOftenTheRegistryIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &clockOf{takes: 4 * time.Second}
		s := checker(c)
		for _, step := range []struct {
			at    time.Duration
			age   time.Duration
			asked int32
		}{
			{0, time.Minute, 1},                            // nobody ever asked
			{time.Second, 0, 1},                            // the question is under way
			{5 * time.Second, time.Minute, 1},              // it was answered at 0:04
			{time.Minute + 3*time.Second, time.Minute, 1},  // less than a minute ago
			{time.Minute + 4*time.Second, time.Minute, 2},  // a minute ago
			{time.Minute + 10*time.Second, time.Minute, 2}, // lately
			{time.Minute + 10*time.Second, 0, 3},           // that is not lately enough
		} {
			until(step.at)
			s.checkClock(t.Context(), step.age)
			synctest.Wait()
			require.Equal(t, step.asked, c.asked.Load(), "at %s", step.at)
		}
		s.work.Wait()
	})
}

func TestClockAllows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit  time.Duration
		policy job.ClockPolicy
		ahead  time.Duration // the registry's clock
		err    error
		want   bool
		report bool
	}{
		"no limit":                    {0, job.ClockRefuse, time.Hour, nil, true, false},
		"within":                      {3 * time.Second, job.ClockRefuse, 3 * time.Second, nil, true, false},
		"within, behind":              {3 * time.Second, job.ClockRefuse, -3 * time.Second, nil, true, false},
		"beyond":                      {3 * time.Second, job.ClockRefuse, 3*time.Second + 1, nil, false, true},
		"beyond, behind":              {3 * time.Second, job.ClockRefuse, -3*time.Second - 1, nil, false, true},
		"beyond, and only a warning":  {3 * time.Second, job.ClockWarn, time.Hour, nil, true, true},
		"beyond, and no policy":       {3 * time.Second, "", time.Hour, nil, true, true},
		"not at all":                  {time.Nanosecond, job.ClockRefuse, 2, nil, false, true},
		"the registry's is not known": {3 * time.Second, job.ClockRefuse, time.Hour, registry.ErrUnsupported, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := &clockOf{ahead: test.ahead, err: test.err}
				s := checker(c)
				cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
				cfg.MaxTimeDiff, cfg.ClockPolicy = test.limit, test.policy
				r := &runner{s: s, log: s.log, life: t.Context(), settings: settings{config: &cfg}}
				require.True(t, r.clockAllows(), "before anybody knows")
				s.work.Wait()
				require.Equal(t, test.limit != 0, c.asked.Load() == 1, "only jobs that want it ask")
				require.Equal(t, test.want, r.clockAllows())
				require.Equal(t, test.report, r.clockReported)
			})
		})
	}
}
