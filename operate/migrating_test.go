package operate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// A job that is disabled because it moves is not enabled, where it would run in two registries. The refusal says with
// which command the move goes on or back.
func TestAJobThatIsBeingMigratedIsNotEnabled(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]struct {
		cause operate.Cause // empty = it is enabled
		texts []string
	}{
		jobtree.MovePrepared:   {operate.CausePending, []string{"2026-02-03T04:05:06Z", "elasticron migrate move", "elasticron migrate return"}},
		jobtree.MoveDrained:    {operate.CausePending, []string{"2026-02-03T04:05:06Z", "elasticron migrate move", "elasticron migrate return"}},
		jobtree.MoveReturning:  {operate.CausePending, []string{"elasticron migrate return"}},
		jobtree.MoveConfirmed:  {operate.CausePending, []string{"confirmed", "remove it here"}},
		jobtree.MoveMoved:      {},
		jobtree.MoveConfirming: {},
		jobtree.MoveReturned:   {},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			settings(stopped)(g)
			g.do(registry.Put(nodes.Move(), `{"id":"M","state":"`+state+`","when":"2026-02-03T04:05:06Z","config":"{}"}`))
			before := g.all()
			err := errOf(g.op.EnableJob(t.Context(), theJob, silent()))
			if want.cause == "" {
				require.NoError(t, err)
				return
			}
			r := g.refused(want.cause, err)
			require.True(t, r.Forcible)
			for _, text := range want.texts {
				require.ErrorContains(t, err, text)
			}
			require.Equal(t, before, g.all())
			forcing, err := g.op.EnableJob(t.Context(), theJob, forced())
			require.NoError(t, err)
			require.Contains(t, forcing.Warnings[0], "two registries at once")
		})
	}
}

// Java instances go by servers alone, so one of those is not enabled either; and files do not enable the job.
func TestWhatElseWouldHaveAMigratingJobRun(t *testing.T) {
	t.Parallel()
	drained := put(nodes.Move(), `{"id":"M","state":"drained","when":"2026-02-03T04:05:06Z"}`)
	g := newGround(t)
	g.store.java = true
	g.do(registry.Put(nodes.Server("10.0.0.1"), "DISABLED"), registry.Put(nodes.Server("10.0.0.2"), "DISABLED"))
	require.NoError(t, errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.2", silent())))
	drained(g)
	g.refused(operate.CausePending, errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.1", silent())))
	require.NoError(t, errOf(g.op.DisableServer(t.Context(), theJob, "10.0.0.2", silent())))

	g = newGround(t)
	require.NoError(t, g.take(1, g.text(nil)))
	require.NoError(t, g.leaveFiles(2, operate.GoneDisable))
	drained(g)
	r := g.refused(operate.CausePending, g.take(3, g.text(func(c *job.Config) { c.Cron = "@daily" })))
	require.False(t, r.Forcible)
	require.True(t, g.tree().Config.Value.Disabled)

	g.do(registry.Put(nodes.Move(), "?"))
	g.refused(operate.CauseUnreadable, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
}
