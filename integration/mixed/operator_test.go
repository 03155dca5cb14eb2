package mixed

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// An operator of package operate has a Java instance do what he says: run by hand, run by other settings, leave an item
// alone, stop and go on, and leave.
func operatorsAreHeardByJava(t *testing.T, j java) {
	c := j.newCluster(t, "operators")
	g, last := c.pair(j, never)
	op, err := operate.New(c.registry, operate.By("anna", "test"))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	waiting := operate.Options{Wait: true}
	done := func(r operate.Result, err error) operate.Result {
		t.Helper()
		require.NoError(t, err)
		return r
	}

	_, err = op.Trigger(ctx, c.job, operate.Trigger{Items: []int{0}}, operate.Options{})
	cause, _ := operate.IsRefused(err)
	require.Equal(t, operate.CauseInvalid, cause, "Java knows the whole job alone")
	r := done(op.Trigger(ctx, c.job, operate.Trigger{}, waiting))
	require.Equal(t, operate.ItemTaken, r.Progress.Items[0].State)
	require.Equal(t, operate.ItemSucceeded, r.Progress.Items[1].State)
	j.last.WaitEvents(c.job, began(0, 0))
	require.Equal(t, job.Manual, g.wait("a run by hand", ran(1, 0))[0].Source)

	_, err = op.ChangeSettings(ctx, c.job, operate.Settings{Change: func(cfg *job.Config) error { cfg.Cron = "@daily"; return nil }}, operate.Options{Force: true})
	cause, _ = operate.IsRefused(err)
	require.Equal(t, operate.CauseInvalid, cause, "Java could not run it")
	done(op.ChangeSettings(ctx, c.job, operate.Settings{Change: func(cfg *job.Config) error { cfg.Cron = everySecond; return nil }}, waiting))
	j.last.WaitEvents(c.job, began(0, begins(j.last.Events(c.job))[0]+1))

	done(op.DisableItem(ctx, c.job, 0, waiting))
	before := begins(j.last.Events(c.job))[0]
	runs, _ := g.look()
	g.wait("fires of the other item", ran(1, times(runs, 1)+3))
	require.LessOrEqual(t, begins(j.last.Events(c.job))[0], before+2, "but for one that had begun, and one before Java heard of it")
	done(op.EnableItem(ctx, c.job, 0, waiting))
	j.last.WaitEvents(c.job, began(0, before+3))

	r = done(op.DisableJob(ctx, c.job, waiting))
	require.Equal(t, "nothing runs", r.Progress.Text)
	require.True(t, c.state().Server(ipLast).Disabled)
	c.eventually("nothing runs", func(s *jobtree.State) bool { return !s.Item(0).Running.Exists() && !s.Item(1).Running.Exists() })
	before = begins(j.last.Events(c.job))[0]
	marks := make(map[registry.Revision]bool) // of item 0, as Java's caches may lag behind one fire
	require.False(t, c.within(3*time.Second, func(s *jobtree.State) bool {
		if mark := s.Item(0).Running; mark.Exists() {
			marks[mark.Created] = true
		}
		return len(marks) > 1 || s.Item(1).Running.Exists()
	}))
	require.LessOrEqual(t, begins(j.last.Events(c.job))[0], before+1, "but for a fire that was under way")
	before = begins(j.last.Events(c.job))[0]
	done(op.EnableJob(ctx, c.job, waiting))
	c.eventually("two instances", settled(2, goID, last))
	j.last.WaitEvents(c.job, func(events []javapeer.Event) bool { return begins(events)[0]+begins(events)[1] > before })

	done(op.ShutDown(ctx, c.job, last, waiting))
	c.eventually("Go alone", settled(2, goID))
	require.Eventually(t, func() bool {
		belief, err := j.last.Belief(c.job)
		return err == nil && belief.Shutdown
	}, patience, tick)
	runs, _ = g.look()
	g.wait("what was Java's", ran(0, times(runs, 0)))

	operations, err := op.Operations(ctx, c.job)
	require.NoError(t, err)
	var verbs []operate.Verb
	for _, o := range operations {
		verbs = append(verbs, o.Verb)
	}
	require.Equal(t, []operate.Verb{
		operate.VerbTrigger, operate.VerbSettings, operate.VerbDisableItem, operate.VerbEnableItem, operate.VerbDisableJob, operate.VerbEnableJob, operate.VerbShutDown,
	}, verbs)
	nodes, revision, err := c.registry.List(ctx, registry.Root)
	require.NoError(t, err)
	require.Empty(t, operate.Outside(registry.NewSnapshot(revision, nodes)), "what Java writes by itself is nobody's doing")
}
