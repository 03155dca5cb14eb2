package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// hanging is code of an application that never returns once it was called.
type hanging struct{ forever chan struct{} }

func (h hanging) wait() error { <-h.forever; return nil }

// options has the kinds of code hang that a test asks for.
func (h hanging) options(kind string) (job.HandlerFunc, []scheduler.JobOption) {
	work := nothing
	var listener job.ListenerFuncs
	switch kind {
	case "code":
		work = func(context.Context, job.ShardingContext) error { return h.wait() }
	case "before":
		listener.Before = func(context.Context, job.Round) error { return h.wait() }
	case "after":
		listener.After = func(context.Context, job.Round, []job.ItemResult) error { return h.wait() }
	case "handler":
		work = func(context.Context, job.ShardingContext) error { return errors.New("spoiled") }
	case "hook":
		hook := func(context.Context, job.WholeRound) error { return h.wait() }
		return work, []scheduler.JobOption{scheduler.WithWholeRoundListener(job.WholeRoundListener{AllCompleted: hook, CompletedWithin: time.Minute})}
	}
	return work, []scheduler.JobOption{scheduler.WithListener(listener), scheduler.WithListener(listener)}
}

// stopOf runs fifty jobs, of which each has code that hangs, and stops them. It returns what Run returned,
// and how long that took.
func stopOf(t *testing.T, kinds []string, stop func(*scheduler.Scheduler, context.CancelFunc), log *slog.Logger) (time.Duration, error) {
	t.Helper()
	const timeout = 5 * time.Second
	h := hanging{make(chan struct{})}
	reg := memory.NewServer().Open("test")
	handle := func(context.Context, string, job.ShardingContext, error) error { return h.wait() }
	s, err := scheduler.New(reg, scheduler.WithStopTimeout(timeout), scheduler.WithLogger(log), handling(t, handle),
		scheduler.WithLeadershipListener(func(_ context.Context, e scheduler.LeadershipEvent) error {
			if e.Leading {
				return nil
			}
			return h.wait()
		}))
	require.NoError(t, err)
	for n := range 50 {
		kind := kinds[n%len(kinds)]
		cfg := job.Config{Name: fmt.Sprintf("%s-%02d", kind, n), Cron: "@every 1s", ShardingTotalCount: 3}
		cfg.ErrorHandler = "TEST"
		work, opts := h.options(kind)
		require.NoError(t, errOf(s.Add(t.Context(), cfg, work, opts...)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-s.Ready()
	sleepUntil(5500 * time.Millisecond)
	began := time.Now()
	stop(s, cancel)
	err = <-done
	took := time.Since(began)
	close(h.forever)
	cancel()
	require.NoError(t, reg.Close(t.Context()))
	synctest.Wait()
	return took, err
}

// One deadline holds for whatever hangs, however much of it: Run returns three seconds after the stop
// timeout at the latest, and says what it has given up.
func TestTheBoundOfAStop(t *testing.T) {
	t.Parallel()
	graceful := func(_ *scheduler.Scheduler, cancel context.CancelFunc) { cancel() }
	hurried := func(s *scheduler.Scheduler, _ context.CancelFunc) { s.StopNow() }
	shortened := func(s *scheduler.Scheduler, cancel context.CancelFunc) {
		assert.ErrorIs(t, s.SetStopTimeout(-1), scheduler.ErrInvalidOption)
		assert.NoError(t, s.SetStopTimeout(time.Second))
		cancel()
	}
	vanished := func(s *scheduler.Scheduler, _ context.CancelFunc) { s.Vanish() }
	all := []string{"code", "before", "after", "handler", "hook"}
	for name, test := range map[string]struct {
		kinds []string
		stop  func(*scheduler.Scheduler, context.CancelFunc)
		most  time.Duration
		says  []string
	}{
		"code":     {all[:1], graceful, 8 * time.Second, []string{`job "code-49": items [0 1 2] did not return`}},
		"before":   {all[1:2], graceful, 8 * time.Second, []string{`job "before-00": before run listener did not return when the stop timeout was over`}},
		"after":    {all[2:3], graceful, 8 * time.Second, []string{`job "after-49": after run listener did not return`, `job "after-49": after run listener was not called any more`}},
		"handlers": {all[3:4], graceful, 8 * time.Second, []string{`job "handler-07": error handler was not called any more: the scheduler stopped (`}},
		"hooks":    {all[4:], graceful, 8 * time.Second, []string{`job "hook-07": hook listener did not return`}},
		"all":      {all, graceful, 8 * time.Second, []string{`job "code-00": items`, `job "before-01": before run`, `job "after-02": after run`, `job "handler-03": error handler`, `job "hook-04": hook`, `leadership listener did not return`}},
		"sooner":   {all[:1], shortened, 4 * time.Second, []string{`job "code-49": items [0 1 2] did not return`}},
		"hurried":  {all, hurried, 3 * time.Second, []string{`job "code-00": items`, `job "after-02": after run`}},
		"vanished": {all, vanished, 3 * time.Second, []string{"vanished"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				took, err := stopOf(t, test.kinds, test.stop, slog.New(slog.DiscardHandler))
				require.LessOrEqual(t, took, test.most)
				for _, text := range test.says {
					require.ErrorContains(t, err, text)
				}
			})
		})
	}
}

// A stop says what it waits for and until when, and again when that time is over; one that has nothing to
// wait for says nothing.
func TestAStopSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log lines
		_, _ = stopOf(t, []string{"code", "before", "after", "handler", "hook"}, func(_ *scheduler.Scheduler, cancel context.CancelFunc) { cancel() },
			slog.New(slog.NewTextHandler(&log, nil)))
		for _, message := range []string{
			`level=INFO msg="stopping, waiting for what runs"`,
			`level=WARN msg="stop timeout is over, what still runs is cancelled"`,
		} {
			line := log.line(message)
			require.Contains(t, line, "until=2000-01-01T00:00:10.500Z")
			require.Contains(t, line, `items="before-01 [0 1 2], before-06 [0 1 2], `)
			require.Contains(t, line, `listeners="job \"after-02\": after run listener, `)
			require.Contains(t, line, " more")
			require.Contains(t, line, `handlers="handler-03 (`)
		}
	})
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, jobOf(2))
		sleepUntil(6 * time.Second)
		a.stop(t)
		require.Empty(t, log.line("stopping"))
	})
}

