package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler"
)

// spoilt fails for every item.
var spoilt = job.HandlerFunc(func(context.Context, job.ShardingContext) error { return errSpoiled })

// handling returns the option by which a process knows the handler TEST.
func handling(t *testing.T, handle job.ErrorHandlerFunc) scheduler.Option {
	t.Helper()
	handlers := errorhandler.Default()
	require.NoError(t, handlers.Register("TEST", func(job.Config, *slog.Logger) (job.ErrorHandler, error) { return handle, nil }))
	return scheduler.WithErrorHandlers(handlers)
}

// handled is jobOf with the handler TEST.
func handled(items int) job.Config {
	cfg := jobOf(items)
	cfg.ErrorHandler = "TEST"
	return cfg
}

func TestTheHandlerIsToldAfterTheEndIsRecorded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var mu sync.Mutex
		var heard []string
		handle := func(_ context.Context, name string, sc job.ShardingContext, err error) error {
			recorded := c.executed(sc.Item) //nolint:contextcheck // it looks for the test, not for the handler
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, fmt.Sprintf("%s/%d %s: %v", name, sc.Item, recorded.Outcome, err))
			return nil
		}
		cfg := handled(1)
		cfg.Cron, cfg.Retries = "0 0/5 * * * ?", 2
		var o told
		c.startCode("a", spoilt, cfg, handling(t, handle), scheduler.WithObserver(&o))
		sleepUntil(6 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []string{"orders/0 failure: spoiled"}, heard, "once, after the last attempt")
		require.Empty(t, o.failures())
	})
}

// An item that was cancelled because its instance had to stop has not failed.
func TestTheHandlerIsNotToldOfInterruptions(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*instance){
		"the session is lost": func(a *instance) { a.registry.Expire() },
		"the instance stops":  func(a *instance) { a.StopNow() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				heard := make(chan error, 10)
				a := c.startCode("a", job.HandlerFunc(untilDone), handled(1), handling(t,
					func(_ context.Context, _ string, _ job.ShardingContext, err error) error { heard <- err; return nil }))
				sleepUntil(6 * time.Second)
				end(a)
				sleepUntil(9 * time.Second)
				require.Empty(t, heard)
			})
		})
	}
}

// Whatever a handler does, rounds go on, ends are recorded, and Run returns.
func TestAHandlerThatMisbehaves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handle job.ErrorHandlerFunc
		want   string
	}{
		"fails":  {func(context.Context, string, job.ShardingContext, error) error { return errors.New("no mail today") }, "no mail today"},
		"panics": {func(context.Context, string, job.ShardingContext, error) error { panic("boom") }, "panic: boom"},
		"is slow": {func(ctx context.Context, _ string, _ job.ShardingContext, _ error) error {
			<-ctx.Done()
			return ctx.Err()
		}, "error handler timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var o told
				a := c.startCode("a", spoilt, handled(2), handling(t, test.handle), scheduler.WithObserver(&o))
				sleepUntil(5*time.Second + time.Millisecond)
				require.Equal(t, jobtree.Failure, c.executed(0).Outcome)
				sleepUntil(2*time.Minute + time.Second)
				require.EqualValues(t, 24, c.state().Item(0).Record.Value.Counts.Failure, "every fire")
				require.NotEmpty(t, o.failures())
				for _, e := range o.failures() {
					require.ErrorIs(t, e.Err, errSpoiled)
					require.ErrorContains(t, e.Handler, test.want)
				}
				a.cancel()
				err := a.ended()
				if name == "is slow" { // more failures than it can be told of
					require.ErrorContains(t, err, `job "orders": error handler was not called any more`)
				} else {
					require.NoError(t, err)
				}
			})
		})
	}
}

// A handler that never returns costs two goroutines, and failures that nobody can be told of are
// reported instead of kept.
func TestAHandlerThatHangs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var o told
		var called atomic.Int32
		release := make(chan struct{})
		a := c.startCode("a", spoilt, handled(100), handling(t, func(context.Context, string, job.ShardingContext, error) error {
			called.Add(1)
			<-release
			return nil
		}), scheduler.WithObserver(&o))
		sleepUntil(11 * time.Second)
		sleepUntil(2*time.Minute + time.Second)
		require.EqualValues(t, 2, called.Load())
		require.EqualValues(t, 24, c.state().Item(99).Record.Value.Counts.Failure)
		hang, busy := 0, 0
		for _, e := range o.failures() {
			switch {
			case strings.Contains(e.Handler.Error(), "did not return"):
				hang++
			case strings.Contains(e.Handler.Error(), "busy"):
				busy++
			}
		}
		require.Equal(t, 2, hang)
		require.Equal(t, 24*100-1024-2, busy)
		began := time.Now()
		a.cancel()
		require.EqualError(t, a.ended(), `job "orders": error handler was not called any more: the scheduler stopped (1024 times)`)
		require.Zero(t, time.Since(began), "it is known to hang")
		require.Len(t, o.failures(), 24*100, "each is told or reported")
		close(release)
	})
}

