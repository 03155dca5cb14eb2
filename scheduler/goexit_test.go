package scheduler_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime"
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
	"github.com/elasticron/elasticron/sharding"
)

// These are stories of code that packages executions, notify, asking and wholeround call, told by whole clusters.

// vanishing is user code of every kind. That of one kind ends the goroutine that it is called on, as
// testing.T.FailNow does, or returns an error; the rest does what it should.
type vanishing struct {
	kind   string
	fails  func() error // what it returns, or panics with where it cannot; nil: it ends the goroutine
	mu     sync.Mutex
	called int // that code
	failed []error
}

func (v *vanishing) at(kind string) error {
	if kind != v.kind {
		return nil
	}
	v.mu.Lock()
	v.called++
	v.mu.Unlock()
	if v.fails == nil {
		runtime.Goexit()
	}
	return v.fails()
}

// silentlyAt is at for code that returns no error.
func (v *vanishing) silentlyAt(kind string) {
	if err := v.at(kind); err != nil {
		panic(err)
	}
}

func (v *vanishing) calls() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.called
}

func (v *vanishing) run(context.Context, job.ShardingContext) error {
	return cmp.Or(v.at("item"), errSpoiled) // so that its handler is called
}

func (v *vanishing) BeforeRun(context.Context, job.Round) error { return v.at("before run") }

func (v *vanishing) AfterRun(context.Context, job.Round, []job.ItemResult) error {
	return v.at("after run")
}

func (v *vanishing) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.ListenerEvent:
		v.note(e.Err)
	case scheduler.ErrorHandlerEvent:
		v.note(e.Handler)
	case scheduler.WholeRoundEvent:
		v.note(e.Err)
	case scheduler.ItemEvent:
		switch {
		case !e.Over():
			v.silentlyAt("observer")
		case v.kind == "item":
			v.note(e.Err)
		}
	}
}

func (v *vanishing) ItemContext(ctx context.Context, _ scheduler.ItemEvent) context.Context {
	v.silentlyAt("item context")
	return ctx
}

func (v *vanishing) note(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.failed = append(v.failed, err)
	}
}

func (v *vanishing) hook(phase string) func(context.Context, job.WholeRound) error {
	return func(context.Context, job.WholeRound) error { return v.at(phase) }
}

func (v *vanishing) options(t *testing.T) []scheduler.Option {
	t.Helper()
	handlers := errorhandler.Default()
	require.NoError(t, handlers.Register("TEST", func(job.Config, *slog.Logger) (job.ErrorHandler, error) {
		return job.ErrorHandlerFunc(func(context.Context, string, job.ShardingContext, error) error { return v.at("handler") }), nil
	}))
	var strategies sharding.Registry
	average, err := sharding.Default().Lookup("")
	require.NoError(t, err)
	require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
		if v.calls() == 0 {
			if err := v.at("strategy"); err != nil { // once, or there would never be an assignment
				return nil, err
			}
		}
		return average.Assign(r)
	})))
	return []scheduler.Option{
		scheduler.WithObserver(v), scheduler.WithErrorHandlers(handlers), scheduler.WithStrategies(&strategies),
		scheduler.WithConnectionListener(func(context.Context, scheduler.ConnectionEvent) error { return v.at("connection") }),
		scheduler.WithLeadershipListener(func(context.Context, scheduler.LeadershipEvent) error { return v.at("leadership") }),
	}
}

// Whatever code of a user ends its goroutine, the job goes on, and what can fail has failed.
func TestCodeThatEndsItsGoroutineHasFailed(t *testing.T) {
	t.Parallel()
	testFailures(t, nil, "runtime.Goexit", func(t *testing.T, err error) {
		t.Helper()
		require.ErrorIs(t, err, job.ErrGoexit)
	})
}

// unset is an error whose pointer is nil where nothing is wrong, and which says so in an error that is not nil.
type unset struct{ text string }

