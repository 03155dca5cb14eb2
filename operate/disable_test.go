package operate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func TestAnItemIsDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	r, err := g.op.DisableItem(t.Context(), theJob, 3, because("bad table"))
	require.NoError(t, err)
	require.True(t, g.node(nodes.ItemDisabled(3)).Exists())
	require.Equal(t, []operate.Change{{What: "item 3", Before: "enabled", After: "disabled"}}, r.Changes)
	require.Equal(t, g.node(nodes.ItemDisabled(3)).Revision, r.Revision)
	require.Equal(t, g.node(nodes.Operated()).Revision, r.Revision, "what is done and what is written down are one commit")
	op := g.operated().Operations[0]
	require.Equal(t, jobtree.Operation{
		ID: r.ID, Verb: "disable item", Target: "item 3", Who: "anna", How: "test", When: r.When, Reason: "bad table",
		Changed: "item 3 enabled -> disabled", After: g.node(nodes.Config()).Created,
	}, op)

	refusal := g.refused(operate.CauseAlready, errOf(g.op.DisableItem(t.Context(), theJob, 3, silent())))
	require.Contains(t, refusal.Error(), `disable item 3 of "orders" refused: it is disabled already (by anna with test at `)
	require.Contains(t, refusal.Error(), "bad table")

	_, err = g.op.EnableItem(t.Context(), theJob, 3, silent())
	require.NoError(t, err)
	require.False(t, g.node(nodes.ItemDisabled(3)).Exists())
	g.refused(operate.CauseAlready, errOf(g.op.EnableItem(t.Context(), theJob, 3, silent())))
}

func TestItemsThatThereAreNot(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, item := range []int{-1, 4, 1 << 40} {
		g.refused(operate.CauseUnknownTarget, errOf(g.op.DisableItem(t.Context(), theJob, item, silent())))
		g.refused(operate.CauseUnknownTarget, errOf(g.op.EnableItem(t.Context(), theJob, item, silent())))
	}
	g.refused(operate.CauseUnknownJob, errOf(g.op.DisableItem(t.Context(), "nobody", 0, silent())))
	for _, name := range []string{"", "a/b", "..", "/"} {
		g.refused(operate.CauseInvalid, errOf(g.op.DisableItem(t.Context(), name, 0, silent())))
	}
	forced := silent()
	forced.Force = true
	for item, forcible := range map[int]bool{-1: false, 7: true, 1 << 40: false} {
		require.Equal(t, forcible, g.refused(operate.CauseUnknownTarget, errOf(g.op.DisableItem(t.Context(), theJob, item, silent()))).Forcible, item)
		if !forcible {
			g.refused(operate.CauseUnknownTarget, errOf(g.op.DisableItem(t.Context(), theJob, item, forced)))
		}
	}
	g.refused(operate.CauseUnknownTarget, errOf(g.op.EnableItem(t.Context(), theJob, 7, forced)))
	require.NoError(t, errOf(g.op.DisableItem(t.Context(), theJob, 7, forced)), "the job may have it later")
	require.True(t, g.node(nodes.ItemDisabled(7)).Exists())
	g.refused(operate.CauseAlready, errOf(g.op.DisableItem(t.Context(), theJob, 7, silent()))) // as a file wants it that was exported
	require.NoError(t, errOf(g.op.EnableItem(t.Context(), theJob, 7, silent())), "what is left of a surplus item may go")
}

