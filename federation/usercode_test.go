package federation_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// opener opens a registry of a test in an application's way; connect is what it should do.
type opener func(ctx context.Context, connect func() registry.Registry) (registry.Registry, error)

// federate makes a federation over the registries of the world. One of them is opened by open.
func (w *world) federate(name string, open opener, options ...federation.Option) *federation.Federation {
	w.t.Helper()
	var registries []federation.Registry
	for _, n := range names {
		connect := func() registry.Registry { return w.servers[n].Open("shop") }
		registries = append(registries, federation.Registry{Name: n, Open: func(ctx context.Context) (registry.Registry, error) {
			if n == name {
				return open(ctx, connect)
			}
			return connect(), nil
		}})
	}
	f, err := federation.New("a", registries, options...)
	require.NoError(w.t, err)
	return f
}

// run runs a federation until the returned function is called, which returns what Run does.
func run(t *testing.T, f *federation.Federation) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = stop() }) // of a test that has failed
	return stop
}

// counting is code that counts how often it has run.
func counting(n *atomic.Int64) job.Handler {
	return job.HandlerFunc(func(context.Context, job.ShardingContext) error {
		n.Add(1)
		return nil
	})
}

// A rule that panics fails the declaration: that of an Add, which leaves nothing behind, and one that waits for a registry. The
// process lives.
func TestARuleThatPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var away, panics atomic.Bool
		panics.Store(true)
		f := w.federate("c", func(_ context.Context, connect func() registry.Registry) (registry.Registry, error) {
			if away.Load() {
				return nil, errors.New("no way")
			}
			return connect(), nil
		}, federation.WithRule(func(job.Config) string {
			if panics.Load() {
				panic("no rule")
			}
			return "b"
		}))
		all := jobs(2)
		var ran atomic.Int64
		away.Store(true)
		stop := run(t, f)
		j, err := f.Add(t.Context(), all[0], counting(&ran))
		require.NoError(t, err)
		require.ErrorContains(t, j.Waits(), "no way")
		away.Store(false)
		time.Sleep(20 * time.Second)
		require.ErrorContains(t, j.Waits(), "no rule")

		_, err = f.Add(t.Context(), all[1], counting(&ran))
		var panicked *job.PanicError
		require.ErrorAs(t, err, &panicked)
		require.Len(t, f.Jobs(), 1)

		panics.Store(false)
		_, err = f.Add(t.Context(), all[1], counting(&ran))
		require.NoError(t, err)
		between(30 * time.Second)
		require.NoError(t, j.Waits())
		ran.Store(0)
		time.Sleep(time.Minute)
		require.Equal(t, int64(24), ran.Load())
		require.NoError(t, stop())
	})
}

// A rule that does not return holds up its job, and nothing else when it is to end.
func TestARuleThatBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		released := make(chan struct{})
		f := w.federate("", nil, federation.WithRule(func(job.Config) string {
			<-released
			return "b"
		}))
		stop := run(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := f.Add(ctx, jobs(1)[0], counting(new(atomic.Int64)))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "waiting for the rule")
		require.NoError(t, stop())
		close(released)
	})
}

// closing tells when a handle is closed.
type closing struct {
	registry.Registry
	closed *atomic.Int64
}

func (c closing) Close(ctx context.Context) error {
	c.closed.Add(1)
	return c.Registry.Close(ctx)
}

// An Open that panics, or ends its goroutine, is one of a registry that is away, and is called again.
func TestAnOpenThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(){"panic": func() { panic("no way") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var calls, ran atomic.Int64
				f := w.federate("b", func(_ context.Context, connect func() registry.Registry) (registry.Registry, error) {
					if calls.Add(1) <= 2 {
						fail()
					}
					return connect(), nil
				}, federation.WithRule(to("b")))
				stop := run(t, f)
				j, err := f.Add(t.Context(), jobs(1)[0], counting(&ran))
				require.NoError(t, err)
				require.ErrorIs(t, j.Waits(), home.ErrAway)
				time.Sleep(time.Minute)
				require.NoError(t, j.Waits())
				require.NotZero(t, ran.Load())
				require.NoError(t, stop())
				require.Equal(t, int64(3), calls.Load())
			})
		})
	}
}

