package operate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// elsewhere are the words that stand in place of the configuration of a job whose home is another registry.
func (g *ground) elsewhere() map[string]jobtree.Elsewhere {
	g.Helper()
	return map[string]jobtree.Elsewhere{
		"it was moved":   {Home: "b"},
		"it is leaving":  {Home: "b", Move: "X", Config: g.text(nil)},
		"it is arriving": {Home: "b", Move: "X", Arriving: true},
	}
}

// No operation, and no force, writes over what says that the job's home is another registry: it keeps the job from running
// here. The refusals say where the job is.
func TestAJobWhoseHomeIsAnotherRegistry(t *testing.T) {
	t.Parallel()
	for state, word := range bareGround(t).elsewhere() {
		g := deserted(t)
		require.NoError(t, g.take(1, g.text(cron("@daily"))))
		changed, err := g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(nil)}, silent())
		require.NoError(t, err)
		g.join(first)
		g.do(registry.Put(nodes.Config(), jobtree.EncodeElsewhere(word)), registry.Put(nodes.Server("10.0.0.7"), "DISABLED"))
		before := g.all()
		all := operate.Options{Force: true}
		for verb, do := range map[string]func() error{
			"apply": func() error {
				return errOf(g.op.ChangeSettings(t.Context(), theJob, operate.Settings{Text: g.text(cron("@hourly"))}, all))
			},
			"roll back":      func() error { return errOf(g.op.RollBack(t.Context(), theJob, changed.ID, all)) },
			"files":          func() error { return g.take(2, g.text(cron("@hourly"))) },
			"files, removed": func() error { return g.leaveFiles(3, operate.GoneRemove) },
			"create":         func() error { return errOf(g.op.Create(t.Context(), g.config(nil), all)) },
			"remove":         func() error { return errOf(g.op.Remove(t.Context(), theJob, all)) },
			"disable":        func() error { return errOf(g.op.DisableJob(t.Context(), theJob, all)) },
			"enable":         func() error { return errOf(g.op.EnableJob(t.Context(), theJob, all)) },
			"item":           func() error { return errOf(g.op.DisableItem(t.Context(), theJob, 1, all)) },
			"server":         func() error { return errOf(g.op.EnableServer(t.Context(), theJob, "10.0.0.7", all)) },
			"shut down":      func() error { return errOf(g.op.ShutDown(t.Context(), theJob, first, all)) },
			"trigger":        func() error { return errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, all)) },
			"reshard":        func() error { return errOf(g.op.Reshard(t.Context(), theJob, all)) },
			"tidy servers":   func() error { return errOf(g.op.TidyServers(t.Context(), theJob, []string{"10.0.0.7"}, all)) },
			"give up":        func() error { return errOf(g.op.GiveUp(t.Context(), theJob, 1, all)) },
		} {
			r := g.refused(operate.CauseUnusable, do())
			require.False(t, r.Forcible, "%s, %s", state, verb)
			require.ErrorContains(t, r, `registry "b"`, "%s, %s", state, verb)
			var away *jobtree.ElsewhereError
			require.ErrorAs(t, r, &away)
			require.Equal(t, before, g.all(), "%s, %s", state, verb)
		}
		results, err := g.op.EnableServerEverywhere(t.Context(), "10.0.0.7", all)
		if word.Leaving() { // it is not known elsewhere yet, so nobody is told that all is done
			var some *operate.SomeFailedError
			require.ErrorAs(t, err, &some)
			require.Len(t, results, 1)
		} else {
			g.refused(operate.CauseUnknownTarget, err)
		}
		require.Equal(t, before, g.all(), state)
		matched, err := g.op.Match(t.Context(), "*")
		require.NoError(t, err)
		require.Len(t, matched, len(results))
	}
}

// A removal that has deleted the configuration, and goes on when the name has another home, deletes nothing of that.
func TestARemovalAndAnotherHome(t *testing.T) {
	t.Parallel()
	g := deserted(t)
	for n := range 130 {
		g.do(registry.Put(nodes.Offset(n), "x"))
	}
	g.store.noTrees = 3
	word := jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "b"})
	moved := attempt{after: 3}
	moved.ahead(g, func(txn registry.Txn) registry.Txn {
		require.False(t, g.node(nodes.Config()).Exists())
		g.do(registry.Put(nodes.Config(), word))
		return txn
	})
	err := errOf(g.op.Remove(t.Context(), theJob, forced()))
	require.Equal(t, word, g.value(nodes.Config()))
	g.refused(operate.CauseUnusable, err)
	require.ErrorContains(t, err, `registry "b"`)
	g.refused(operate.CauseUnusable, errOf(g.op.Remove(t.Context(), theJob, forced())))
	require.Equal(t, word, g.value(nodes.Config()))
}

