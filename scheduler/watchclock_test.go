package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// startSkewed starts an instance whose wall clock is off by what its test sets.
func (c *cluster) startSkewed(id string, work job.HandlerFunc, cfg job.Config, opts ...scheduler.Option) (*instance, func(time.Duration)) {
	c.t.Helper()
	clock := new(wallClock)
	return c.startWith(id, work, append(opts, scheduler.WithClock(clock.now)), cfg), clock.set
}

const (
	leftByClock  = "this clock is too far off the registry's: the instance leaves the job until it is right again"
	aloneByClock = "this clock is too far off the registry's, and there is no other instance that could run the job's items"
	clockIsRight = "this clock is right again: the instance takes part again"
)

// An instance whose clock is off owns nothing: its items move at once, no fire of them is lost, and it comes
// back when its clock has been right for a minute. It says so once.
func TestAWrongClockOwnsNothing(t *testing.T) {
	t.Parallel()
	refuses := jobOf(4)
	refuses.MaxTimeDiff, refuses.ClockPolicy = 3*time.Second, job.ClockRefuse
	for name, test := range map[string]struct {
		cfg    job.Config
		off    time.Duration
		within time.Duration // the next look at the wall clock, and a second
	}{
		"an hour ahead":                         {jobOf(4), time.Hour, 6 * time.Second},
		"by less than a minute":                 {jobOf(4), 50 * time.Second, 6 * time.Second},
		"an hour behind":                        {jobOf(4), -time.Hour, 11 * time.Second},
		"by more than the job tolerates":        {refuses, 5 * time.Second, 6 * time.Second},
		"behind by more than the job tolerates": {refuses, -5 * time.Second, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var logs logbook
				s, set := c.startSkewed("s", nil, test.cfg, scheduler.WithLogger(slog.New(&logs)))
				c.start("a", nil, test.cfg)
				sleepUntil(21 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("s"): 2}, c.owners())
				set(test.off)
				sleepUntil(21*time.Second + test.within)
				require.Equal(t, map[string]int{fullID("a"): 4}, c.owners())
				_, health := s.look(t)
				require.Contains(t, health.Clock, "stays out of the job")
				c.take()
				sleepUntil(2*time.Minute - time.Second)
				runs := c.take()
				require.GreaterOrEqual(t, len(runs), 4*17, "every fire of every item")
				for _, r := range runs {
					require.Equal(t, "a", r.instance)
				}
				set(0)
				sleepUntil(2*time.Minute + 40*time.Second)
				require.Equal(t, map[string]int{fullID("a"): 4}, c.owners())
				set(test.off)
				sleepUntil(3 * time.Minute)
				set(0)
				sleepUntil(3*time.Minute + 55*time.Second)
				require.Equal(t, map[string]int{fullID("a"): 4}, c.owners(), "the minute counts anew")
				sleepUntil(4*time.Minute + 26*time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("s"): 2}, c.owners())
				require.Equal(t, 1, logs.of(leftByClock))
				require.Equal(t, 1, logs.of(clockIsRight))
				_, health = s.look(t)
				require.Empty(t, health.Clock)
				c.take()
				sleepUntil(5*time.Minute + 26*time.Second)
				require.Len(t, c.take(), 4*12, "the fires of a minute")
			})
		})
	}
}

// A clock that is set back by less than a second does not tick its last fire again. An item that comes in that second has it
// at once, and not with a fire later, if its former owner's clock had not ticked it.
func TestAnItemComesWhileAClockRepeatsATick(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		back time.Duration
		want []string
	}{
		"corrected": {800 * time.Millisecond, []string{
			"item 2 fire 25s misfire on s after 25.4s", "item 3 fire 25s misfire on s after 25.4s",
		}},
		"set": {1200 * time.Millisecond, []string{
			"item 2 fire 25s scheduled on s after 25.8s", "item 3 fire 25s scheduled on s after 25.8s",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				_, set := c.startSkewed("s", nil, jobOf(4))
				a := c.start("a", nil, jobOf(4))
				sleepUntil(16 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("s"): 2}, c.owners())
				set(400 * time.Millisecond)
				sleepUntil(24*time.Second + 700*time.Millisecond)
				c.take()
				set(400*time.Millisecond - test.back)
				a.stop(t)
				require.Equal(t, map[string]int{fullID("s"): 4}, c.owners())
				sleepUntil(26 * time.Second)
				var ran []string
				for _, r := range c.take() {
					ran = append(ran, fmt.Sprint(r, " after ", r.began.Sub(bubbleStart).Round(100*time.Millisecond)))
				}
				require.Equal(t, test.want, ran)
			})
		})
	}
}

