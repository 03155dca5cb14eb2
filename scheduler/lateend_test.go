package scheduler_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// takes is work that goes on for so long, whatever becomes of its context, and sets a checkpoint.
func takes(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		time.Sleep(d)
		return job.SetOffset(ctx, "done")
	}
}

// The registry is out of reach of every process for longer than their sessions last, and executions
// finish meanwhile: before their session is given up, and after. Nothing is run again.
func TestWhatFinishedDuringAnOutageIsNotRunAgain(t *testing.T) {
	t.Parallel()
	cut := func(c *cluster, all []*instance) (heal func()) {
		for _, i := range all {
			i.registry.Cut()
		}
		return func() {
			for _, i := range all {
				i.registry.Heal()
				time.Sleep(500 * time.Millisecond) // they do not come back all at once
			}
		}
	}
	down := func(c *cluster, _ []*instance) (up func()) {
		c.server.Stop()
		return c.server.Start
	}
	for name, test := range map[string]struct {
		outage func(*cluster, []*instance) func()
		work   time.Duration
	}{
		"cut off, finished while in doubt":        {cut, 3 * time.Second},
		"cut off, finished after it was lost":     {cut, 9 * time.Second},
		"cut off, finished right before its end":  {cut, 14 * time.Second},
		"store down, finished while in doubt":     {down, 3 * time.Second},
		"store down, finished after it was lost":  {down, 9 * time.Second},
		"store down, finished after it came back": {down, 17 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failoverOf(6)
				var all []*instance
				for _, id := range []string{"a", "b", "c"} {
					all = append(all, c.start(id, takes(test.work), cfg))
				}
				sleepUntil(6 * time.Second)
				end := test.outage(c, all)
				sleepUntil(20 * time.Second)
				end()
				sleepUntil(time.Minute)
				require.Len(t, c.take(), 6, "each item ran once")
				for n := range 6 {
					item := c.state().Item(n)
					require.Equal(t, jobtree.ItemIdle, item.Record.Value.State)
					require.Equal(t, jobtree.Success, item.Record.Value.Current.Outcome)
					require.Equal(t, jobtree.Counts{Success: 1}, item.Record.Value.Counts)
					require.Equal(t, "done", item.Offset)
				}
				sleepUntil(64*time.Second + test.work + 2*time.Second)
				require.Len(t, c.take(), 6, "the next fire")
			})
		})
	}
}

// A single process finishes something after its session came back. Nobody else could know of it, and it
// does not take its own work for lost.
func TestAProcessDoesNotDeclareLostWhatItStillRuns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", takes(40*time.Second), failoverOf(1))
		sleepUntil(6 * time.Second)
		a.registry.Cut()
		sleepUntil(20 * time.Second)
		a.registry.Heal()
		sleepUntil(44 * time.Second)
		require.Equal(t, jobtree.ItemRunning, c.state().Item(0).Record.Value.State)
		sleepUntil(50 * time.Second)
		require.Len(t, c.take(), 1)
		require.Equal(t, jobtree.Counts{Success: 1}, c.state().Item(0).Record.Value.Counts)
	})
}

// endings is what an observer hears of ends.
type endings struct {
	mu   sync.Mutex
	ends []scheduler.ItemEvent
}

func (o *endings) Observe(event scheduler.Event) {
	if e, is := event.(scheduler.ItemEvent); is && e.Over() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ends = append(o.ends, e)
	}
}

// What was cut short by the loss of its session is run again, and is told apart from what finished and
// was declared lost before that could be recorded.
func TestCutShortIsToldApartFromFinished(t *testing.T) {
	t.Parallel()
	const finished = "item has finished, and its end could not be recorded: the execution was taken away"
	for name, test := range map[string]struct {
		work   job.HandlerFunc
		others bool // another process takes over meanwhile
		check  func(t *testing.T, c *cluster, e scheduler.ItemEvent, logs *logbook)
	}{
		"finished, alone": {takes(9 * time.Second), false, func(t *testing.T, c *cluster, e scheduler.ItemEvent, logs *logbook) {
			require.NoError(t, e.Err)
			require.NoError(t, e.Refused)
			require.False(t, e.CutShort)
			require.Zero(t, logs.of(finished))
			require.Equal(t, 1, logs.of("recorded ends of executions that outlived their session"))
		}},
		"cut short, alone": {hang, false, func(t *testing.T, c *cluster, e scheduler.ItemEvent, logs *logbook) {
			require.Error(t, e.Err)
			require.NoError(t, e.Refused)
			require.True(t, e.CutShort)
			require.Equal(t, 1, logs.of("item was cut short"))
			require.Equal(t, int64(1), c.state().Item(0).Record.Value.Counts.Interrupted)
		}},
		"finished, taken over": {takes(9 * time.Second), true, func(t *testing.T, c *cluster, e scheduler.ItemEvent, logs *logbook) {
			require.NoError(t, e.Err)
			require.ErrorIs(t, e.Refused, registry.ErrConflict)
			require.False(t, e.CutShort)
			require.Equal(t, 1, logs.of(finished))
		}},
		"cut short, taken over": {hang, true, func(t *testing.T, c *cluster, e scheduler.ItemEvent, logs *logbook) {
			require.Error(t, e.Err)
			require.ErrorIs(t, e.Refused, registry.ErrConflict)
			require.True(t, e.CutShort)
			require.Zero(t, logs.of(finished))
			require.Equal(t, int64(1), c.state().Item(0).Record.Value.Counts.Lost)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var heard endings
				var logs logbook
				a := c.startWith("a", test.work, []scheduler.Option{
					scheduler.WithObserver(&heard), scheduler.WithLogger(slog.New(&logs)),
				}, failoverOf(1))
				sleepUntil(6 * time.Second)
				if test.others {
					c.start("b", nil, failoverOf(1))
				}
				a.registry.Cut()
				sleepUntil(20 * time.Second)
				a.registry.Heal()
				sleepUntil(30 * time.Second)
				c.take()
				require.NotEmpty(t, heard.ends)
				test.check(t, c, heard.ends[0], &logs)
			})
		})
	}
}

