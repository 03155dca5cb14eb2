package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

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

// serve runs a scheduler of the job "orders" over a registry until the returned function stops it.
func (c *cluster) serve(id string, reg registry.Registry, work job.HandlerFunc, opts ...scheduler.Option) (stop func()) {
	c.t.Helper()
	s, err := scheduler.New(reg, append(opts, scheduler.WithInstanceID(fullID(id)))...)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), jobOf(2), c.record(id, work))))
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(c.t, <-done)
	}
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

// refusals counts ends that were refused.
type refusals struct{ count atomic.Int64 }

func (r *refusals) Observe(event scheduler.Event) {
	if e, is := event.(scheduler.ItemEvent); is && e.Refused != nil {
		r.count.Add(1)
	}
}

// Two schedulers of one process share its session, and still leave each other's runs alone.
func TestTwoSchedulersOnOneHandle(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(2 * time.Second); return nil }
		var refused refusals
		a := c.serve("a", reg, slow, scheduler.WithObserver(&refused))
		b := c.serve("b", reg, slow, scheduler.WithObserver(&refused))
		sleepUntil(13 * time.Second)
		require.Len(t, c.take(), 4)
		a()
		b()
		require.Zero(t, refused.count.Load())
		require.NoError(t, reg.Close(context.Background()))
	})
}

// A begin whose answer comes too late, when the session is in doubt, is taken back, and its fire runs
// when it is not.
func TestABeginThatIsAnsweredTooLate(t *testing.T) {
	t.Parallel()
	for _, misfire := range []bool{true, false} {
		t.Run(fmt.Sprintf("misfire=%t", misfire), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 1}
				if !misfire {
					cfg.Misfire = job.MisfireSkip
				}
				a := c.start("a", nil, cfg)
				sleepUntil(4999 * time.Millisecond)
				a.registry.LoseAnswers(1)
				sleepUntil(5001 * time.Millisecond)
				a.registry.Cut()
				sleepUntil(8600 * time.Millisecond)
				a.registry.Heal()
				sleepUntil(20 * time.Second)
				require.Len(t, c.take(), 1)
				require.False(t, c.state().Item(0).Running.Exists())
			})
		})
	}
}

func TestARecordIsRemovedByHand(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		remove(t, c.server, "/orders/sharding/0/record")
		c.take()
		sleepUntil(16 * time.Second)
		require.Len(t, c.take(), 2)
	})
}

// A job that was removed from the registry pauses, and goes on when it is declared anew.
func TestAJobIsRemovedAndComesBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		reg := c.server.Open("test")
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.DeleteTree("/orders")}})
		require.NoError(t, err)
		require.NoError(t, reg.Close(context.Background()))
		c.take()
		sleepUntil(21 * time.Second)
		require.Empty(t, c.take())
		c.change(jobOf(1))
		sleepUntil(31 * time.Second)
		require.Len(t, c.take(), 2)
	})
}

func TestVanishWinsOverAStop(t *testing.T) {
	t.Parallel()
	for range 20 {
		inBubble(t, func(t *testing.T, c *cluster) {
			a := c.start("a", untilDone, jobOf(1))
			sleepUntil(6 * time.Second)
			a.Vanish()
			a.cancel()
			require.ErrorIs(t, <-a.done, scheduler.ErrVanished)
			a.done <- nil
			require.True(t, c.state().Item(0).Running.Exists(), "nothing was written")
		})
	}
}

func TestAddDuringAStopIsRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Second); return nil }
		a := c.start("a", slow, jobOf(1))
		sleepUntil(6 * time.Second)
		a.cancel()
		sleepUntil(7 * time.Second)
		require.ErrorIs(t, errOf(a.Add(t.Context(), job.Config{Name: "late", Cron: everyFive, ShardingTotalCount: 1}, nothing)), scheduler.ErrStopped)
		require.NotContains(t, stored(t, c.server), "/late/config")
	})
}

// A full registry is not asked more often than a person would.
func TestAnElectionInAFullRegistry(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(1))
		sleepUntil(time.Second)
		c.server.SetFull(true)
		remove(t, c.server, "/orders/leader/election/instance")
		before := a.registry.Stats().CommitRequests
		sleepUntil(4 * time.Second)
		require.Less(t, a.registry.Stats().CommitRequests-before, 20)
		c.server.SetFull(false)
		sleepUntil(7 * time.Second)
		require.NotZero(t, c.state().Leader)
	})
}

// A job that this process may not read is named and left alone, and the others run. If it may read none, Run
// says so.
func TestJobsThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string][]string{"one of two": {"/bills"}, "both": {"/bills", "/orders"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := c.server.Open("test")
				defer func() { require.NoError(t, reg.Close(context.Background())) }()
				var log lines
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", nil))))
				require.NoError(t, errOf(s.Add(t.Context(), job.Config{Name: "bills", Cron: everyFive, ShardingTotalCount: 1}, c.record("a", nil))))
				for _, path := range denied {
					reg.Deny(path, true)
				}
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				if len(denied) == 2 {
					require.ErrorIs(t, <-done, registry.ErrDenied)
					stop()
					return
				}
				sleepUntil(6 * time.Second)
				require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
				select {
				case <-s.Ready():
				default:
					require.Fail(t, "it waits for the job that it may not read")
				}
				require.Equal(t, 1, log.count("job is left alone"))
				require.Contains(t, errorLine(&log), "no permission to read /bills")
				require.Contains(t, errorLine(&log), "job=bills")
				stop()
				require.NoError(t, <-done)
			})
		})
	}
}

// electing notes how elections ended.
type electing struct {
	*memory.Registry
	mu       sync.Mutex
	outcomes []error
}

func (r *electing) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := r.Registry.Commit(ctx, txn)
	if txn.Then[0].Path == orders.Leader() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.outcomes = append(r.outcomes, err)
	}
	return revision, err
}

// What is left of the time for a latch is no time for the election itself.
func TestAnElectionWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	for _, oneWay := range []time.Duration{time.Millisecond, 400 * time.Millisecond} {
		inBubble(t, func(t *testing.T, c *cluster) {
			reg := &electing{Registry: c.server.Open("test", memory.WithLatency(oneWay))}
			stop := c.serve("a", reg, nil)
			sleepUntil(30 * time.Second)
			reg.mu.Lock()
			require.Equal(t, []error{nil}, reg.outcomes, "one way takes %s", oneWay)
			reg.mu.Unlock()
			stop()
			require.NoError(t, reg.Close(context.Background()))
		})
	}
}