// A fire that comes by a clock that was set forward a moment ago is on time, though the process slept by the monotonic one.
func TestAFireAfterAClockWasSetForward(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{6 * time.Second, 9900 * time.Millisecond} {
		inBubble(t, func(t *testing.T, c *cluster) {
			cfg := jobOf(1)
			cfg.Cron, cfg.Misfire = "0 * * * * ?", job.MisfireSkip
			_, set := c.startSkewed("s", nil, cfg)
			sleepUntil(170*time.Second + 50*time.Millisecond)
			c.take()
			set(step)
			c.server.SetClockSkew(step)
			sleepUntil(180 * time.Second)
			require.Equal(t, []string{"item 0 fire 3m0s scheduled on s"}, c.shown())
		})
	}
}

// tongueTied is a registry that does not tell the time the first times that it is asked.
type tongueTied struct {
	*memory.Registry
	err   error
	times int32 // that it fails
	asked atomic.Int32
}

func (r *tongueTied) ServerTime(ctx context.Context) (time.Time, error) {
	switch n := r.asked.Add(1); {
	case n > r.times:
		return r.Registry.ServerTime(ctx)
	case r.err == nil:
		<-ctx.Done() // no answer in time
		return time.Time{}, ctx.Err()
	default:
		return time.Time{}, r.err
	}
}

// A registry that did not answer when the session began is asked for its time again, until it has told it once: without, a
// clock that is off would go unnoticed for as long as the session lasts.
func TestAWrongClockIsNoticedAfterAnUnansweredQuestion(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"no answer": nil, "unavailable": registry.ErrUnavailable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.start("a", nil, jobOf(2))
				reg := &tongueTied{Registry: c.server.Open("test"), err: err, times: 1}
				clock := new(wallClock)
				clock.set(40 * time.Second)
				stop := c.serve("s", reg, nil, scheduler.WithClock(clock.now))
				sleepUntil(30 * time.Second)
				require.Len(t, c.owners(), 2)
				sleepUntil(80 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
				stop()
				require.NoError(t, reg.Close(context.Background()))
			})
		})
	}
}

// A machine that stood still, clocks and all, loses its session. What it knew of the registry's clock is as old as its own, and
// the fires that others ran meanwhile are not taken for those of a broken clock, though the first question goes unanswered.
func TestAMachineThatStoodStillBelievesOthers(t *testing.T) {
	t.Parallel()
	for _, policy := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll} {
		t.Run(policy.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(2)
				cfg.Misfire = policy
				c.start("a", nil, cfg)
				reg := &tongueTied{Registry: c.server.Open("test"), err: registry.ErrUnavailable}
				clock := new(wallClock)
				var logs logbook
				stop := c.serve("s", reg, nil, scheduler.WithClock(clock.now), scheduler.WithLogger(slog.New(&logs)))
				sleepUntil(10*time.Minute + 2*time.Second)
				clock.set(-5 * time.Minute) // a bubble cannot stop the monotonic clock: what s knows is made as old instead
				c.server.SetClockSkew(-5 * time.Minute)
				reg.SetLatency(50 * time.Millisecond) // so that it does not join under this session
				reg.Expire()
				sleepUntil(10*time.Minute + 2110*time.Millisecond)
				c.server.SetClockSkew(0)
				reg.times = reg.asked.Load() + 1
				reg.Expire()
				reg.SetLatency(0)
				sleepUntil(10*time.Minute + 30*time.Second)
				clock.set(0)
				sleepUntil(13 * time.Minute)
				ran := make(map[string]int)
				for _, r := range c.take() {
					ran[fmt.Sprint(r.sc.Item, " ", r.sc.Fire.Sub(bubbleStart))]++
				}
				for fire, times := range ran {
					require.Equal(t, 1, times, fire)
				}
				require.Zero(t, logs.of("ignoring the last fire of an item: a broken clock wrote it"))
				stop()
				require.NoError(t, reg.Close(context.Background()))
			})
		})
	}
}