// An execution that has failed before its context ends has failed, whatever becomes of its session, or of a stop, before that
// is recorded: the handler hears of it, or is named as not called, and nobody runs it again. One that would be tried again is
// cut short.
func TestWhatFailedBeforeItsContextEndedIsNotCutShort(t *testing.T) {
	t.Parallel()
	away := func(a *instance) {
		a.registry.Cut()
		sleepUntil(20 * time.Second)
		a.registry.Heal()
	}
	failed := jobtree.Counts{Failure: 1}
	for name, test := range map[string]struct {
		retries int
		happens func(t *testing.T, c *cluster, a *instance) // from 6 s on; the code fails at 8 s
		counts  jobtree.Counts
		cut     bool
		told    int
	}{
		"the registry is away": {0, func(_ *testing.T, _ *cluster, a *instance) { away(a) }, failed, false, 1},
		"the answer is lost, and the session": {0, func(_ *testing.T, _ *cluster, a *instance) {
			a.registry.LoseAnswers(1)
			sleepUntil(8 * time.Second)
			away(a)
		}, failed, false, 1},
		"the stop timeout is over before the answer comes": {0, func(t *testing.T, c *cluster, a *instance) {
			sleepUntil(7500 * time.Millisecond)
			c.server.SetPace(0, 1200*time.Millisecond)
			a.cancel()
			err := a.ended()
			require.ErrorContains(t, err, "error handler was not called any more")
		}, failed, false, 0},
		"it would be tried again": {1, func(_ *testing.T, _ *cluster, a *instance) { away(a) }, jobtree.Counts{Interrupted: 1, Success: 1}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failoverOf(1)
				cfg.ErrorHandler, cfg.Retries, cfg.RetryBackoff = "TEST", test.retries, 30*time.Second
				calls := 0
				code := func(context.Context, job.ShardingContext) error {
					if calls++; calls > 1 {
						return nil
					}
					time.Sleep(3 * time.Second)
					return errSpoiled
				}
				told := make(chan error, 10)
				handle := func(_ context.Context, _ string, _ job.ShardingContext, err error) error { told <- err; return nil }
				var heard endings
				a := c.startWith("a", code, []scheduler.Option{
					handling(t, handle), scheduler.WithObserver(&heard), scheduler.WithStopTimeout(time.Second),
				}, cfg)
				sleepUntil(6 * time.Second)
				test.happens(t, c, a)
				sleepUntil(40 * time.Second)
				require.Equal(t, test.counts, c.state().Item(0).Record.Value.Counts)
				require.NotEmpty(t, heard.ends)
				require.ErrorIs(t, heard.ends[0].Err, errSpoiled)
				require.NoError(t, heard.ends[0].Refused)
				require.Equal(t, test.cut, heard.ends[0].CutShort)
				require.Len(t, told, test.told)
				c.take()
			})
		})
	}
}

// Who was away as well gives the others a moment to say what they finished, and no more: what they do
// not speak of is run again.
func TestALossIsDeclaredWhenOthersHaveHadTheirSay(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, failoverOf(2))
		b := c.start("b", hang, failoverOf(2))
		sleepUntil(6 * time.Second)
		a.registry.Cut()
		b.crash(t)
		c.take()
		sleepUntil(20 * time.Second)
		a.registry.Heal()
		sleepUntil(21 * time.Second)
		require.Empty(t, c.take())
		sleepUntil(23 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s failover on a"}, c.shown())
	})
}

// A stop while the registry is away ends within its bound, and says what could not be recorded.
func TestAStopWithEndsThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard endings
		i := c.startWith("a", takes(9*time.Second), []scheduler.Option{
			scheduler.WithObserver(&heard), scheduler.WithStopTimeout(10 * time.Second),
		}, failoverOf(1))
		sleepUntil(6 * time.Second)
		i.registry.Cut()
		sleepUntil(20 * time.Second)
		i.cancel()
		require.NoError(t, i.ended())
		require.LessOrEqual(t, time.Since(bubbleStart), 33*time.Second)
		require.Len(t, heard.ends, 1)
		require.ErrorIs(t, heard.ends[0].Refused, registry.ErrSessionLost)
		i.registry.Vanish()
	})
}