// A registry that does not answer takes its time of a stop, and not that of the observers: each hears what is left.
func TestObserversOfAStopWithoutTheRegistry(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		timeout time.Duration
		stop    func(*scheduler.Scheduler, context.CancelFunc)
	}{
		"hurried":     {scheduler.DefaultStopTimeout, func(s *scheduler.Scheduler, _ context.CancelFunc) { s.StopNow() }},
		"no timeout":  {0, func(_ *scheduler.Scheduler, cancel context.CancelFunc) { cancel() }},
		"a short one": {300 * time.Millisecond, func(_ *scheduler.Scheduler, cancel context.CancelFunc) { cancel() }},
	} {
		for _, hangs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, one hangs %t", name, hangs), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					forever := make(chan struct{})
					defer close(forever)
					var last scheduler.Event
					reg := c.server.Open("test")
					s, err := scheduler.New(reg, scheduler.WithStopTimeout(test.timeout), scheduler.WithObserver(scheduler.ObserverFunc(func(scheduler.Event) {
						if hangs {
							<-forever
						}
					})), scheduler.WithObserver(scheduler.ObserverFunc(func(e scheduler.Event) { last = e })),
						scheduler.WithConnectionListener(func(context.Context, scheduler.ConnectionEvent) error {
							if hangs {
								<-forever
							}
							return nil
						}))
					require.NoError(t, err)
					require.NoError(t, errOf(s.Add(t.Context(), jobOf(3), job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
						<-ctx.Done()
						return context.Cause(ctx)
					}))))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					done := make(chan error, 1)
					go func() { done <- s.Run(ctx) }()
					sleepUntil(6 * time.Second)
					reg.Cut()
					sleepUntil(6100 * time.Millisecond)
					began := time.Now()
					test.stop(s, cancel)
					err = <-done
					require.LessOrEqual(t, time.Since(began), min(test.timeout, time.Second)+3*time.Second)
					require.Equal(t, scheduler.EndEvent{}, last)
					if hangs {
						require.Equal(t, 2, strings.Count(err.Error(), "observer "), "that one was given up, and not called any more: %v", err)
					} else {
						require.NotContains(t, fmt.Sprint(err), "observer")
					}
					reg.Heal()
					require.NoError(t, reg.Close(t.Context()))
				})
			})
		}
	}
}