// One that cannot tell the time is asked once in ten minutes whether it can by now. When it does, a clock that is off is noticed
// under the session that is there, and the health report has nothing to say any more.
func TestARegistryWithoutAClockIsAskedNowAndThen(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &tongueTied{Registry: c.server.Open("test"), err: registry.ErrUnsupported, times: 3}
		var logs logbook
		clock := new(wallClock)
		clock.set(45 * time.Second)
		c.start("b", nil, jobOf(2))
		stop := c.serve("a", reg, nil, scheduler.WithClock(clock.now), scheduler.WithLogger(slog.New(&logs)))
		sleepUntil(29 * time.Minute)
		require.Equal(t, int32(3), reg.asked.Load())
		require.Equal(t, 1, logs.of(cannotTell))
		require.Len(t, c.owners(), 2, "nobody can tell that the clock of a is off")
		sleepUntil(32 * time.Minute)
		require.GreaterOrEqual(t, reg.asked.Load(), int32(4))
		require.Equal(t, 1, logs.of(leftByClock))
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners())
		stop()
		require.NoError(t, reg.Close(context.Background()))
	})
}

const (
	cannotTell    = "the registry cannot tell its time: nobody notices if this clock is off"
	nothingChecks = "the registry cannot tell its time: nothing holds this clock against what the job tolerates"
)

// Where the registry cannot tell its time, no clock is held against it. The process says so once, and once more for each job
// that wants its clocks checked; a registry that tells the time is not spoken of.
func TestARegistryWithoutAClockIsReported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err     error
		checked bool // the job says by how much clocks may differ
		want    map[string]int
	}{
		"it has none":                         {registry.ErrUnsupported, false, map[string]int{cannotTell: 1}},
		"it has none, and a job wants it":     {registry.ErrUnsupported, true, map[string]int{cannotTell: 1, nothingChecks: 1}},
		"it did not answer":                   {registry.ErrUnavailable, true, map[string]int{}},
		"it tells the time from the start on": {nil, true, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var logs logbook
				reg := &tongueTied{Registry: c.server.Open("test"), err: test.err, times: 5}
				if test.err == nil {
					reg.times = 0
				}
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(&logs)))
				require.NoError(t, err)
				cfg := jobOf(2)
				if test.checked {
					cfg.MaxTimeDiff, cfg.ClockPolicy = 2*time.Second, job.ClockRefuse
				}
				require.NoError(t, errOf(s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))))
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				sleepUntil(time.Minute)
				reg.Expire() // a new session asks anew, and has nothing new to say
				sleepUntil(3*time.Minute + time.Second)
				said := make(map[string]int)
				for _, line := range []string{cannotTell, nothingChecks} {
					if n := logs.of(line); n > 0 {
						said[line] = n
					}
				}
				require.Equal(t, test.want, said)
				health := s.Health(t.Context())
				require.Equal(t, test.want[cannotTell] > 0, health.Clock != "", health.Clock)
				require.Empty(t, health.Jobs[0].Clock, "what is known of this clock is nothing bad")

				reg.times = 0
				reg.Expire()
				sleepUntil(5 * time.Minute)
				require.Empty(t, s.Health(t.Context()).Clock, "it tells the time by now")
				cancel()
				require.NoError(t, <-done)
				require.NoError(t, reg.Close(context.Background()))
			})
		})
	}
}

// The last instance stays, whatever its clock is; of two, one does. When there is one in order it goes, and
// it comes back when that one dies.
func TestTheLastInstanceWithAWrongClockStays(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		s, set := c.startSkewed("s", nil, jobOf(2), scheduler.WithLogger(slog.New(&logs)))
		r, setOther := c.startSkewed("r", nil, jobOf(2))
		sleepUntil(8 * time.Second)
		s.registry.SetLatency(200 * time.Millisecond) // they do not see each other leave
		r.registry.SetLatency(200 * time.Millisecond)
		set(time.Hour)
		setOther(time.Hour)
		for at := 8 * time.Second; at < 20*time.Second; at += 50 * time.Millisecond {
			sleepUntil(at)
			require.NotEmpty(t, c.state().Instances)
		}
		s.registry.SetLatency(0)
		r.registry.SetLatency(0)
		for at := 20 * time.Second; at < 3*time.Minute; at += time.Second {
			sleepUntil(at)
			require.Len(t, c.state().Instances, 1)
			require.Len(t, c.owners(), 1)
		}
		a := c.start("a", nil, jobOf(2))
		sleepUntil(3*time.Minute + 5*time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
		c.take()
		sleepUntil(3*time.Minute + 26*time.Second)
		require.GreaterOrEqual(t, len(c.take()), 2*4)
		a.crash(t)
		for at := 3*time.Minute + 40*time.Second; at < 5*time.Minute; at += time.Second {
			sleepUntil(at)
			require.Len(t, c.state().Instances, 1, "one of the two is back")
		}
		// Both times that the two find each other, one of them may want to leave first and then stay after all.
		require.LessOrEqual(t, logs.of(leftByClock)+logs.of(aloneByClock), 3+1+2, "a line for each change")
	})
}