// A stop waits for handlers that are being told, also for that of a job that was left before, and a hurried one does not.
func TestAStopAndTheHandler(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leaves bool
		stop   func(*instance)
		told   bool
		cause  error
		last   time.Duration
	}{
		"graceful":               {false, func(a *instance) { a.cancel() }, true, nil, 3 * time.Second},
		"graceful after a leave": {true, func(a *instance) { a.cancel() }, true, nil, 3 * time.Second},
		"hurried":                {false, func(a *instance) { a.StopNow() }, false, scheduler.ErrStopped, 0},
		"hurried after a leave":  {true, func(a *instance) { a.StopNow() }, false, scheduler.ErrStopped, 0},
		"vanished":               {false, func(a *instance) { a.Vanish() }, false, scheduler.ErrVanished, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				told, cause := make(chan bool, 1), error(nil)
				handle := func(ctx context.Context, _ string, _ job.ShardingContext, _ error) error {
					select {
					case <-time.After(5 * time.Second):
						told <- true
					case <-ctx.Done():
						cause = context.Cause(ctx)
						told <- false
					}
					return nil
				}
				a := c.startCode("a", spoilt, handled(1), handling(t, handle))
				sleepUntil(7 * time.Second)
				if test.leaves {
					require.NoError(t, ordersOf(t, a).Leave(t.Context()))
				}
				began := time.Now()
				test.stop(a)
				err := a.ended()
				require.Equal(t, name == "vanished", errors.Is(err, scheduler.ErrVanished))
				require.Equal(t, test.last, time.Since(began))
				require.Equal(t, test.told, <-told)
				require.ErrorIs(t, cause, test.cause)
			})
		})
	}
}

// What waits for the handler of a job that was left is counted once, and named while a stop waits for it.
func TestAStopReportsTheHandlerOfAJobThatWasLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		deaf := func(context.Context, string, job.ShardingContext, error) error { time.Sleep(time.Hour); return nil }
		a := c.startCode("a", spoilt, handled(5), handling(t, deaf), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		sleepUntil(7 * time.Second)
		require.NoError(t, ordersOf(t, a).Leave(t.Context()))
		a.cancel()
		err := a.ended()
		require.ErrorContains(t, err, `job "orders": error handler was not called any more: the scheduler stopped (3 times)`)
		require.Contains(t, log.line("stopping, waiting for what runs"), `handlers="orders (5 failures)"`)
		time.Sleep(2 * time.Hour)
	})
}

// THROW fails the round: what runs of it here is cancelled, what waits is not started, and all of it
// is recorded as failed. The next fire is another round.
func TestARoundFails(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := five(7, 4)
		cfg.ErrorHandler, cfg.Failover = errorhandler.Throw, true
		first := true
		code := c.record("a", func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 && first {
				first = false
				time.Sleep(2 * time.Second)
				return errSpoiled
			}
			if sc.Item == 0 {
				return nil
			}
			select {
			case <-time.After(10 * time.Second):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		c.startCode("a", code, cfg)
		sleepUntil(5*time.Minute + 3*time.Second)
		s := c.state()
		require.Equal(t, jobtree.Success, s.Item(0).Record.Value.Current.Outcome, "it was over before")
		for item := 1; item < 7; item++ {
			require.Equal(t, jobtree.Failure, s.Item(item).Record.Value.Current.Outcome, "item %d", item)
			require.Contains(t, s.Item(item).Record.Value.Current.Error, "spoiled")
		}
		runs := c.take()
		require.Len(t, runs, 6, "item 6 waited and was not started")
		for _, r := range runs[2:] {
			require.ErrorIs(t, r.cause, job.ErrFailRound)
			require.ErrorIs(t, r.cause, errSpoiled)
		}
		sleepUntil(11 * time.Minute)
		require.Len(t, c.take(), 7)
		require.EqualValues(t, 1, c.state().Item(6).Record.Value.Counts.Success)
	})
}

