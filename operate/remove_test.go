package operate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// deserted is a ground on which no instance lives.
func deserted(t testingT) *ground {
	t.Helper()
	g := newGround(t)
	g.leave(first)
	g.leave(second)
	return g
}

func TestAJobIsRemoved(t *testing.T) {
	t.Parallel()
	g := deserted(t)
	before := g.value(nodes.Config())
	g.do(registry.Put("/orders2/config", "{}"))
	r, err := g.op.Remove(t.Context(), theJob, because("not needed"))
	require.NoError(t, err)
	require.Empty(t, g.all())
	require.Equal(t, before, r.Before)
	require.Equal(t, "the job is gone", r.Progress.Text)
	require.Contains(t, r.Warnings[0], "create it again when they start next")
	require.True(t, g.node("/orders2/config").Exists(), "another job, whose name begins alike")
	g.refused(operate.CauseUnknownJob, errOf(g.op.Remove(t.Context(), theJob, silent())))
	require.NoError(t, errOf(g.op.Create(t.Context(), g.config(nil), silent())), "the name is free")
}

func TestAJobThatLivesIsRemovedByForceOnly(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	before := g.all()
	refusal := g.refused(operate.CauseAlive, errOf(g.op.Remove(t.Context(), theJob, silent())))
	require.True(t, refusal.Forcible)
	require.Contains(t, refusal.Error(), first+" and "+second)
	plan, err := g.op.Remove(t.Context(), theJob, operate.Options{Force: true, DryRun: true})
	require.NoError(t, err)
	require.Equal(t, before, g.all())
	require.Contains(t, plan.Warnings[0], "pause or leave")
	require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, operate.Options{Force: true, Shown: &plan.Plan})))
	require.Empty(t, g.all())
}

func TestNothingIsRemovedWhileItRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.begin()
		var seen []operate.Progress
		opts := operate.Options{Force: true, Progress: func(p operate.Progress) { seen = append(seen, p) }}
		ended := false
		go func() {
			time.Sleep(time.Hour)
			require.True(t, g.tree().Config.Value.Disabled, "nothing begins any more")
			require.Equal(t, "yes", g.operated().Removing)
			ended = true
			g.do(registry.Delete(nodes.ItemRunning(1)))
		}()
		require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, opts)))
		require.True(t, ended)
		require.Empty(t, g.all())
		require.Equal(t, "items still run", seen[0].Text)
	})
}

// The operator dies, or gives up waiting, after the first step: the job stays disabled, another operator goes on or
// calls it off.
func TestARemovalIsGoneOnWithOrCalledOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		before := g.value(nodes.Config())
		begin := func(who string) operate.Result {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := g.operator(who).Remove(ctx, theJob, forced())
			var unconfirmed *operate.UnconfirmedError
			require.ErrorAs(t, err, &unconfirmed)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			return r
		}
		g.begin()
		begin("anna")
		r, err := g.op.EnableJob(t.Context(), theJob, silent())
		require.NoError(t, err)
		require.Contains(t, r.Changes, operate.Change{What: "removal", Before: "under way", After: "called off"})
		require.Equal(t, before, g.value(nodes.Config()))
		require.Empty(t, g.operated().Removing)

		one := begin("anna")
		go func() { time.Sleep(time.Second); g.do(registry.Delete(nodes.ItemRunning(1))) }()
		r, err = g.operator("bert").Remove(t.Context(), theJob, forced())
		require.NoError(t, err)
		require.Empty(t, g.all())
		require.NotEqual(t, one.ID, r.ID)
	})
}

// Whoever looks at a job whose removal nobody has finished learns that, and how to go on.
func TestAnUnfinishedRemovalIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		why := func() string {
			ns, err := operate.ReadNamespace(t.Context(), g.registry, time.Now())
			require.NoError(t, err)
			row, found := ns.Job(theJob)
			require.True(t, found)
			require.Equal(t, operate.Removing, row.Reasons[0].Word)
			return row.Reasons[0].Text
		}
		g.begin()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := g.op.Remove(ctx, theJob, operate.Options{Force: true, Reason: "too old"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "its removal has begun (by anna with test at 2000-01-01T00:00:00Z: too old) and is not finished: if nobody goes on with it, "+
			"elasticron remove finishes it, and elasticron enable calls it off", why())
		g.leave(first)
		g.leave(second)
		g.do(registry.Delete(nodes.ItemRunning(1)), registry.Delete(nodes.Config())) // it stops after the first part
		require.Contains(t, why(), "elasticron remove finishes it, and nothing calls it off any more")
		g.refused(operate.CauseUnknownJob, errOf(g.op.EnableJob(t.Context(), theJob, silent())))
		require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, silent())))
		require.Empty(t, g.all())
	})
}

func TestARemovalThatIsCalledOffMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		g.begin()
		go func() {
			time.Sleep(time.Second)
			require.NoError(t, errOf(g.operator("bert").EnableJob(t.Context(), theJob, because("still needed"))))
		}()
		_, err := g.op.Remove(t.Context(), theJob, forced())
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed)
		require.Contains(t, err.Error(), "still needed")
		require.NotEmpty(t, g.all())
	})
}

// Somebody starts between the two steps.
func TestAnInstanceJoinsWhatIsBeingRemoved(t *testing.T) {
	t.Parallel()
	g := deserted(t)
	second := attempt{after: 1}
	second.ahead(g, func(txn registry.Txn) registry.Txn {
		g.join(first)
		g.do(registry.Put(nodes.Operated(), g.value(nodes.Operated()))) // so that it is decided again
		return txn
	})
	refusal := g.refused(operate.CauseAlive, errOf(g.op.Remove(t.Context(), theJob, silent())))
	require.Contains(t, refusal.Error(), "instances have joined it meanwhile: "+first)
	require.NotEmpty(t, g.all())
}

// A registry that does not take the whole deletes parts, the configuration first, what operators did last. The
// operator may die after any of them, and a job that is declared anew meanwhile keeps what is new.
func TestARemovalInParts(t *testing.T) {
	t.Parallel()
	big := func(t *testing.T) *ground {
		g := deserted(t)
		for n := range 130 {
			g.do(registry.Put(nodes.Offset(n), "x"), registry.Put(nodes.ItemRecord(n), "{}"))
		}
		g.store.noTrees = 3
		return g
	}
	g := big(t)
	require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, silent())))
	require.Empty(t, g.all())
	parts := len(g.store.txns)
	require.Greater(t, parts, 5)

	for dies := range parts {
		g := big(t)
		ctx, cancel := context.WithCancel(t.Context())
		a := attempt{after: dies}
		a.ahead(g, func(txn registry.Txn) registry.Txn { cancel(); return txn })
		_, err := g.op.Remove(ctx, theJob, silent())
		cancel()
		if len(g.all()) == 0 {
			continue // it died with the last one
		}
		require.Error(t, err)
		if g.node(nodes.Operated()).Exists() && !g.node(nodes.Config()).Exists() {
			g.refused(operate.CausePending, errOf(g.op.Create(t.Context(), g.config(nil), silent())))
		}
		require.NoError(t, errOf(g.operator("bert").Remove(t.Context(), theJob, silent())), dies)
		require.Empty(t, g.all())
	}

	g = big(t)
	declared := attempt{after: 4}
	declared.ahead(g, func(txn registry.Txn) registry.Txn {
		g.do(registry.Put(nodes.Config(), g.text(nil)))
		return txn
	})
	_, err := g.op.Remove(t.Context(), theJob, silent())
	var unconfirmed *operate.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed)
	require.True(t, g.node(nodes.Config()).Exists(), "what was declared anew stays")
	require.NoError(t, errOf(g.op.EnableJob(t.Context(), theJob, silent())), "and the removal is called off")
}

func TestWhatIsLeftOfAJobIsRemovedByForce(t *testing.T) {
	t.Parallel()
	g := deserted(t)
	g.do(registry.Delete(nodes.Config()))
	require.True(t, g.refused(operate.CauseUnknownJob, errOf(g.op.Remove(t.Context(), theJob, silent()))).Forcible)
	require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, forced())))
	require.Empty(t, g.all())

	g = deserted(t)
	g.do(registry.Put(nodes.Config(), "}{"))
	require.True(t, g.refused(operate.CauseUnusable, errOf(g.op.Remove(t.Context(), theJob, silent()))).Forcible)
	require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, forced())))
	require.Empty(t, g.all())
}

// The plan of a removal reads the same whatever the job is: the one to which a person has agreed is no word on a job that was
// made anew since, nor on one that somebody has changed.
func TestARemovalThatWasShownIsOfThatJobAlone(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*ground){
		"made anew": func(g *ground) {
			require.NoError(g, errOf(g.op.Remove(g.Context(), theJob, silent())))
			require.NoError(g, errOf(g.op.Create(g.Context(), g.config(func(c *job.Config) { c.Class = "other" }), silent())))
		},
		"changed": settings(daily1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := deserted(t)
			shown, err := g.op.Remove(t.Context(), theJob, operate.Options{DryRun: true})
			require.NoError(t, err)
			meanwhile(g)
			before := g.all()
			compared := shown.Compared()
			refusal := g.refused(operate.CauseStale, errOf(g.op.Remove(t.Context(), theJob, operate.Options{Shown: &compared})))
			require.Contains(t, refusal.Error(), "the configuration was changed since it was shown")
			require.Equal(t, before, g.all())

			shown, err = g.op.Remove(t.Context(), theJob, operate.Options{DryRun: true})
			require.NoError(t, err)
			require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, operate.Options{Shown: &shown.Plan})))
			require.Empty(t, g.all())
		})
	}
}