// An Open that ignores its context holds up the jobs of its registry, and no Add. What it opens after all is used.
func TestAnOpenThatTakesTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var calls, closed, ran, other atomic.Int64
		w.start(to("a"), jobs(1)) // so that nobody need ask all registries about it
		between(10 * time.Second)
		f := w.federate("b", func(_ context.Context, connect func() registry.Registry) (registry.Registry, error) {
			calls.Add(1)
			time.Sleep(time.Minute)
			return closing{connect(), &closed}, nil
		}, federation.WithRule(to("b")))
		stop := run(t, f)
		all := jobs(2)
		began := time.Now()
		_, err := f.Add(t.Context(), all[0], counting(&other))
		require.NoError(t, err)
		j, err := f.Add(t.Context(), all[1], counting(&ran))
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(began), federation.DefaultPatience+2*time.Second)
		require.ErrorContains(t, j.Waits(), "Open has not returned")
		between(2 * time.Minute)
		require.NoError(t, j.Waits())
		require.NotZero(t, ran.Load())
		require.Equal(t, int64(1), calls.Load())
		require.NoError(t, stop())
		require.Equal(t, int64(1), closed.Load())
		w.stop()
	})
}

// Why an Open failed is told, also if it took longer than it is waited for.
func TestAnOpenThatFailsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f := w.federate("b", func(context.Context, func() registry.Registry) (registry.Registry, error) {
			time.Sleep(2 * federation.DefaultPatience)
			return nil, errors.New("an unknown authority")
		}, federation.WithRule(to("b")))
		stop := run(t, f)
		j, err := f.Add(t.Context(), jobs(1)[0], counting(new(atomic.Int64)))
		require.NoError(t, err)
		time.Sleep(10 * federation.DefaultPatience)
		require.ErrorContains(t, j.Waits(), "Open has not returned")
		require.ErrorContains(t, j.Waits(), "an unknown authority")
		time.Sleep(2 * federation.DefaultPatience)
		_ = stop()
		time.Sleep(2 * federation.DefaultPatience)
	})
}

// Run ends while an Open does not return: it says so. What that opens afterwards is closed.
func TestAnOpenThatReturnsAfterRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var closed atomic.Int64
		released := make(chan struct{})
		f := w.federate("b", func(_ context.Context, connect func() registry.Registry) (registry.Registry, error) {
			<-released
			return closing{connect(), &closed}, nil
		})
		stop := run(t, f)
		time.Sleep(time.Minute)
		began := time.Now()
		require.ErrorContains(t, stop(), "registry b: its Open has not returned")
		require.LessOrEqual(t, time.Since(began), 2*time.Second)
		close(released)
		synctest.Wait()
		require.Equal(t, int64(1), closed.Load())
	})
}

// inquiring is an observer that asks the federation when it is given the health of its scheduler.
type inquiring func()

func (inquiring) Observe(scheduler.Event) {}

func (ask inquiring) ObserveHealth(func(context.Context) scheduler.Health) { ask() }

// An observer may call the federation when its scheduler is made.
func TestAnObserverThatAsksTheFederation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var f *federation.Federation
		var asked, ran atomic.Int64
		f = w.federate("", nil, federation.WithScheduler(scheduler.WithObserver(inquiring(func() {
			asked.Add(1)
			f.Jobs()
			f.Health(context.Background())
			f.Reconsider()
			if err := f.SetStopTimeout(time.Minute); err != nil {
				t.Error(err)
			}
		}))))
		_, err := f.Add(t.Context(), jobs(1)[0], counting(&ran))
		require.NoError(t, err)
		stop := run(t, f)
		time.Sleep(time.Minute)
		require.Equal(t, int64(3), asked.Load())
		require.NotZero(t, ran.Load())
		require.NoError(t, stop())
	})
}

// slowly is code that takes its time to be configured.
type slowly struct {
	job.Handler
	takes time.Duration
}

func (s slowly) Configure(cfg job.Config) (job.HandlerFunc, error) {
	time.Sleep(s.takes)
	return s.Handler.Configure(cfg)
}

// The patience is for the registry. Code that takes longer has the time that a scheduler gives it, and nobody takes its
// registry for away meanwhile.
func TestCodeThatTakesLongerThanThePatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f := w.federate("", nil, federation.WithRule(to("b")), federation.WithPatience(time.Second))
		stop := run(t, f)
		time.Sleep(time.Second)
		all := jobs(3)
		var slow, quick atomic.Int64
		var adding sync.WaitGroup
		adding.Go(func() {
			j, err := f.Add(t.Context(), all[0], slowly{counting(&slow), 9 * time.Second})
			if err != nil || j.Waits() != nil {
				t.Errorf("%v", err)
			}
		})
		time.Sleep(1100 * time.Millisecond)
		j, err := f.Add(t.Context(), all[1], counting(&quick))
		require.NoError(t, err)
		require.NoError(t, j.Waits())
		_, err = f.Add(t.Context(), all[2], slowly{counting(&quick), 11 * time.Second})
		require.ErrorIs(t, err, scheduler.ErrNotReturned)
		adding.Wait()
		time.Sleep(time.Minute)
		require.NotZero(t, slow.Load())
		require.NotZero(t, quick.Load())
		require.Len(t, f.Jobs(), 2)
		require.NoError(t, stop())
	})
}
