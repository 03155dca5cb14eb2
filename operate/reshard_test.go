package operate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

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