func (u *unset) Error() string { return u.text }

// faults is an error that cannot be compared.
type faults []string

func (f faults) Error() string { return strings.Join(f, ", ") }

// touchy is an error that cannot be asked what it is.
type touchy struct{}

func (touchy) Error() string { return "touchy" }
func (touchy) Is(error) bool { panic("do not ask") }

// The scheduler reads the text of an error, and asks what it is, where nothing is there to keep a panic from ending
// the process.
func TestCodeWhoseErrorsPanicHasFailed(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{
		"a nil pointer": (*unset)(nil), "a nil pointer of ours": (*job.FieldError)(nil), "Is panics": touchy{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testFailures(t, func() error { return fails }, "whose own methods panic", func(t *testing.T, err error) {
				t.Helper()
				require.ErrorContains(t, err, "whose own methods panic")
			})
		})
	}
}

// tired is an error whose methods answer where the code has returned it, and never again.
type tired struct{ texts, questions *atomic.Int64 }

func (e tired) Error() string { return tire(e.texts, "tired") }
func (e tired) Is(error) bool { return tire(e.questions, false) }

func tire[T any](calls *atomic.Int64, answer T) T {
	if calls.Add(1) > 2 {
		panic("asked too often")
	}
	return answer
}

// The text of an error is read for the record, the log and the events, at any time and by anybody, and what code returned
// may be looked at for what the scheduler itself has put in.
func TestErrorsAreAskedNothingAfterTheCodeHasReturned(t *testing.T) {
	t.Parallel()
	testFailures(t, func() error { return tired{new(atomic.Int64), new(atomic.Int64)} }, "tired", func(t *testing.T, err error) {
		t.Helper()
		require.ErrorContains(t, err, "tired")
	})
}

// A handler is told the very error; who else hears of it gets its text, and finds it.
func TestErrorHandlersGetTheErrorItself(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		mine := faults{"disk", "network"}
		var told, observed, listened error
		handlers := errorhandler.Default()
		require.NoError(t, handlers.Register("TEST", func(job.Config, *slog.Logger) (job.ErrorHandler, error) {
			return job.ErrorHandlerFunc(func(_ context.Context, _ string, _ job.ShardingContext, err error) error {
				told = err
				return nil
			}), nil
		}))
		cfg := minutely(1)
		cfg.ErrorHandler, cfg.Retries = "TEST", 1
		code := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return mine })
		c.startDeclared("a", code, cfg, []scheduler.Option{
			scheduler.WithErrorHandlers(handlers), scheduler.WithObserver(scheduler.ObserverFunc(func(event scheduler.Event) {
				if e, is := event.(scheduler.ItemEvent); is && e.Over() {
					observed = e.Err
				}
			})),
		}, scheduler.WithListener(job.ListenerFuncs{After: func(_ context.Context, _ job.Round, results []job.ItemResult) error {
			listened = results[0].Err
			return nil
		}}))
		sleepUntil(time.Minute + 30*time.Second)
		require.Equal(t, mine, told)
		for _, err := range []error{observed, listened} {
			var found faults
			require.ErrorAs(t, err, &found)
			require.Equal(t, mine, found)
			require.EqualError(t, err, "disk, network")
		}
	})
}

