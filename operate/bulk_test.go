package operate_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// many has jobs orders-0, orders-1 and so on, besides the job itself.
func many(g *ground, n int) (names []string) {
	for i := range n {
		name := fmt.Sprintf("orders-%d", i)
		text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: "@hourly", ShardingTotalCount: 1})
		require.NoError(g, err)
		g.do(registry.Put(jobtree.For(name).Config(), text))
		names = append(names, name)
	}
	return names
}

func TestJobsByAPattern(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	names := many(g, 3)
	g.do(registry.Put(jobtree.For("orders-gone").Server("10.0.0.1"), "DISABLED")) // a folder, and no job
	matched, err := g.op.Match(t.Context(), "orders-*")
	require.NoError(t, err)
	require.Equal(t, names, matched)
	matched, err = g.op.Match(t.Context(), "*")
	require.NoError(t, err)
	require.Len(t, matched, 4)
	_, err = g.op.Match(t.Context(), "[")
	cause, is := operate.IsRefused(err)
	require.True(t, is)
	require.Equal(t, operate.CauseInvalid, cause)
}

// An operation that panics, or ends its goroutine as a test's FailNow does, is an error of its job.
func TestAnOperationOnManyJobsThatPanics(t *testing.T) {
	t.Parallel()
	do := func(_ context.Context, name string, _ operate.Options) (operate.Result, error) {
		switch name {
		case "b":
			panic("out of range")
		case "c":
			runtime.Goexit()
		}
		return operate.Result{ID: name}, nil
	}
	results, err := operate.Each(t.Context(), []string{"a", "b", "c", "d"}, operate.Options{}, do, nil)
	var panicked *job.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "out of range", panicked.Value)
	require.Len(t, results, 4)
	require.NoError(t, results[0].Err)
	require.ErrorAs(t, results[1].Err, &panicked)
	require.ErrorIs(t, results[2].Err, job.ErrGoexit)
	require.NoError(t, results[3].Err)
	require.Equal(t, "d", results[3].Result.ID)
}

func TestAnOperationOnManyJobs(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	names := many(g, 30)
	g.do(registry.Put(jobtree.For("orders-7").Config(), "}{"))
	disable := func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
		return g.op.DisableJob(ctx, job, opts)
	}
	var heard []string
	results, err := operate.Each(t.Context(), names, because("audit"), disable, func(r operate.JobResult) { heard = append(heard, r.Job) })
	var some *operate.SomeFailedError
	require.ErrorAs(t, err, &some)
	require.Len(t, some.Failed(), 1)
	require.Contains(t, err.Error(), `1 of 30 jobs failed, the first being "orders-7": disable job "orders-7" refused`)
	cause, _ := operate.IsRefused(err)
	require.Equal(t, operate.CauseUnusable, cause)
	require.ElementsMatch(t, names, heard)
	id := results[0].Result.ID
	for i, r := range results {
		require.Equal(t, names[i], r.Job)
		require.Equal(t, id, r.Result.ID, "one operation")
	}

	g.do(registry.Put(jobtree.For("orders-7").Config(), g.textOf("orders-7")))
	results, err = operate.Each(t.Context(), names, operate.Options{ID: id}, disable, nil)
	require.NoError(t, err, "asked again, what was lacking is done")
	for i, r := range results {
		require.Equal(t, i != 7, r.Result.Repeated, r.Job)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results, err = operate.Each(ctx, names, silent(), disable, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, operate.ErrNotBegun)
	require.Contains(t, err.Error(), "30 of 30 jobs have not begun, the first being ")
	require.NotContains(t, err.Error(), "failed")
	require.Len(t, results, 30)
}

func (g *ground) textOf(name string) string {
	g.Helper()
	text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: "@hourly", ShardingTotalCount: 1})
	require.NoError(g, err)
	return text
}

