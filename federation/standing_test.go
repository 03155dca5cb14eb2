package federation_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// tallied counts what is read.
type tallied struct {
	registry.Registry
	reads *atomic.Int64
	view  func() error
}

func (g tallied) Get(ctx context.Context, path string) (registry.Node, error) {
	g.reads.Add(1)
	return g.Registry.Get(ctx, path)
}

func (g tallied) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	g.reads.Add(1)
	if err := g.view(); err != nil {
		return nil, err
	}
	return g.Registry.View(ctx, path, except...)
}

// halfMoved has a mover die that has closed a job of b, and has kept no place in c.
func (w *world) halfMoved(job string) {
	w.t.Helper()
	dead := errors.New("dead")
	reg := w.servers["b"].Open("shop")
	defer reg.Vanish()
	closed := func() bool {
		n, err := reg.Get(w.t.Context(), jobtree.For(job).Config())
		require.NoError(w.t, err)
		e, is := jobtree.DecodeElsewhere(n)
		return is && e.Leaving() && e.Kept == 0
	}
	for range 10 { // each mover comes one commit further
		commits := 0
		d, end := w.operator(func() error {
			if commits++; commits > 1 || closed() {
				return dead
			}
			return nil
		})
		_, err := d.Move(w.t.Context(), job, "c", home.MoveOptions{Who: "anna"})
		require.ErrorIs(w.t, err, dead)
		end()
		if closed() {
			return
		}
	}
	require.FailNow(w.t, "the job was never closed")
}

// A move stands because its mover has died. Who has the job declared asks with pauses what becomes of it, also if somebody has
// created another job of this name where it was to go, and if no view can be had there; and runs it when it has arrived.
func TestAMoveThatStandsIsAskedAboutWithPauses(t *testing.T) {
	t.Parallel()
	for name, inTheWay := range map[string]string{"another job": "", "a node below": "/below", "no view": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var reads atomic.Int64
				var blind atomic.Bool
				w.over = func(name string, reg registry.Registry) registry.Registry {
					reg.(*memory.Registry).SetLatency(time.Millisecond)
					return tallied{reg, &reads, func() error {
						if name == "c" && blind.Load() {
							return registry.ErrDenied
						}
						return nil
					}}
				}
				job := jobs(1)[0]
				p := w.start(to("b"), jobs(1))
				between(10 * time.Second)
				blind.Store(inTheWay == "none")
				w.halfMoved(job.Name)
				reg := w.servers["c"].Open("shop")
				defer reg.Vanish()
				path := jobtree.For(job.Name).Config() + inTheWay
				if inTheWay != "none" {
					text, err := jobtree.EncodeConfig(job)
					require.NoError(t, err)
					_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(path, text)}})
					require.NoError(t, err)
				}
				time.Sleep(10 * time.Second)
				before := reads.Load()
				time.Sleep(time.Minute)
				require.Less(t, reads.Load()-before, int64(200))
				require.ErrorContains(t, p.f.Jobs()[0].Waits(), "the job is being moved from b to c")
				if inTheWay != "none" {
					_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(path)}})
					require.NoError(t, err)
				}
				blind.Store(false)
				w.move(job.Name, "c")
				between(2 * time.Minute) // what was missed is made up
				ran := w.book.counts()
				time.Sleep(time.Minute)
				require.Equal(t, ran[job.Name+"/0"]+6, w.book.counts()[job.Name+"/0"])
				require.Equal(t, "c", homes(p)[job.Name])
				w.stop()
			})
		})
	}
}