// testFailures has code of each kind fail, and expects that its text is recorded and reported.
func testFailures(t *testing.T, fails func() error, text string, expect func(*testing.T, error)) {
	t.Helper()
	reported := map[string]bool{ // false: what happened stands in the log alone
		"item": true, "before run": true, "after run": true, "handler": true, "connection": true, "leadership": true,
		"started": true, "completed": true, "strategy": false, "observer": false, "item context": false,
	}
	for kind, reports := range reported {
		for _, retries := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, %d retries", kind, retries), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					v := &vanishing{kind: kind, fails: fails}
					cfg := minutely(1)
					cfg.Retries, cfg.ErrorHandler, cfg.ShardingStrategy = retries, "TEST", "TEST"
					cfg.ReconcileInterval = time.Minute
					c.startDeclared("a", job.HandlerFunc(v.run), cfg, v.options(t), scheduler.WithListener(v), scheduler.WithWholeRoundListener(job.WholeRoundListener{
						AllStarted: v.hook("started"), StartedWithin: 10 * time.Second,
						AllCompleted: v.hook("completed"), CompletedWithin: 20 * time.Second,
					}))
					sleepUntil(3*time.Minute + time.Second)
					record := c.state().Item(0).Record.Value
					require.Equal(t, jobtree.Counts{Failure: 3}, record.Counts, "every fire ran, and has ended")
					require.NotZero(t, v.calls())
					if kind == "item" {
						require.Equal(t, 3*(1+retries), v.calls())
						require.Contains(t, record.Current.Error, text)
					}
					if reports {
						require.NotEmpty(t, v.failed)
					}
					for _, err := range v.failed {
						expect(t, err)
					}
				})
			})
		}
	}
}

// rash is a strategy that panics where it is asked whether it returns at once.
type rash struct{ sharding.Strategy }

func (rash) Immediate() bool { panic("rash") }

func TestAStrategyThatPanicsIsNotImmediate(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		average, err := sharding.Default().Lookup("")
		require.NoError(t, err)
		var strategies sharding.Registry
		require.NoError(t, strategies.Register("TEST", rash{average}))
		cfg := minutely(1)
		cfg.ShardingStrategy = "TEST"
		c.startDeclared("a", job.HandlerFunc((&vanishing{}).run), cfg, []scheduler.Option{scheduler.WithStrategies(&strategies)})
		sleepUntil(2*time.Minute + time.Second)
		require.Equal(t, jobtree.Counts{Failure: 2}, c.state().Item(0).Record.Value.Counts)
	})
}

// Configure is asked when the job is declared, and again when its configuration changes.
func TestConfigureThatEndsItsGoroutinePausesTheJob(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startCode("a", vanishingConfigure{}, jobOf(1))
		cfg := jobOf(1)
		cfg.JobParameter = "vanish"
		c.change(cfg)
		sleepUntil(time.Minute)
		c.take()
		cfg.JobParameter = ""
		c.change(cfg)
		sleepUntil(time.Minute + 30*time.Second)
		require.True(t, c.executed(0).End.After(bubbleStart.Add(time.Minute)), "it goes on when it can")
		require.ErrorIs(t, c.declares(vanishingConfigure{}, "vanish"), job.ErrGoexit)
	})
}

// Run is asked whether its context has ended, and not by what error.
func TestAContextThatEndsWithAnyErrorStopsRun(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"a nil pointer": (*unset)(nil), "Is panics": touchy{}, "not comparable": faults{"a", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := c.server.Open("test")
				s, err := scheduler.New(reg)
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), job.HandlerFunc((&vanishing{}).run))))
				reg.Cut() // the job has yet to join
				ctx, cancel := context.WithCancelCause(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.Run(ctx) }()
				time.Sleep(time.Second)
				cancel(cause)
				require.NoError(t, <-ended)
				reg.Heal()
				require.NoError(t, reg.Close(t.Context()))
			})
		})
	}
}

type vanishingConfigure struct{}

func (vanishingConfigure) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.JobParameter == "vanish" {
		runtime.Goexit()
	}
	return func(context.Context, job.ShardingContext) error { return nil }, nil
}

// declares returns what a process hears that declares another job with this parameter.
func (c *cluster) declares(code job.Handler, parameter string) error {
	c.t.Helper()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	s, err := scheduler.New(reg)
	require.NoError(c.t, err)
	cfg := job.Config{Name: "other", Cron: everyFive, ShardingTotalCount: 1}
	cfg.JobParameter = parameter
	return errOf(s.Add(c.t.Context(), cfg, code))
}