// stoppedToMove is a job that is stopped for its move to another registry.
func stoppedToMove(t *testing.T, before bool) *ground {
	t.Helper()
	g := deserted(t)
	require.NoError(t, g.take(1, g.text(nil)))
	if before {
		require.NoError(t, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	}
	cfg, err := jobtree.DecodeConfig(g.node(nodes.Config()))
	require.NoError(t, err)
	cfg.Disabled = true
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	operated := g.operated()
	operated.Moving = &jobtree.Moving{To: "b", Move: "X", Disabled: before}
	g.do(registry.Put(nodes.Config(), text), registry.Put(nodes.Operated(), jobtree.EncodeOperated(operated)))
	return g
}

// Who disables a job while it moves finds it disabled in its new home.
func TestAJobIsDisabledWhileItMoves(t *testing.T) {
	t.Parallel()
	g := stoppedToMove(t, false)
	revision := g.node(nodes.Config()).Revision
	r, err := g.op.DisableJob(t.Context(), theJob, silent())
	require.NoError(t, err)
	require.Contains(t, r.Changes, operate.Change{What: "disabled in registry b", Before: "false", After: "true"})
	require.Equal(t, &jobtree.Moving{To: "b", Move: "X", Disabled: true}, g.operated().Moving)
	require.Greater(t, g.node(nodes.Config()).Revision, revision, "a mover that waits looks again")
	g.refused(operate.CauseAlready, errOf(g.op.DisableJob(t.Context(), theJob, silent())))

	r, err = g.op.EnableJob(t.Context(), theJob, silent())
	require.NoError(t, err)
	require.Nil(t, g.operated().Moving)
	require.Len(t, r.Warnings, 1, "it is enabled, although it had been disabled")
	require.False(t, g.tree().Config.Value.Disabled)

	g = stoppedToMove(t, true)
	g.refused(operate.CauseAlready, errOf(g.op.DisableJob(t.Context(), theJob, silent())))
	g = stoppedToMove(t, false)
	r, err = g.op.EnableJob(t.Context(), theJob, silent())
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
}

// Who calls a move off is told that nobody makes up what came since the stop, if the job makes up anything.
func TestAMoveIsCalledOff(t *testing.T) {
	t.Parallel()
	for policy, want := range map[job.MisfirePolicy][]string{
		job.MisfireAll:  {"fires that came since it was stopped at 2026-03-02T12:00:00Z are as those of a job that is disabled, and are not made up as after a move that is completed"},
		job.MisfireSkip: nil,
	} {
		g := stoppedToMove(t, false)
		operated := g.operated()
		operated.Moving.Since = noon
		g.do(registry.Put(nodes.Operated(), jobtree.EncodeOperated(operated)),
			registry.Put(nodes.Config(), g.text(func(cfg *job.Config) { cfg.Misfire, cfg.Disabled = policy, true })))
		r, err := g.op.EnableJob(t.Context(), theJob, operate.Options{DryRun: true})
		require.NoError(t, err)
		require.Equal(t, want, r.Warnings, policy)
	}
}

// Files that name a moving job no more, and name it again, say how it arrives. They do not call off its move.
func TestFilesOfAMovingJob(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0 0/5 * * * ?", "@hourly"} {
		g := stoppedToMove(t, false)
		require.NoError(t, g.leaveFiles(2, operate.GoneDisable))
		require.True(t, g.operated().Moving.Disabled)
		require.NoError(t, g.take(3, g.text(cron(text))))
		require.Equal(t, &jobtree.Moving{To: "b", Move: "X"}, g.operated().Moving)
		require.False(t, g.operated().Files.Disabled)
		require.True(t, g.tree().Config.Value.Disabled, "until it has arrived")
		require.Equal(t, text, g.tree().Config.Value.Cron)

		g = stoppedToMove(t, true)
		require.NoError(t, g.leaveFiles(2, operate.GoneDisable))
		require.NoError(t, g.take(3, g.text(cron(text))))
		require.True(t, g.operated().Moving.Disabled, "somebody had disabled it")
		cause, _ := operate.IsRefused(errors.Join(g.take(3, g.text(cron(text)))))
		require.Equal(t, operate.CauseAlready, cause)
	}
}

// moves leaves of the job what a move leaves.
func (g *ground) moves() {
	g.Helper()
	var left []registry.Write
	for _, n := range g.all() {
		if n.Path != nodes.Config() {
			left = append(left, registry.Delete(n.Path))
		}
	}
	g.do(append(left, registry.Put(nodes.Config(), jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "b"})))...)
}

// Who waits for a job that moves meanwhile is not told that it has followed: nothing of it is left here. What was to end has
// ended.
func TestAJobMovesWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	waits := operate.Options{Wait: true}
	for verb, test := range map[string]struct {
		do   func(g *ground, ctx context.Context) error
		ends bool
	}{
		"trigger": {do: func(g *ground, ctx context.Context) error {
			return errOf(g.op.Trigger(ctx, theJob, operate.Trigger{}, waits))
		}},
		"trigger of items": {do: func(g *ground, ctx context.Context) error {
			return errOf(g.op.Trigger(ctx, theJob, operate.Trigger{Items: []int{2}}, waits))
		}},
		"backfill": {do: func(g *ground, ctx context.Context) error {
			r, err := g.op.Backfill(ctx, theJob, everyFive(2), operate.Trigger{}, operate.Options{})
			require.Len(g, r.Left, 2)
			return err
		}},
		"reshard": {do: func(g *ground, ctx context.Context) error { return errOf(g.op.Reshard(ctx, theJob, waits)) }},
		"settings": {do: func(g *ground, ctx context.Context) error {
			return errOf(g.op.ChangeSettings(ctx, theJob, operate.Settings{Text: g.text(func(cfg *job.Config) { cfg.ShardingTotalCount = 5 })}, waits))
		}},
		"disable": {ends: true, do: func(g *ground, ctx context.Context) error {
			return errOf(g.op.DisableJob(ctx, theJob, waits))
		}},
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGround(t)
				g.do(registry.Put(nodes.ItemRunning(0), first))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				go func() {
					time.Sleep(10 * time.Second)
					g.moves()
				}()
				err := test.do(g, ctx)
				if test.ends {
					require.NoError(t, err)
					return
				}
				var unconfirmed *operate.UnconfirmedError
				require.ErrorAs(t, err, &unconfirmed)
				require.True(t, unconfirmed.Result.Progress.Overtaken)
				require.Contains(t, unconfirmed.Result.Progress.Text, `registry "b"`)
			})
		})
	}
}
