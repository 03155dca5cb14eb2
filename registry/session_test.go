package registry_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

const (
	ttl    = 6 * time.Second
	moment = time.Millisecond
)

// fakeProcess is a session in virtual time with a clock that can be stopped and set forward.
type fakeProcess struct {
	*testing.T
	session *registry.Session
	control *backend.SessionControl
	base    backend.SessionClock
	stopped atomic.Int64 // where the clock stands; 0 while it goes
	asleep  atomic.Int64 // how much of the time only the clock saw, as when a machine sleeps
}

func inProcess(t *testing.T, test func(p *fakeProcess)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakeProcess{T: t, base: backend.NewClock()}
		p.session, p.control = backend.NewSession(31, ttl, p.clock, p.clock())
		test(p)
		p.control.Lose(registry.ErrClosed)
	})
}

func (p *fakeProcess) clock() time.Duration {
	if at := p.stopped.Load(); at != 0 {
		return time.Duration(at)
	}
	return p.base() + time.Duration(p.asleep.Load())
}

// requireState requires what the session shows after everything that is due has happened.
func (p *fakeProcess) requireState(want registry.SessionState) {
	p.Helper()
	synctest.Wait()
	require.Equal(p, want, p.session.State())
	require.Equal(p, want == registry.SessionLost, p.session.Err() != nil)
	require.Equal(p, want == registry.SessionLost, p.session.Remaining() == 0)
	select {
	case <-p.session.Done():
		require.Equal(p, registry.SessionLost, want)
	default:
		require.NotEqual(p, registry.SessionLost, want)
	}
}

func TestSessionGoesThroughItsStates(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		require.Equal(p, registry.SessionID(31), p.session.ID())
		require.Equal(p, ttl, p.session.TTL())
		require.Equal(p, ttl*5/6, p.session.Remaining(), "less than the TTL by a margin")

		changed := p.session.Changed()
		time.Sleep(ttl*2/3 - moment)
		p.requireState(registry.SessionConnected)
		time.Sleep(moment)
		<-changed
		p.requireState(registry.SessionSuspended)
		require.Equal(p, ttl/6, p.session.Remaining())

		changed = p.session.Changed()
		time.Sleep(ttl/6 - moment)
		p.requireState(registry.SessionSuspended)
		time.Sleep(moment)
		<-changed
		p.requireState(registry.SessionLost)
		require.ErrorIs(p, p.session.Err(), registry.ErrSessionLost)
		require.ErrorContains(p, p.session.Err(), "session 1f: no keep-alive was confirmed for 5s of a TTL of 6s")
	})
}

func TestSinceWhenASessionIsOver(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(p *fakeProcess) // a second after the last confirmed keep-alive was sent
		over time.Duration        // seven seconds after it
	}{
		"it ran out":                 {func(*fakeProcess) {}, time.Second},
		"the store says so":          {func(p *fakeProcess) { p.control.Lose(registry.ErrSessionLost) }, 7 * time.Second},
		"it was given up":            {func(p *fakeProcess) { p.session.Abandon(nil) }, 6 * time.Second},
		"given up after it ran out":  {func(p *fakeProcess) { time.Sleep(5500 * time.Millisecond); p.session.Abandon(nil) }, time.Second},
		"the machine stood still":    {func(p *fakeProcess) { p.asleep.Store(int64(time.Minute)) }, time.Minute + time.Second},
		"the store says so too late": {func(p *fakeProcess) { time.Sleep(5500 * time.Millisecond); p.control.Lose(registry.ErrSessionLost) }, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inProcess(t, func(p *fakeProcess) {
				began := time.Now()
				time.Sleep(time.Second)
				require.Zero(p, p.session.Over())
				test.end(p)
				time.Sleep(7*time.Second - time.Since(began))
				require.Equal(p, test.over, p.session.Over())
			})
		})
	}
	inProcess(t, func(p *fakeProcess) {
		time.Sleep(ttl * 5 / 6)
		p.requireState(registry.SessionLost)
		require.Zero(p, p.session.Over(), "the store still has it")
	})
}

func TestSessionDoneNeedsNobodyToLook(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		start := time.Now()
		<-p.session.Done()
		require.Equal(p, ttl*5/6, time.Since(start))
	})
}

