package fires

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// clockOf is the clock of a registry.
type clockOf struct {
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

// checker is the check of a clock, and its goroutines.
type checker struct {
	ClockCheck
	work sync.WaitGroup
}

func check(c *clockOf) *checker {
	s := &checker{}
	s.Wall, s.Ask, s.Start, s.Failed = time.Now, c.ServerTime, s.work.Go, func(error) {}
	return s
}

func TestTheRegistrysClockIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := check(&clockOf{ahead: 7 * time.Second, takes: 2 * time.Second})
		_, known := s.registryNow()
		require.False(t, known)
		require.Zero(t, s.Horizon(), "nobody knows")

		s.Check(t.Context(), 0)
		s.work.Wait()
		until(time.Hour)
		now, known := s.registryNow()
		require.True(t, known)
		require.WithinDuration(t, midnight.Add(time.Hour+7*time.Second), now, 0)
		require.WithinDuration(t, midnight.Add(time.Hour+7*time.Second+ClockTolerance), s.Horizon(), 0)
		off, known := s.Off()
		require.True(t, known)
		require.Equal(t, -7*time.Second, off)
	})
}

func TestTheRegistryDoesNotTellTheTime(t *testing.T) {
	t.Parallel()
	for _, err := range []error{registry.ErrUnsupported, registry.ErrUnavailable, errors.New("oops")} {
		synctest.Test(t, func(t *testing.T) {
			s := check(&clockOf{err: err})
			s.Check(t.Context(), 0)
			s.work.Wait()
			_, known := s.Off()
			require.False(t, known)
			require.Zero(t, s.Horizon())
		})
	}
}

// What the registry says has no monotonic reading, whatever its backend returns: by one, nobody would see that the wall clock
// is set.
func TestTheRegistrysTimeIsAWallClocks(t *testing.T) {
	t.Parallel()
	s := check(&clockOf{})
	s.Check(t.Context(), 0)
	s.work.Wait()
	now, known := s.registryNow()
	require.True(t, known)
	require.Equal(t, now.Round(0), now)
}

// A question that is not answered leaves what is known as it was.
func TestAFailedQuestionForgetsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &clockOf{ahead: 7 * time.Second}
		s := check(c)
		s.Check(t.Context(), 0)
		s.work.Wait()
		until(time.Hour)
		c.err = registry.ErrUnavailable
		s.Check(t.Context(), 0)
		s.work.Wait()
		off, known := s.Off()
		require.True(t, known)
		require.Equal(t, -7*time.Second, off)
		require.Equal(t, int32(2), c.asked.Load())
	})
}

// What was known before a session began is too little to doubt others by, and still enough to hold back one's own fires. An
// answer to a question of before is as old as that.
func TestANewSessionAsksAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &clockOf{ahead: -time.Minute}
		s := check(c)
		s.Renew(t.Context())
		s.work.Wait()
		require.True(t, s.Confirmed())
		require.Equal(t, s.Limit(), s.Horizon())
		c.takes = 10 * time.Second
		s.Check(t.Context(), 0) // is answered at 0:10
		until(6 * time.Second)
		synctest.Wait()
		c.ahead = time.Minute
		c.takes = 8 * time.Second
		s.Renew(t.Context()) // is answered at 0:14
		for _, at := range []time.Duration{7 * time.Second, 13 * time.Second} {
			until(at)
			require.Zero(t, s.Horizon())
			require.False(t, s.Confirmed() || s.Fresh(time.Hour))
			require.WithinDuration(t, midnight.Add(at-time.Minute+ClockTolerance), s.Limit(), 0)
			off, known := s.Off()
			require.True(t, known)
			require.Equal(t, time.Minute, off)
		}
		until(15 * time.Second)
		require.True(t, s.Confirmed() && s.Fresh(6*time.Second))
		require.WithinDuration(t, midnight.Add(75*time.Second+ClockTolerance), s.Horizon(), 0)
		require.Equal(t, s.Limit(), s.Horizon())
		s.work.Wait()
	})
}

// One question at a time, and none while the last answer is young enough for who asks.
func TestHowOftenTheRegistryIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &clockOf{takes: 4 * time.Second}
		s := check(c)
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
			s.Check(t.Context(), step.age)
			synctest.Wait()
			require.Equal(t, step.asked, c.asked.Load(), "at %s", step.at)
		}
		s.work.Wait()
	})
}

// A clock in order is compared once in ten minutes, and one that is about to be too far off once a minute. A registry that
// has not told its time is not asked, but one that cannot is, whether it can by now.
func TestTheClockIsComparedNowAndThen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		clock *clockOf
		want  int32 // times in an hour
	}{
		"in order":               {&clockOf{ahead: 14 * time.Second}, 1 + 5},
		"about to be wrong":      {&clockOf{ahead: -20 * time.Second}, 1 + 59},
		"nobody knows the right": {&clockOf{err: registry.ErrUnavailable}, 1},
		"nobody ever will":       {&clockOf{err: registry.ErrUnsupported}, 1 + 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := check(test.clock)
				s.Failed = func(err error) {
					if errors.Is(err, registry.ErrUnsupported) {
						s.FoundMute()
					}
				}
				s.Check(t.Context(), 0)
				for at := time.Duration(0); at < time.Hour; at += time.Second {
					until(at)
					s.CheckDrift(t.Context())
				}
				s.work.Wait()
				require.Equal(t, test.want, test.clock.asked.Load())
			})
		})
	}
}