// One item is not told of as several, nor as a range.
func TestASingleItemInWords(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.Put(nodes.ItemDisabled(2), ""))
	r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())
	require.NoError(t, err)
	require.Contains(t, r.Warnings, "item 2 is disabled, and does not run unless it is enabled within 1h0m0s")
	r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: []int{3}, Replace: true}, silent())
	require.NoError(t, err)
	require.Regexp(t, `^trigger \d+, for which items 0-1,3 have not run yet$`, r.Changes[0].Before)
	require.Equal(t, "item 3", r.Changes[0].After)
	require.Equal(t, "items 3", r.Target, "by which whoever asks again is known, also by older versions")
	r, err = g.op.Trigger(t.Context(), theJob, operate.Trigger{Replace: true}, silent())
	require.NoError(t, err)
	require.Regexp(t, `^trigger \d+, for which item 3 has not run yet$`, r.Changes[0].Before)

	const another = "single"
	g.do(registry.Put(jobtree.For(another).Config(), g.text(func(c *job.Config) { c.Name, c.ShardingTotalCount = another, 1 })))
	refusal := g.refused(operate.CauseUnknownTarget, errOf(g.op.DisableItem(t.Context(), another, 1, silent())))
	require.Contains(t, refusal.Error(), "the job has item 0")
}

func TestAJobIsDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.Put(nodes.Server("10.0.0.2"), "DISABLED"), registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Unknown = `"later":1` })))
	before := g.value(nodes.Config())
	r, err := g.op.DisableJob(t.Context(), theJob, waiting())
	require.NoError(t, err)
	require.True(t, r.Progress.Done)
	require.True(t, g.tree().Config.Value.Disabled)
	require.Equal(t, `"later":1`, g.tree().Config.Value.Unknown)
	require.Equal(t, before, g.operated().Operations[0].Before)
	g.refused(operate.CauseAlready, errOf(g.op.DisableJob(t.Context(), theJob, silent())))

	r, err = g.op.EnableJob(t.Context(), theJob, silent())
	require.NoError(t, err)
	require.Equal(t, before, g.value(nodes.Config()), "byte for byte")
	require.Equal(t, []string{"the servers 10.0.0.2 stay disabled, as they were disabled one by one"}, r.Warnings)
	require.Equal(t, "DISABLED", g.value(nodes.Server("10.0.0.2")))
	g.refused(operate.CauseAlready, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
}

func TestBesideJavaEveryServerIsDisabled(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.store.java = true
	g.join(aJava)
	g.do(registry.Put(nodes.Server("10.0.0.2"), "DISABLED"), registry.Put(nodes.Server("10.0.0.9"), ""))
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.9"} {
		require.Equal(t, "DISABLED", g.value(nodes.Server(ip)), ip)
	}
	require.Equal(t, []string{"10.0.0.2"}, g.operated().DisabledServers)

	// What is said of single servers meanwhile counts when the job is enabled.
	require.NoError(t, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.9", silent())))
	require.NoError(t, errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.2", silent())))
	require.Equal(t, "DISABLED", g.value(nodes.Server("10.0.0.2")))
	g.refused(operate.CauseAlready, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.9", silent())))

	r, err := g.op.EnableJob(t.Context(), theJob, silent())
	require.NoError(t, err)
	for ip, want := range map[string]string{"10.0.0.1": "", "10.0.0.2": "", "10.0.0.3": "", "10.0.0.9": "DISABLED"} {
		require.Equal(t, want, g.value(nodes.Server(ip)), ip)
		require.True(t, g.node(nodes.Server(ip)).Exists(), ip)
	}
	require.Contains(t, r.Warnings[0], "10.0.0.9")
	require.Nil(t, g.operated().DisabledServers)
}

// Processes that share a job with Java heed no word but that of servers, also while no Java instance lives.
func TestWhereJavaMayComeEveryServerIsDisabled(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.store.java = true
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	require.Equal(t, "DISABLED", g.value(nodes.Server("10.0.0.1")))
	require.Equal(t, []string{}, g.operated().DisabledServers)
	g.refused(operate.CauseAlready, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	g.refused(operate.CauseNoInstance, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())))
	require.NoError(t, errOf(g.op.EnableJob(t.Context(), theJob, waiting())))
	require.Empty(t, g.value(nodes.Server("10.0.0.1")))

	g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Disabled = true }))) // servers start disabled, says Java
	require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	require.Equal(t, "DISABLED", g.value(nodes.Server("10.0.0.2")))
}

func TestAServerIsDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	r, err := g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())
	require.NoError(t, err)
	require.Equal(t, "DISABLED", g.value(nodes.Server("10.0.0.1")))
	require.Equal(t, []operate.Move{{Item: 2, From: first, To: second}, {Item: 3, From: first, To: second}}, r.Moves)
	g.refused(operate.CauseAlready, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.1", silent())))
	require.NoError(t, errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.1", silent())))
	require.False(t, g.node(nodes.Server("10.0.0.1")).Exists(), "nothing is left behind")
	g.refused(operate.CauseAlready, errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.1", silent())))

	unknown := g.refused(operate.CauseUnknownTarget, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.77", silent())))
	require.True(t, unknown.Forcible)
	require.NoError(t, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.77", forced())))
	for _, ip := range []string{"", "a/b", "\x00"} {
		g.refused(operate.CauseInvalid, errOf(g.op.DisableServer(t.Context(), theJob, ip, forced())))
	}
}

// An operation that waits is confirmed by what is seen, and says what it waited for if that did not come.
func TestWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.begin()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var seen []operate.Progress
		opts := waiting()
		opts.Progress = func(p operate.Progress) { seen = append(seen, p) }
		r, err := g.op.DisableJob(ctx, theJob, opts)
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, r, unconfirmed.Result)
		require.Equal(t, "items still run", r.Progress.Text)
		require.NotZero(t, r.Revision)
		require.NotEmpty(t, seen)
		require.Contains(t, err.Error(), "is done (operation "+r.ID+"), and not confirmed yet: items still run (0 of 1)")
		require.Contains(t, r.Notes[0], "item 1 runs, and goes on until it ends by itself")

		opts.ID = r.ID
		go func() {
			time.Sleep(time.Second)
			g.do(registry.Delete(nodes.ItemRunning(1)))
		}()
		again, err := g.op.DisableJob(t.Context(), theJob, opts)
		require.NoError(t, err)
		require.True(t, again.Repeated)
		require.True(t, again.Progress.Done)
		require.Len(t, g.operated().Operations, 1, "nothing was done twice")
	})
}

func TestWhatSomebodyElseUndoesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.begin()
		go func() {
			time.Sleep(time.Second)
			_, err := g.operator("bert").EnableJob(t.Context(), theJob, because("too early"))
			require.NoError(t, err)
		}()
		_, err := g.op.DisableJob(t.Context(), theJob, waiting())
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.True(t, unconfirmed.Result.Progress.Overtaken)
		require.Contains(t, err.Error(), "the job was enabled again (by bert with test at ")
	})
}

func TestServersAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		go func() {
			time.Sleep(time.Second)
			g.assign(second, second, second, second)
		}()
		r, err := g.op.DisableServer(t.Context(), theJob, "10.0.0.1", waiting())
		require.NoError(t, err)
		require.Equal(t, operate.Progress{Done: true, Ready: 4, Of: 4, Text: "items are where they are to be"}, r.Progress)
	})
}

// errOf is what went wrong with a call that returns something else as well.
func errOf[T any](_ T, err error) error { return err }

// What runs at the moment is told, and is no reason to refuse what somebody has agreed to.
func TestWhatRunsMeanwhileChangesNoPlan(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	plan, err := g.op.DisableJob(t.Context(), theJob, operate.Options{DryRun: true})
	require.NoError(t, err)
	require.Empty(t, plan.Notes)
	g.begin()
	r, err := g.op.DisableJob(t.Context(), theJob, operate.Options{Shown: &plan.Plan})
	require.NoError(t, err)
	require.Equal(t, []string{"item 1 runs, and goes on until it ends by itself"}, r.Notes)
}

// A job that pauses is enabled, and not waited for: it runs when its settings are corrected.
func TestAJobThatPausesIsEnabled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.Disabled, c.TimeZone = true, "Mars" })), registry.Delete(nodes.Leader()))
		began := time.Now()
		r, err := g.op.EnableJob(t.Context(), theJob, waiting())
		require.NoError(t, err)
		require.Contains(t, r.Progress.Text, "the job pauses, and runs when its settings are corrected: ")
		require.Zero(t, time.Since(began))
	})
}