func TestAHandlerThatIsNotKnown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, handling(t, nil))
		require.NoError(t, err)
		cfg := jobOf(1)
		cfg.ErrorHandler = "MAIL"
		require.EqualError(t, errOf(s.Add(t.Context(), cfg, nothing)),
			`declare job "orders": ErrorHandler "MAIL" is not registered, known are IGNORE, LOG, TEST, THROW`)
		require.Empty(t, stored(t, c.server))
		require.NoError(t, reg.Close(context.Background()))
	})
}

// lines is a log of which each record is a line.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// The log has every fault of a handler's settings, and of none what may be a secret.
func TestAStoredHandlerWithFaultySettings(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		handlers := errorhandler.Default()
		require.NoError(t, handlers.Register("TEST", func(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) {
			p := job.ReadProps(cfg.Props)
			p.WebAddress("test.webhook")
			p.Number("test.tries", 1, 1, 9)
			return nil, p.Err()
		}))
		cfg := handled(1)
		cfg.Props = map[string]string{"test.webhook": "ttps://robot?access_token=swordfish", "test.tries": "many"}
		put(t, c.server, "/orders/config", mustEncode(cfg))
		var log lines
		c.startCode("a", spoilt, jobOf(1), scheduler.WithErrorHandlers(handlers), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		sleepUntil(6 * time.Second)
		require.Equal(t, 1, log.count("error handler cannot be used"))
		require.Equal(t, 1, log.count("/orders/config: props.test.webhook is"))
		require.Equal(t, 1, log.count("/orders/config: props.test.tries is"))
		require.Zero(t, log.count("swordfish"))
	})
}

// What the registry names may be a Java class: then failures are logged, and so is that.
func TestAStoredHandlerThatIsNotKnown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.ErrorHandler = "com.acme.Handler"
		put(t, c.server, "/orders/config", mustEncode(cfg))
		var log lines
		a := c.startCode("a", spoilt, jobOf(1), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		sleepUntil(11 * time.Second)
		require.Equal(t, 1, log.count("error handler cannot be used"))
		require.Equal(t, 1, log.count(`msg="item failed"`), "the second time is counted")

		cfg.ErrorHandler = errorhandler.Ignore
		c.change(cfg)
		sleepUntil(21 * time.Second)
		require.EqualValues(t, 4, c.state().Item(0).Record.Value.Counts.Failure)
		a.stop(t)
		require.Equal(t, 2, log.count(`msg="item failed"`))
		require.Equal(t, 1, log.count("times=1 "), "the others were for the handler of the new configuration")
	})
}

func TestOptionsOfHandlers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		for _, option := range []scheduler.Option{
			scheduler.WithErrorHandlers(nil), scheduler.WithErrorHandlerTimeout(0), scheduler.WithErrorHandlerTimeout(-1),
		} {
			_, err := scheduler.New(reg, option)
			require.ErrorIs(t, err, scheduler.ErrInvalidOption)
		}
		require.NoError(t, reg.Close(context.Background()))
	})
}

// line returns the only line that has a text in it, or nothing.
func (l *lines) line(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := ""
	for line := range strings.Lines(l.text.String()) {
		if !strings.Contains(line, text) {
			continue
		}
		if found != "" {
			return "more than one line has " + text
		}
		found = line
	}
	return found
}

// A factory that returns no handler, and no error, has made none: the job is refused where it is declared, and where the
// registry names it failures are logged.
func TestAFactoryThatReturnsNoHandler(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		handlers := errorhandler.Default()
		require.NoError(t, handlers.Register("TEST", func(job.Config, *slog.Logger) (job.ErrorHandler, error) { return nil, nil })) //nolint:nilnil // as it is
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithErrorHandlers(handlers))
		require.NoError(t, err)
		require.ErrorContains(t, errOf(s.Add(t.Context(), handled(1), nothing)), "its factory returned nil")
		require.NoError(t, handlers.Register("NO FUNCTION", func(job.Config, *slog.Logger) (job.ErrorHandler, error) { return job.ErrorHandlerFunc(nil), nil }))
		noFunction := handled(1)
		noFunction.ErrorHandler = "NO FUNCTION"
		require.ErrorContains(t, errOf(s.Add(t.Context(), noFunction, nothing)), "its factory returned nil")
		require.NoError(t, reg.Close(context.Background()))

		put(t, c.server, "/orders/config", mustEncode(handled(1)))
		var log lines
		c.startCode("a", spoilt, jobOf(1), scheduler.WithErrorHandlers(handlers), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		sleepUntil(6 * time.Second)
		require.Equal(t, 1, log.count("its failures are logged instead"))
		require.Equal(t, 1, log.count(`level=ERROR msg="item failed"`))
	})
}
