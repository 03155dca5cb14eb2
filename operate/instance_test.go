package operate_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func TestAnInstanceIsShutDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			require.Equal(t, jobtree.InstanceShutdown, g.value(nodes.Instance(first)))
			g.leave(first)
		}()
		r, err := g.op.ShutDown(t.Context(), theJob, first, waiting())
		require.NoError(t, err)
		require.True(t, r.Progress.Done)
		require.Len(t, r.Moves, 2)
		g.refused(operate.CauseUnknownTarget, errOf(g.op.ShutDown(t.Context(), theJob, first, silent())))
		r, err = g.op.ShutDown(t.Context(), theJob, second, silent())
		require.NoError(t, err)
		require.Contains(t, r.Warnings[0], "nothing runs any more")
		require.NotZero(t, g.node(nodes.Instance(second)).Session, "the node stays with its session")
		g.refused(operate.CauseAlready, errOf(g.op.ShutDown(t.Context(), theJob, second, silent())))
		g.refused(operate.CauseUnknownJob, errOf(g.op.ShutDown(t.Context(), "nobody", second, silent())))
	})
}

// Who repeats it under its id does not wait for the instance that has come back meanwhile.
func TestAnInstanceThatWasShutDownIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		once := silent()
		once.ID = "restart-1"
		_, err := g.op.ShutDown(t.Context(), theJob, first, once)
		require.NoError(t, err)
		again := waiting()
		again.ID = once.ID
		go func() {
			time.Sleep(time.Second)
			g.leave(first)
			g.join(first)
		}()
		r, err := g.op.ShutDown(t.Context(), theJob, first, again)
		require.NoError(t, err)
		require.True(t, r.Progress.Done)
		began := time.Now()
		r, err = g.op.ShutDown(t.Context(), theJob, first, again)
		require.NoError(t, err)
		require.True(t, r.Progress.Done)
		require.Zero(t, time.Since(began))
	})
}

// An instance whose session ends is gone like one that has left, and may come back: nobody is told that it was shut down for good.
func TestAnInstanceThatIsOnlyAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			g.leave(first) // as its session ends
		}()
		r, err := g.op.ShutDown(t.Context(), theJob, first, waiting())
		require.NoError(t, err)
		require.Equal(t, operate.Progress{
			Done: true, Ready: 1, Of: 1,
			Text: "the instance is gone; if it was cut off from the registry before it learned of this, it takes part again when it reaches it",
		}, r.Progress)
	})
}

// An instance that dies at that moment is not created anew, without an owner.
func TestAnInstanceThatDiesIsNotShutDown(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.meanwhile(func() { g.leave(first) })
	g.refused(operate.CauseUnknownTarget, errOf(g.op.ShutDown(t.Context(), theJob, first, silent())))
	require.False(t, g.node(nodes.Instance(first)).Exists())
	require.False(t, g.node(nodes.Operated()).Exists())
}

func TestAJavaInstanceIsShutDown(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.store.java = true
	g.join(aJava)
	r, err := g.op.ShutDown(t.Context(), theJob, aJava, waiting())
	require.NoError(t, err)
	require.False(t, g.node(nodes.Instance(aJava)).Exists())
	require.Contains(t, r.Warnings, "the Java process stops the job at once, and goes on otherwise; whether a run of it still goes on there cannot be seen")
}