// What runs when an instance leaves because of its clock ends where it is.
func TestAWrongClockInterruptsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(22 * time.Second); return nil }
		_, set := c.startSkewed("s", slow, failoverOf(1))
		sleepUntil(6 * time.Second)
		c.start("a", nil, failoverOf(1))
		set(10 * time.Minute)
		sleepUntil(20 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 1}, c.owners())
		require.Empty(t, c.take())
		sleepUntil(50 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on s"}, c.shown())
		sleepUntil(66 * time.Second)
		require.Equal(t, []string{"item 0 fire 1m5s scheduled on a"}, c.shown())
	})
}

// A clock that is off is noticed when it is set, though the job fires by it but once a day.
func TestAWrongClockOfARareJobIsNoticed(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"ahead": 5 * time.Second, "behind": -5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				daily := job.Config{Name: "orders", Cron: "0 0 12 * * ?", ShardingTotalCount: 2}
				daily.MaxTimeDiff, daily.ClockPolicy = 3*time.Second, job.ClockRefuse
				_, set := c.startSkewed("s", nil, daily)
				c.start("a", nil, daily)
				sleepUntil(21 * time.Second)
				set(off)
				sleepUntil(33 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
			})
		})
	}
}

// What is due while the clock does not allow it runs when it does, though no tick comes for it again.
func TestAFireThatTheClockRefusedRunsWhenItIsRight(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		refuse bool
		off    time.Duration
	}{
		"it was ahead":         {false, 40 * time.Second},
		"the policy refuses":   {true, 5 * time.Second},
		"by a clock in arrear": {true, -5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "0 0/10 * * * ?", ShardingTotalCount: 1, ReconcileInterval: -1}
				if test.refuse {
					cfg.MaxTimeDiff, cfg.ClockPolicy = 2*time.Second, job.ClockRefuse
				}
				_, set := c.startSkewed("s", nil, cfg)
				sleepUntil(9 * time.Minute)
				c.take()
				set(test.off)
				sleepUntil(10*time.Minute + 20*time.Second)
				if test.refuse {
					require.Empty(t, c.take())
				}
				set(0)
				sleepUntil(11*time.Minute + 30*time.Second)
				require.Equal(t, []string{"item 0 fire 10m0s misfire on s"}, c.shown())
			})
		})
	}
}

// The last instance, which stays though its clock is ahead, runs no fire before its time when the clock is
// set right, and each once.
func TestAFireOfAClockThatWasAheadWaitsForItsTime(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]job.MisfirePolicy{"newest": job.MisfireOnce, "all": job.MisfireAll} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				minutely := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
				minutely.Misfire = policy
				s, set := c.startSkewed("s", nil, minutely)
				sleepUntil(65 * time.Second)
				set(100 * time.Second) // what it ticks first is the fire of two minutes, 55 seconds from now
				sleepUntil(80 * time.Second)
				set(0)
				sleepUntil(95 * time.Second)
				trigger(t, s)
				sleepUntil(119 * time.Second)
				require.Equal(t, []string{"item 0 fire 1m0s scheduled on s", "item 0 fire by hand manual on s"}, c.shown())
				sleepUntil(4*time.Minute + time.Second)
				require.Equal(t, []string{
					"item 0 fire 2m0s scheduled on s", "item 0 fire 3m0s scheduled on s", "item 0 fire 4m0s scheduled on s",
				}, c.shown())
			})
		})
	}
}