func TestAServerOfAllJobs(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	names := many(g, 100)
	for _, name := range names[1:] {
		g.do(registry.Put(jobtree.For(name).Server("10.0.0.1"), ""))
	}
	g.do(registry.Put(jobtree.For("orders-5").Operated(), `{"format":9}`))
	_, err := g.op.DisableServerEverywhere(t.Context(), "10.0.0.1", operate.Options{DryRun: true, ID: "host"})
	require.Error(t, err)
	require.Empty(t, g.value(jobtree.For("orders-1").Server("10.0.0.1")))

	results, err := g.op.DisableServerEverywhere(t.Context(), "10.0.0.1", operate.Options{ID: "host"})
	var some *operate.SomeFailedError
	require.ErrorAs(t, err, &some)
	require.Len(t, some.Failed(), 1)
	require.Len(t, results, 100, "99 that know it, and the one in which it lives")
	require.Equal(t, "DISABLED", g.value(nodes.Server("10.0.0.1")))
	require.Equal(t, "DISABLED", g.value(jobtree.For("orders-99").Server("10.0.0.1")))
	require.False(t, g.node(jobtree.For("orders-0").Server("10.0.0.1")).Exists())

	g.do(registry.Delete(jobtree.For("orders-5").Operated()))
	results, err = g.op.DisableServerEverywhere(t.Context(), "10.0.0.1", silent())
	require.NoError(t, err, "asked again, even as another operation")
	again := 0
	for _, r := range results {
		if r.Result.Repeated {
			again++
		}
	}
	require.Equal(t, 99, again)
	require.NoError(t, errOf(g.op.EnableServerEverywhere(t.Context(), "10.0.0.1", silent())))
	require.False(t, g.node(nodes.Server("10.0.0.1")).Exists())
	refusal := g.refused(operate.CauseUnknownTarget, errOf(g.op.DisableServerEverywhere(t.Context(), "10.9.9.9", silent())))
	require.Contains(t, refusal.Error(), "disable server 10.9.9.9 refused: no job has it")
}

// A job that somebody else operates at that moment is decided anew by itself.
func TestAServerOfAllJobsWhileSomebodyOperatesOne(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, name := range many(g, 3) {
		g.do(registry.Put(jobtree.For(name).Server("10.0.0.1"), ""))
	}
	g.store.beforeAll = func() {
		require.NoError(t, errOf(g.operator("bert").DisableItem(t.Context(), "orders-1", 0, silent())))
		require.NoError(t, errOf(g.operator("bert").DisableServer(t.Context(), "orders-2", "10.0.0.1", silent())))
	}
	results, err := g.op.DisableServerEverywhere(t.Context(), "10.0.0.1", silent())
	require.NoError(t, err)
	for _, r := range results {
		require.Equal(t, "DISABLED", g.value(jobtree.For(r.Job).Server("10.0.0.1")))
		require.Equal(t, r.Job == "orders-2", r.Result.Repeated, r.Job)
	}
}

// shownOf are the plans of a dry run, by job.
func shownOf(results []operate.JobResult) map[string]*operate.Plan {
	shown := make(map[string]*operate.Plan)
	for _, r := range results {
		if r.Err == nil {
			shown[r.Job] = &r.Result.Plan
		}
	}
	return shown
}