// Whoever waits for a run to end before the process is ended has to know where that cannot be seen.
func TestWhatIsShutDownMayRunUnseen(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	const unseen = "executions are not recorded: whether something still runs cannot be seen"
	r, err := g.op.ShutDown(t.Context(), theJob, first, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.NotContains(t, r.Warnings, unseen)
	g.do(registry.Put(nodes.Config(), g.text(func(cfg *job.Config) { cfg.Unmonitored = true })))
	r, err = g.op.ShutDown(t.Context(), theJob, first, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Contains(t, r.Warnings, unseen)
}

func TestAnItemIsGivenUp(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.Put(nodes.ItemRecord(1), jobtree.EncodeRecord(lostRecord(g))), registry.Put(nodes.FailoverItem(1), ""))
	r, err := g.op.GiveUp(t.Context(), theJob, 1, silent())
	require.NoError(t, err)
	require.Equal(t, "item 1 waiting -> interrupted", r.Changes[0].String())
	it := g.tree().Item(1)
	require.Equal(t, jobtree.ItemInterrupted, it.Record.Value.State)
	require.Zero(t, it.FailoverItem)
	require.Contains(t, g.refused(operate.CauseAlready, errOf(g.op.GiveUp(t.Context(), theJob, 1, silent()))).Error(), "it is interrupted")
	require.Contains(t, g.refused(operate.CauseAlready, errOf(g.op.GiveUp(t.Context(), theJob, 0, silent()))).Error(), "it is idle")
	g.refused(operate.CauseUnknownTarget, errOf(g.op.GiveUp(t.Context(), theJob, 9, silent())))
	g.do(registry.Put(nodes.ItemRecord(2), "}{"))
	g.refused(operate.CauseUnreadable, errOf(g.op.GiveUp(t.Context(), theJob, 2, silent())))
}

func TestServersAreTidied(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.refused(operate.CauseAlready, errOf(g.op.TidyServers(t.Context(), theJob, nil, silent())))
	g.do(registry.Put(nodes.Server("10.0.0.1"), ""), registry.Put(nodes.Server("10.0.0.8"), ""), registry.Put(nodes.Server("10.0.0.9"), "DISABLED"))
	g.refused(operate.CauseAlive, errOf(g.op.TidyServers(t.Context(), theJob, []string{"10.0.0.1"}, silent())))
	g.refused(operate.CauseUnknownTarget, errOf(g.op.TidyServers(t.Context(), theJob, []string{"10.0.0.7"}, silent())))
	r, err := g.op.TidyServers(t.Context(), theJob, nil, silent())
	require.NoError(t, err)
	require.Equal(t, []operate.Change{{What: "server 10.0.0.8", Before: "enabled", After: "forgotten"}}, r.Changes)
	require.Contains(t, g.refused(operate.CauseAlready, errOf(g.op.TidyServers(t.Context(), theJob, nil, silent()))).Error(), "of which there are 1")
	r, err = g.op.TidyServers(t.Context(), theJob, []string{"10.0.0.9", "10.0.0.9"}, silent())
	require.NoError(t, err)
	require.Equal(t, []string{"server 10.0.0.9 was disabled, and starts enabled if it comes back"}, r.Warnings)
	require.True(t, g.node(nodes.Server("10.0.0.1")).Exists())
	require.False(t, g.node(nodes.Server("10.0.0.9")).Exists())
}

// What one transaction does not take is left for the next time.
func TestManyServersAreTidied(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for n := range 210 {
		g.do(registry.Put(nodes.Server(fmt.Sprintf("10.0.1.%d", n)), ""))
	}
	for _, left := range []string{"110 more are left", "10 more are left", ""} {
		r, err := g.op.TidyServers(t.Context(), theJob, nil, silent())
		require.NoError(t, err)
		require.LessOrEqual(t, len(r.Changes), 100)
		if left == "" {
			require.Empty(t, r.Warnings)
			continue
		}
		require.Len(t, r.Warnings, 1)
		require.Contains(t, r.Warnings[0], left)
	}
	g.refused(operate.CauseAlready, errOf(g.op.TidyServers(t.Context(), theJob, nil, silent())))
}

func TestAReshardingIsAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() { time.Sleep(time.Second); g.do(registry.Delete(nodes.Necessary())) }()
		r, err := g.op.Reshard(t.Context(), theJob, waiting())
		require.NoError(t, err)
		require.True(t, r.Progress.Done)
		require.Empty(t, r.Moves)

		g.leave(second)
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			g.leave(first)
			time.Sleep(time.Second)
			g.join(first)
			g.do(registry.Delete(nodes.Necessary()))
		}()
		r, err = g.op.Reshard(t.Context(), theJob, waiting())
		require.NoError(t, err)
		require.Equal(t, "the leader has answered", r.Progress.Text, "a process that starts anew is waited for")
		require.Equal(t, 2*time.Second, time.Since(began))
		g.join(second)

		g.leave(first)
		g.leave(second)
		g.refused(operate.CauseNoInstance, errOf(g.op.Reshard(t.Context(), theJob, silent())))
	})
}