// The only instance, or all of them, with a clock that is ahead by more than the time between two fires: the later ticks take
// the place of no fire that may not run yet. Each runs when it comes by the registry's clock, once, and when the clock is set
// right nothing of what has come is missing.
func TestTheOnlyClockIsAhead(t *testing.T) {
	t.Parallel()
	minutely := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
	often, all, refuses, tolerates := minutely, minutely, minutely, minutely
	often.Cron = "0/5 * * * * ?"
	all.Misfire = job.MisfireAll
	refuses.MaxTimeDiff, refuses.ClockPolicy = 2*time.Second, job.ClockRefuse
	tolerates.MaxTimeDiff = time.Hour
	for name, test := range map[string]struct {
		cfg       job.Config
		ahead     time.Duration
		instances int
		period    time.Duration
		refused   bool
	}{
		"by two periods":                      {minutely, 2 * time.Minute, 1, time.Minute, false},
		"by an hour":                          {minutely, time.Hour, 1, time.Minute, false},
		"by a part of a period":               {minutely, 45 * time.Second, 1, time.Minute, false},
		"of a job that fires often":           {often, 10 * time.Minute, 1, 5 * time.Second, false},
		"of a job that runs each missed fire": {all, 2 * time.Minute, 1, time.Minute, false},
		"those of two instances":              {minutely, 10 * time.Minute, 2, time.Minute, false},
		"of a job that tolerates that":        {tolerates, 10 * time.Minute, 1, time.Minute, false},
		"of a job that refuses such clocks":   {refuses, 10 * time.Minute, 1, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var logs logbook
				var set []func(time.Duration)
				for n := range test.instances {
					_, one := c.startSkewed(string(rune('r'+n)), nil, test.cfg, scheduler.WithLogger(slog.New(&logs)))
					set = append(set, one)
				}
				sleepUntil(2*time.Minute + 10*time.Second)
				c.take()
				for _, ahead := range set {
					ahead(test.ahead)
				}
				sleepUntil(22*time.Minute + 10*time.Second)
				runs := c.take()
				for _, right := range set {
					right(0)
				}
				sleepUntil(25*time.Minute + 2*time.Second)
				runs = append(runs, c.take()...)

				first := 2*time.Minute + 10*time.Second + test.period
				if test.refused {
					first = 22 * time.Minute // one run for all that were missed
				}
				ran := make(map[time.Duration]int)
				for _, r := range runs {
					ran[r.sc.Fire.Sub(bubbleStart)]++
					require.False(t, r.began.Before(r.sc.Fire), "%v began at %v", r, r.began.Sub(bubbleStart))
				}
				for fire := first.Truncate(test.period); fire <= 25*time.Minute; fire += test.period {
					require.Equal(t, 1, ran[fire], fire)
					delete(ran, fire)
				}
				require.Empty(t, ran)
				require.LessOrEqual(t, logs.of("this clock is ahead of the registry's, nothing begins by it"), test.instances, "it says so once")
			})
		})
	}
}

// timeless is a registry whose clock can fail.
type timeless struct {
	*memory.Registry
	fails atomic.Bool
}

func (r *timeless) ServerTime(ctx context.Context) (time.Time, error) {
	if r.fails.Load() {
		return time.Time{}, registry.ErrUnavailable
	}
	return r.Registry.ServerTime(ctx)
}

// A registry that does not tell the time forbids nothing.
func TestTheRegistrysClockFails(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &timeless{Registry: c.server.Open("test")}
		stop := c.serve("a", reg, nil)
		sleepUntil(61 * time.Second)
		reg.fails.Store(true)
		reg.Expire()
		sleepUntil(2*time.Minute + time.Second)
		c.take()
		sleepUntil(3*time.Minute + time.Second)
		require.Len(t, c.take(), 2*12, "the fires of a minute")
		stop()
		require.NoError(t, reg.Close(context.Background()))
	})
}

// A clock that is ahead says nothing of whether others have run what was due: by it, fires have come that have not.
func TestAClockThatIsAheadFindsNothingOverdue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cron string
		off  time.Duration
	}{
		"within the tolerance": {"0/5 * * * * ?", 25 * time.Second},
		"out of the job":       {"0 * * * * ?", 3 * time.Minute},
		"by hours":             {"0 0 * * * ?", 2 * time.Hour},
		"behind":               {"0 * * * * ?", -3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: test.cron, ShardingTotalCount: 4}
				s, set := c.startSkewed("s", nil, cfg)
				a := c.start("a", nil, cfg)
				sleepUntil(70 * time.Minute)
				set(test.off)
				for at := 70*time.Minute + time.Second; at < 75*time.Minute; at += time.Second {
					sleepUntil(at)
					for _, in := range []*instance{s, a} {
						_, j := in.look(t)
						require.Empty(t, j.Overdue, "at %s", at)
					}
				}
			})
		})
	}
}

// Nor does one that nothing is held against, if it is ahead by no more than clocks may be: of what others run, which goes by
// their clocks.
func TestAClockThatMayBeAheadFindsNothingOverdue(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 4}
		c.start("b", nil, cfg)
		reg := &tongueTied{Registry: c.server.Open("test"), err: registry.ErrUnsupported, times: 1 << 30}
		clock := new(wallClock)
		clock.set(25 * time.Second)
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithClock(clock.now))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		for at := 3 * time.Minute; at < 8*time.Minute; at += time.Second {
			sleepUntil(at)
			require.Empty(t, s.Health(t.Context()).Jobs[0].Overdue, "at %s", at)
		}
		require.Len(t, c.owners(), 2)
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
	})
}
