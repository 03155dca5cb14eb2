package operate_test

import (
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