// What was shown of each job is what is done to it; a job that is otherwise by then is left alone, and so is one that was
// not shown at all, also if that is only seen when the others are committed.
func TestAServerOfAllJobsIsDoneAsItWasShown(t *testing.T) {
	t.Parallel()
	const ip = "10.0.0.1"
	for name, change := range map[string]func(g *ground, now func()){
		"before":             func(_ *ground, now func()) { now() },
		"at the last moment": func(g *ground, now func()) { g.store.beforeAll = sync.OnceFunc(now) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			for _, name := range many(g, 4)[:3] {
				g.do(registry.Put(jobtree.For(name).Server(ip), ""))
			}
			dry, err := g.op.DisableServerEverywhere(t.Context(), ip, operate.Options{DryRun: true})
			require.NoError(t, err)
			shown := shownOf(dry)
			require.Len(t, shown, 4)
			delete(shown, "orders-0")
			change(g, func() { // an instance of orders-1 begins there, and its only item is about to move
				tree := jobtree.For("orders-1")
				g.do(registry.PutOwned(tree.Instance(first), "", g.sessions[first]), registry.Put(tree.ItemInstance(0), first))
				require.NoError(t, errOf(g.operator("bert").Reshard(t.Context(), "orders-1", silent())))
			})
			results, err := g.op.DisableServerEverywhere(t.Context(), ip, operate.Options{ShownJobs: shown})
			require.Error(t, err)
			for _, r := range results {
				cause, _ := operate.IsRefused(r.Err)
				switch r.Job {
				case "orders-0", "orders-1":
					require.Equal(t, operate.CauseStale, cause, "%s: %v", r.Job, r.Err)
					require.Empty(t, g.value(jobtree.For(r.Job).Server(ip)))
				default:
					require.NoError(t, r.Err, r.Job)
					require.Equal(t, "DISABLED", g.value(jobtree.For(r.Job).Server(ip)))
				}
			}
			require.ErrorContains(t, err, `now operation disable server 10.0.0.1 of "orders-0"`)
			again, err := g.op.DisableServerEverywhere(t.Context(), ip, operate.Options{DryRun: true})
			require.NoError(t, err)
			results, err = g.op.DisableServerEverywhere(t.Context(), ip, operate.Options{ShownJobs: shownOf(again)})
			require.NoError(t, err, "as it is shown by now")
			require.Len(t, results, 4)
		})
	}
}

// Each job of several is given what was shown of it.
func TestManyJobsAreDoneAsTheyWereShown(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	names := many(g, 3)
	disable := func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
		return g.op.DisableJob(ctx, job, opts)
	}
	dry, err := operate.Each(t.Context(), names[:2], operate.Options{DryRun: true}, disable, nil)
	require.NoError(t, err)
	results, err := operate.Each(t.Context(), names, operate.Options{ShownJobs: shownOf(dry)}, disable, nil)
	require.Error(t, err)
	require.NoError(t, results[0].Err)
	require.NoError(t, results[1].Err)
	cause, _ := operate.IsRefused(results[2].Err)
	require.Equal(t, operate.CauseStale, cause)
}

func TestAnInstanceLeavesAllItsJobs(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	many(g, 2)
	g.do(registry.PutOwned(jobtree.For("orders-1").Instance(first), "", g.sessions[first]))
	results, err := g.op.ShutDownEverywhere(t.Context(), first, silent())
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.Equal(t, "SHUTDOWN", g.value(nodes.Instance(first)))
	require.Equal(t, "SHUTDOWN", g.value(jobtree.For("orders-1").Instance(first)))
	require.Empty(t, g.value(nodes.Instance(second)))
	g.refused(operate.CauseUnknownTarget, errOf(g.op.ShutDownEverywhere(t.Context(), "nobody", silent())))
}

// Who asks again with the id waits again, and is not told that nobody knows what has gone since.
func TestWhatConcernsAllJobsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		results, err := g.op.ShutDownEverywhere(t.Context(), first, operate.Options{ID: "leave"})
		require.NoError(t, err)
		require.Len(t, results, 1)

		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err = g.op.ShutDownEverywhere(ctx, first, operate.Options{ID: "leave", Wait: true})
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed, "it is there yet")

		g.leave(first)
		results, err = g.op.ShutDownEverywhere(t.Context(), first, operate.Options{ID: "leave", Wait: true})
		require.NoError(t, err)
		require.True(t, results[0].Result.Repeated)
		require.True(t, results[0].Result.Progress.Done)
		g.refused(operate.CauseUnknownTarget, errOf(g.op.ShutDownEverywhere(t.Context(), first, operate.Options{ID: "other"})))
	})
}
