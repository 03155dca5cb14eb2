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
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// operates has somebody operate the jobs of a registry.
func (w *world) operates(name string, do func(op *operate.Operator) error) {
	w.t.Helper()
	handle := w.servers[name].Open("shop")
	defer handle.Vanish()
	op, err := operate.New(handle, operate.By("bert", "test"))
	require.NoError(w.t, err)
	require.NoError(w.t, do(op))
}

func (w *world) removes(job, name string) {
	w.t.Helper()
	w.operates(name, func(op *operate.Operator) error {
		_, err := op.Remove(w.t.Context(), job, operate.Options{Force: true})
		return err
	})
}

// isNowhere asserts that no registry has a configuration of a job.
func (w *world) isNowhere(job string) {
	w.t.Helper()
	for _, name := range names {
		handle := w.servers[name].Open("shop")
		n, err := handle.Get(w.t.Context(), jobtree.For(job).Config())
		handle.Vanish()
		_, elsewhere := jobtree.DecodeElsewhere(n)
		require.True(w.t, errors.Is(err, registry.ErrNotFound) || elsewhere, "%s has the job again: %s", name, n.Value)
		require.NoError(w.t, handle.Close(context.Background()))
	}
}

// A job that was removed stays so in every registry to which its name is given, until somebody stores it, which no process has
// to be started for.
func TestAJobThatWasRemovedIsFollowedAndNotCreated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(1)
		name := all[0].Name
		p := w.start(to("b"), all)
		between(30 * time.Second)
		w.removes(name, "b")
		before := w.book.counts()
		for _, registryName := range []string{"c", "b", "c", "a"} {
			w.move(name, registryName)
			time.Sleep(2 * time.Minute)
			w.isNowhere(name)
			require.Equal(t, registryName, homes(p)[name])
			require.Equal(t, before, w.book.counts())
		}
		w.operates("a", func(op *operate.Operator) error {
			_, err := op.Create(t.Context(), all[0], operate.Options{})
			return err
		})
		time.Sleep(time.Minute)
		require.Equal(t, before[name+"/0"]+6, w.book.counts()[name+"/0"])
		w.move(name, "b")
		between(20 * time.Second)
		require.Equal(t, "b", homes(p)[name])
		require.Greater(t, w.book.counts()[name+"/0"], before[name+"/0"]+7)
		w.stop()
	})
}

// Nor is one created that was removed in its new home before a process has come there.
func TestAJobIsRemovedBeforeAProcessHasFollowedIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(to("b"), nil)
		var ran atomic.Int64
		slow, err := p.f.Add(t.Context(), job.Config{Name: "slow", Cron: "@every 10s", ShardingTotalCount: 1, Unmonitored: true},
			job.HandlerFunc(func(context.Context, job.ShardingContext) error {
				if ran.Add(1) == 1 {
					time.Sleep(time.Hour) // the process leaves the former home when this has ended
				}
				return nil
			}))
		require.NoError(t, err)
		between(10 * time.Second)
		w.move("slow", "c")
		w.removes("slow", "c")
		time.Sleep(2 * time.Hour)
		require.Equal(t, "c", slow.Registry())
		require.NoError(t, slow.Waits())
		w.isNowhere("slow")
		require.Equal(t, int64(1), ran.Load())
		w.stop()
	})
}

// A process that has only seen that the job is on its way does not create it either, if it is removed where it arrives.
func TestAJobIsRemovedBeforeANewProcessHasIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(1)
		first := w.start(to("b"), all)
		between(10 * time.Second)
		first.stop()
		writes := 0
		dies, closed := w.operator(func() error {
			if writes++; writes > 2 {
				return errors.New("the mover died")
			}
			return nil
		})
		_, err := dies.Move(t.Context(), all[0].Name, "c", home.MoveOptions{Who: "anna"})
		require.Error(t, err)
		closed()
		removed := make(chan struct{})
		w.over = func(name string, reg registry.Registry) registry.Registry {
			if name != "c" {
				return reg
			}
			return gated{reg, nil, func(context.Context) error { <-removed; return nil }} // it hears late of what arrives there
		}
		p := w.start(to("b"), all)
		time.Sleep(10 * time.Second)
		require.Error(t, p.f.Jobs()[0].Waits(), "it is being moved")
		w.move(all[0].Name, "c")
		w.removes(all[0].Name, "c")
		close(removed)
		time.Sleep(2 * time.Minute)
		w.isNowhere(all[0].Name)
		w.stop()
	})
}
