package federation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// gated is a registry whose view or commits wait, or fail, as a test says.
type gated struct {
	registry.Registry
	commit func(ctx context.Context, txn registry.Txn) error
	view   func(ctx context.Context) error
}

func (g gated) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if g.commit != nil {
		if err := g.commit(ctx, txn); err != nil {
			return 0, err
		}
	}
	return g.Registry.Commit(ctx, txn)
}

func (g gated) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	if g.view != nil {
		if err := g.view(ctx); err != nil {
			return nil, err
		}
	}
	return g.Registry.View(ctx, path, except...)
}

// Code of an unmonitored job that ignores its context runs on for an hour where the job has been. Meanwhile other jobs are
// followed, and who wants to leave that one is not kept waiting.
func TestAJobThatTakesLongToBeLeftHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		quick := jobs(1)
		p := w.start(to("b"), quick)
		var moves [2]atomic.Bool
		var slow [2]*federation.Job
		for i, name := range []string{"slow", "slow-too"} {
			var err error
			slow[i], err = p.f.Add(t.Context(), job.Config{Name: name, Cron: "@every 10s", ShardingTotalCount: 1, Unmonitored: true},
				job.HandlerFunc(func(context.Context, job.ShardingContext) error {
					if !moves[i].Swap(true) {
						time.Sleep(time.Hour)
					}
					return nil
				}))
			require.NoError(t, err)
		}
		between(10 * time.Second)
		for i, j := range slow {
			require.True(t, moves[i].Load())
			w.move(j.Name(), "c")
		}
		time.Sleep(20 * time.Second)
		w.move(quick[0].Name, "c")
		before := w.book.counts()
		time.Sleep(time.Minute)
		require.Equal(t, "c", homes(p)[quick[0].Name])
		require.Equal(t, before[quick[0].Name+"/0"]+6, w.book.counts()[quick[0].Name+"/0"])
		require.ErrorContains(t, slow[0].Waits(), "leave b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, slow[1].Leave(ctx), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		time.Sleep(time.Hour)
		require.NoError(t, slow[0].Waits())
		require.Equal(t, "c", slow[0].Registry())
		w.stop()
	})
}

// Who leaves a job and gives up waiting has left it all the same, and can add it again.
func TestALeaveThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(1)
		p := w.start(to("b"), all)
		between(10 * time.Second)
		time.Sleep(6 * time.Second) // items run
		j, err := p.f.Job(all[0].Name)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, j.Leave(ctx), context.DeadlineExceeded)
		before := w.book.counts()
		time.Sleep(5 * time.Minute)
		require.Equal(t, before, w.book.counts())
		require.Empty(t, p.f.Jobs())
		require.NoError(t, j.Leave(t.Context()))
		_, err = p.f.Add(t.Context(), all[0], p.code())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.NotEqual(t, before, w.book.counts())
		w.stop()
	})
}

// The former home of a job goes away before it has confirmed that this process has left it. The job runs in its home.
func TestTheFormerHomeIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var moving atomic.Bool
		w.over = func(name string, reg registry.Registry) registry.Registry {
			return gated{Registry: reg, commit: func(ctx context.Context, txn registry.Txn) error {
				if name == "b" && moving.Load() && txn.Then[0].Kind == registry.WriteDelete && strings.Contains(txn.Then[0].Path, "/instances/") {
					<-ctx.Done()
					return context.Cause(ctx)
				}
				return nil
			}}
		}
		all := jobs(2)
		p := w.start(to("b"), all)
		between(10 * time.Second)
		moving.Store(true)
		w.move(all[0].Name, "c")
		time.Sleep(time.Second)
		w.servers["b"].Stop()
		between(time.Minute)
		before := w.book.counts()
		time.Sleep(time.Minute)
		require.Equal(t, before[all[0].Name+"/0"]+6, w.book.counts()[all[0].Name+"/0"])
		require.Equal(t, "c", homes(p)[all[0].Name])
		require.Equal(t, before[all[1].Name+"/0"], w.book.counts()[all[1].Name+"/0"], "its home is the one that is away")
		moving.Store(false)
		w.servers["b"].Start()
		between(5 * time.Minute)
		operator := w.servers["b"].Open("shop")
		nodes, _, err := operator.List(t.Context(), "/"+all[0].Name)
		require.NoError(t, err)
		require.NoError(t, operator.Close(t.Context()))
		for _, n := range nodes {
			require.False(t, n.Ephemeral(), "%s is left where the job has been", n.Path)
		}
		w.move(all[0].Name, "b")
		between(time.Minute)
		before = w.book.counts()
		time.Sleep(time.Minute)
		for _, cfg := range all {
			require.Equal(t, "b", homes(p)[cfg.Name])
			require.Equal(t, before[cfg.Name+"/0"]+6, w.book.counts()[cfg.Name+"/0"], cfg.Name)
		}
		w.stop()
	})
}