func TestSessionIsKeptByRenewals(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		changed := p.session.Changed()
		for range 100 {
			time.Sleep(ttl/3 - moment)
			sent := p.clock()
			time.Sleep(moment)
			require.True(p, p.control.Renew(sent))
		}
		p.requireState(registry.SessionConnected)
		require.Equal(p, ttl*5/6-moment, p.session.Remaining(), "counted from when the last one was sent")
		select {
		case <-changed:
			require.Fail(p, "the state never changed")
		default:
		}
	})
}

func TestSessionComesBackFromSuspension(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		time.Sleep(ttl * 3 / 4)
		p.requireState(registry.SessionSuspended)
		changed := p.session.Changed()
		require.True(p, p.control.Renew(p.clock()))
		<-changed
		p.requireState(registry.SessionConnected)

		p.control.Suspend()
		p.requireState(registry.SessionSuspended)
		require.Equal(p, ttl*5/6, p.session.Remaining(), "doubt does not change the deadline")
		require.True(p, p.control.Renew(p.clock()))
		p.requireState(registry.SessionConnected)
	})
}

func TestLateRenewals(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		first := p.clock()
		time.Sleep(ttl / 2)
		second := p.clock()
		require.True(p, p.control.Renew(second))
		require.True(p, p.control.Renew(first), "an answer that was overtaken")
		require.Equal(p, ttl*5/6, p.session.Remaining(), "takes nothing away")

		time.Sleep(ttl * 2 / 3)
		require.True(p, p.control.Renew(second), "the answer to an old request")
		p.requireState(registry.SessionSuspended)

		time.Sleep(ttl / 6)
		require.False(p, p.control.Renew(p.clock()), "an answer after the deadline")
		p.requireState(registry.SessionLost)
		require.False(p, p.control.Renew(p.clock()))
		p.requireState(registry.SessionLost)
	})
}

func TestSessionIsLostForAReason(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		reason := errors.New("the store said so")
		p.control.Lose(reason)
		p.requireState(registry.SessionLost)
		require.ErrorIs(p, p.session.Err(), registry.ErrSessionLost)
		require.ErrorIs(p, p.session.Err(), reason)
		first := p.session.Err()
		p.control.Lose(errors.New("another"))
		p.control.Suspend()
		require.Equal(p, first, p.session.Err(), "the first reason stays")
		p.requireState(registry.SessionLost)
	})
}

func TestSessionIsAbandonedWithoutAReason(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		p.session.Abandon(nil)
		require.ErrorIs(p, p.session.Err(), registry.ErrAbandoned)
		require.NotContains(p, p.session.Err().Error(), "nil")
	})
}

// What ended a session decides for how long others cannot have what its nodes stand for.
func TestForHowLongASessionIsHeld(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration
		end   func(p *fakeProcess)
		held  time.Duration
	}{
		"it is not over":            {time.Second, func(*fakeProcess) {}, 5 * time.Second},
		"its deadline":              {5 * time.Second, func(*fakeProcess) {}, time.Second},
		"its deadline, long ago":    {time.Minute, func(*fakeProcess) {}, 0},
		"a sleep beyond its end":    {0, func(p *fakeProcess) { p.asleep.Store(int64(ttl)) }, 0},
		"a sleep until then":        {0, func(p *fakeProcess) { p.asleep.Store(int64(ttl - moment)) }, moment},
		"the process":               {time.Second, func(p *fakeProcess) { p.session.Abandon(nil) }, 5 * time.Second},
		"the store":                 {time.Second, func(p *fakeProcess) { p.control.Lose(errors.New("gone")) }, 0},
		"its deadline, then others": {5*time.Second + moment, func(p *fakeProcess) { p.control.Lose(errors.New("the link is over")) }, time.Second - moment},
	} {
		t.Run(name, func(t *testing.T) {
			inProcess(t, func(p *fakeProcess) {
				time.Sleep(test.after)
				test.end(p)
				require.Equal(t, test.held, p.session.Held())
			})
		})
	}
}