// A request that nobody answers before somebody does something else is not waited for, and the plan says what it waits for.
func TestAReshardingThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(g *ground){
		"the job is disabled, and assigns its items when it is enabled": func(g *ground) {
			require.NoError(g, errOf(g.op.DisableJob(g.Context(), theJob, silent())))
		},
		"no instance lives that is enabled, and items are assigned when one does": func(g *ground) {
			put(nodes.Server("10.0.0.1"), "DISABLED")(g)
			put(nodes.Server("10.0.0.2"), "DISABLED")(g)
		},
		"the job pauses, and assigns its items when its settings are corrected": func(g *ground) {
			put(nodes.Config(), g.text(func(c *job.Config) { c.TimeZone = "Mars" }))(g)
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGround(t)
				change(g)
				began := time.Now()
				r, err := g.op.Reshard(t.Context(), theJob, waiting())
				require.NoError(t, err)
				require.Len(t, r.Warnings, 1)
				require.Contains(t, r.Warnings[0], want)
				require.Equal(t, r.Warnings[0], r.Progress.Text)
				require.Empty(t, r.Moves)
				require.Zero(t, time.Since(began))
			})
		})
	}
	g := newGround(t)
	g.do(registry.Delete(nodes.Leader()))
	r, err := g.op.Reshard(t.Context(), theJob, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Contains(t, r.Notes[0], "nobody leads the job")
}

// An instance that is shut down goes on with what it runs. Whoever waits is told so, and may end its process when it is done.
func TestAnInstanceThatStillRunsIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.PutOwned(nodes.ItemRunning(2), first, g.sessions[first]))
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			g.leave(first)
			g.assign(second, second, second, second)
			g.do(registry.PutOwned(nodes.ItemRunning(0), second, g.sessions[second]))
			time.Sleep(time.Second)
			g.join(first) // the process that has come anew is not waited for, whatever it runs
			g.do(registry.PutOwned(nodes.ItemRunning(3), first, g.sessions[first]))
			time.Sleep(time.Second)
			g.do(registry.Delete(nodes.ItemRunning(2)))
		}()
		var seen []string
		opts := waiting()
		opts.Progress = func(p operate.Progress) { seen = append(seen, p.Text) }
		r, err := g.op.ShutDown(t.Context(), theJob, first, opts)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Equal(t, []string{"item 2 runs there, and goes on until it ends by itself"}, r.Notes)
		require.Contains(t, seen, "the instance is asked to leave, and runs item 2")
		require.Contains(t, seen, "the instance has left, and still runs item 2")
		require.Equal(t, operate.Progress{Done: true, Ready: 1, Of: 1, Text: "the instance is gone"}, r.Progress)
	})
}

func TestAnInstanceThatHasLeftIsNotShutDown(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.PutOwned(nodes.ItemRunning(2), first, g.sessions[first]))
	g.leave(first)
	refusal := g.refused(operate.CauseUnknownTarget, errOf(g.op.ShutDown(t.Context(), theJob, first, silent())))
	require.Contains(t, refusal.Error(), "takes no part in the job, and still runs item 2")
}

// An instance whose session ends before it learns that it is to leave was shut down by nobody: it is not said to be gone when
// it is back.
func TestAnInstanceThatLostItsSessionIsNotGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.PutOwned(nodes.ItemRunning(2), first, g.sessions[second])) // so that it is waited for
		go func() {
			time.Sleep(time.Second)
			g.leave(first)
			time.Sleep(time.Second)
			delete(g.sessions, first)
			g.join(first)
		}()
		_, err := g.op.ShutDown(t.Context(), theJob, first, waiting())
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.True(t, unconfirmed.Result.Progress.Overtaken)
		require.ErrorContains(t, err, "the instance is back under another session")
	})
}