// The context of Add ends while the scheduler waits to join. The job is declared, also if it could not be started then.
func TestAddThatIsGivenUpWhileItJoins(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"it joins later": nil, "it cannot be started": registry.ErrUnavailable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				gate := make(chan struct{})
				var failed atomic.Bool
				w.over = func(name string, reg registry.Registry) registry.Registry {
					return gated{Registry: reg, view: func(ctx context.Context) error {
						<-gate
						if fails != nil && !failed.Swap(true) {
							return fails
						}
						return nil
					}}
				}
				p := w.start(to("b"), nil)
				time.Sleep(time.Second)
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(errors.New("the caller has no time")) })
				all := jobs(1)
				j, err := p.f.Add(ctx, all[0], p.code())
				require.NoError(t, err)
				_, err = p.f.Add(t.Context(), all[0], p.code())
				require.ErrorIs(t, err, scheduler.ErrDeclared)
				close(gate)
				between(3 * time.Minute)
				before := w.book.counts()
				time.Sleep(time.Minute)
				require.NoError(t, j.Waits())
				require.Equal(t, before[all[0].Name+"/0"]+6, w.book.counts()[all[0].Name+"/0"])
				w.stop()
			})
		})
	}
}

// A job that Add refuses is not brought anywhere by Run, which looks at it meanwhile, and may be added again.
func TestAJobThatIsRefusedIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var asked atomic.Int32
		p := w.start(func(job.Config) string {
			if asked.Add(1) > 1 {
				return "b"
			}
			time.Sleep(10 * time.Second) // Run looks at what waits
			return "nowhere"
		}, nil)
		all := jobs(1)
		_, err := p.f.Add(t.Context(), all[0], p.code())
		require.ErrorIs(t, err, federation.ErrInvalidOption)
		time.Sleep(5 * time.Minute)
		require.Empty(t, p.f.Jobs())
		require.Empty(t, w.book.counts())
		j, err := p.f.Add(t.Context(), all[0], p.code())
		require.NoError(t, err)
		require.Equal(t, "b", j.Registry())
		w.stop()
	})
}

// A registry is opened while Run ends. Its handle is closed.
func TestARegistryIsOpenedWhileRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		var handle *memory.Registry
		f, err := federation.New("a", []federation.Registry{{Name: "a", Open: func(context.Context) (registry.Registry, error) {
			time.Sleep(2 * time.Second)
			handle = server.Open("shop")
			return handle, nil
		}}})
		require.NoError(t, err)
		defer func() { handle.Vanish() }() // of a test that has failed
		added := make(chan error, 1)
		go func() {
			_, err := f.Add(t.Context(), jobs(1)[0], job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
			added <- err
		}()
		synctest.Wait() // it is Add that opens
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, f.Run(ctx))
		require.ErrorIs(t, <-added, scheduler.ErrStopped)
		_, err = handle.Get(t.Context(), "/orders")
		require.ErrorIs(t, err, registry.ErrClosed)
	})
}

// Whoever lists the jobs while Add refuses one does not get a handle of it, which nobody could leave.
func TestAJobThatCannotBeDeclaredIsNeverListed(t *testing.T) {
	t.Parallel()
	f, err := federation.New("a", []federation.Registry{{Name: "a", Open: func(context.Context) (registry.Registry, error) {
		return nil, errors.New("nobody asks for it")
	}}})
	require.NoError(t, err)
	cfg, stop := jobs(1)[0], make(chan struct{})
	for cfg.ShardingTotalCount = range 5000 { // to check them takes its time
		cfg.ShardingItemParameters += fmt.Sprintf("%d=x,", cfg.ShardingTotalCount)
	}
	seen := make(chan int)
	go func() {
		n := 0
		for {
			n += len(f.Jobs())
			select {
			case <-stop:
				seen <- n
				return
			default:
			}
		}
	}()
	for range 20 {
		_, err := f.Add(t.Context(), cfg, nil)
		require.ErrorContains(t, err, "handler is nil")
	}
	close(stop)
	require.Zero(t, <-seen)
}