// TestSessionAfterSleep has time pass that no timer saw, as on a machine that slept.
func TestSessionAfterSleep(t *testing.T) {
	for name, tt := range map[string]struct {
		asleep time.Duration
		want   registry.SessionState
	}{
		"short":        {ttl / 2, registry.SessionConnected},
		"overdue":      {ttl * 2 / 3, registry.SessionSuspended},
		"beyond hope":  {ttl * 5 / 6, registry.SessionLost},
		"over a month": {1000 * time.Hour, registry.SessionLost},
	} {
		t.Run(name, func(t *testing.T) {
			inProcess(t, func(p *fakeProcess) {
				p.asleep.Store(int64(tt.asleep))
				require.Equal(p, tt.want, p.session.State(), "known by looking, before any timer fires")
				p.requireState(tt.want)
			})
		})
	}
}

// TestSessionWithAStoppedClock has timers fire while the clock stands just before a deadline.
func TestSessionWithAStoppedClock(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		time.Sleep(ttl*2/3 - 1)
		p.stopped.Store(int64(p.clock()))
		time.Sleep(10 * ttl)
		p.requireState(registry.SessionConnected)
		p.stopped.Store(0)
		p.requireState(registry.SessionLost)
	})
}

// The timer does not see that the machine slept, but whoever looks does, and so work is told in time.
func TestSessionIsLostInTimeAfterAShortSleep(t *testing.T) {
	inProcess(t, func(p *fakeProcess) {
		p.requireState(registry.SessionConnected)
		start := time.Now()
		p.asleep.Store(int64(ttl / 3))
		p.requireState(registry.SessionConnected)
		<-p.session.Done()
		require.Equal(p, ttl*5/6-ttl/3, time.Since(start))
	})
}

// Whoever looks waits for nobody, not even for one who changes the session at that moment.
func TestLookingAtASessionTakesNoLock(t *testing.T) {
	t.Parallel()
	var hold atomic.Bool
	held, release := make(chan struct{}), make(chan struct{})
	base := backend.NewClock()
	s, control := backend.NewSession(31, time.Hour, func() time.Duration {
		if hold.CompareAndSwap(true, false) {
			close(held)
			<-release
		}
		return base()
	}, base())
	hold.Store(true)
	changing, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(changing)
		control.Suspend()
	}()
	<-held
	go func() {
		defer close(looked)
		for range 1000 {
			if state, err, left := s.State(), s.Err(), s.Remaining(); state != registry.SessionConnected || err != nil || left == 0 {
				t.Errorf("who looks sees state %s, error %v, %s left", state, err, left)
				return
			}
		}
	}()
	select {
	case <-looked:
	case <-time.After(time.Minute):
		t.Error("whoever looks waits")
	}
	close(release)
	<-changing
	<-looked
	require.Equal(t, registry.SessionSuspended, s.State())
	control.Lose(registry.ErrClosed)
}

// Whoever is told of a change finds it, and nobody finds a lost session alive again.
func TestSessionIsAsItTells(t *testing.T) {
	t.Parallel()
	for range 100 {
		base := backend.NewClock()
		s, control := backend.NewSession(31, time.Hour, base, base())
		var looking sync.WaitGroup
		var wrong atomic.Int64
		for range 4 {
			looking.Go(func() {
				for s.State() != registry.SessionLost {
				}
				if s.Err() == nil || s.State() != registry.SessionLost || s.Remaining() != 0 {
					wrong.Add(1)
				}
			})
		}
		looking.Go(func() {
			<-s.Done()
			if s.State() != registry.SessionLost || s.Err() == nil {
				wrong.Add(1)
			}
		})
		control.Lose(registry.ErrClosed)
		looking.Wait()
		require.Zero(t, wrong.Load())
	}
}

// What it costs an execution to look, while all the others do.
func BenchmarkSessionState(b *testing.B) {
	base := backend.NewClock()
	s, control := backend.NewSession(31, time.Hour, base, base())
	defer control.Lose(registry.ErrClosed)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if s.State() != registry.SessionConnected {
				b.Fail()
			}
		}
	})
}

func TestSessionStateText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "connected", registry.SessionConnected.String())
	require.Equal(t, "suspended", registry.SessionSuspended.String())
	require.Equal(t, "lost", registry.SessionLost.String())
	require.Equal(t, "session state 9", registry.SessionState(9).String())
}
