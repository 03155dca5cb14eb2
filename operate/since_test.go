package operate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// triggeredUnheard triggers the job and loses the answer, and the patience: nobody has heard whether it was done.
func (g *ground) triggeredUnheard() operate.Result {
	g.Helper()
	g.registry.LoseAnswers(1)
	ctx, cancel := context.WithTimeout(g.Context(), 30*time.Second)
	defer cancel()
	r, err := g.op.Trigger(ctx, theJob, operate.Trigger{}, silent())
	require.ErrorIs(g, err, registry.ErrUnknownOutcome)
	require.Positive(g, r.State)
	require.True(g, g.node(nodes.Triggered()).Exists(), "it was done")
	g.runs(map[int]jobtree.Outcome{0: jobtree.Success, 1: jobtree.Success, 2: jobtree.Success, 3: jobtree.Success})
	return r
}

// others has somebody else operate the job.
func (g *ground) others(operations int) {
	g.Helper()
	bert := g.operator("bert")
	for n := range operations {
		do := bert.DisableItem
		if n%2 == 1 {
			do = bert.EnableItem
		}
		require.NoError(g, errOf(do(g.Context(), theJob, 3, silent())))
	}
}

// Whoever asks again after an answer that was lost has nothing run twice, also if others did so much since that the job
// does not know the operation any more.
func TestATriggerWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	again := func(g *ground, r operate.Result) (operate.Result, error) {
		return g.op.Trigger(g.Context(), theJob, operate.Trigger{}, operate.Options{ID: r.ID, Since: r.State})
	}
	for others, known := range map[int]bool{0: true, 4: true, 14: true, 16: false, 20: false} {
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			r := g.triggeredUnheard()
			g.others(others)
			before := g.all()
			r, err := again(g, r)
			if known {
				require.NoError(t, err)
				require.True(t, r.Repeated, "%d others", others)
			} else {
				g.refused(operate.CauseOvertaken, err)
				require.ErrorContains(t, err, "it may have been done since revision")
			}
			require.Equal(t, before, g.all(), "%d others", others)
		})
	}
	synctest.Test(t, func(t *testing.T) { // what was never done is done
		g := newGround(t)
		g.others(20)
		state := g.tree().Revision
		g.others(14)
		r, err := again(g, operate.Result{ID: "lost", Plan: operate.Plan{State: state}})
		require.NoError(t, err)
		require.False(t, r.Repeated, "the job would know of it")
		require.True(t, g.node(nodes.Triggered()).Exists())
	})
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		r := g.triggeredUnheard()
		text := g.value(nodes.Config())
		g.do(registry.DeleteTree(nodes.Root()))
		g.do(registry.Put(nodes.Config(), text))
		g.join(first)
		g.assign(first, first, first, first)
		_, err := again(g, r)
		g.refused(operate.CauseOvertaken, err)
	})
	synctest.Test(t, func(t *testing.T) { // nor if the former job had come from another registry, and counted from there
		g := newGround(t)
		g.do(registry.Put(nodes.Tokens(), jobtree.EncodeTokens(jobtree.Tokens{Base: 1_000_000})))
		text := g.value(nodes.Config())
		shown, err := g.op.Remove(t.Context(), theJob, operate.Options{DryRun: true, Force: true})
		require.NoError(t, err)
		again := operate.Options{ID: "lost", Since: shown.State, Force: true}
		require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, again)))
		g.do(registry.Put(nodes.Config(), text))
		g.refused(operate.CauseOvertaken, errOf(g.op.Remove(t.Context(), theJob, again)))
		require.True(t, g.node(nodes.Config()).Exists())
	})
	synctest.Test(t, func(t *testing.T) { // a state that was read elsewhere, and is not seen here yet, is one of this job
		g := newGround(t)
		late := g.server.Open("test", memory.WithTTL(time.Hour), memory.WithTryTimeout(time.Minute), memory.WithDelays(func(m memory.Message) time.Duration {
			return map[memory.MessageKind]time.Duration{memory.Answer: time.Second, memory.Event: 5 * time.Second}[m.Kind]
		}))
		t.Cleanup(func() { _ = late.Close(context.Background()) })
		op, err := operate.New(late, operate.By("carl", "test"))
		require.NoError(t, err)
		next := g.tree().Revision + 1
		time.AfterFunc(time.Second/2, func() { g.others(1) })
		r, err := op.Trigger(t.Context(), theJob, operate.Trigger{}, operate.Options{ID: "lost", Since: next})
		require.NoError(t, err)
		require.GreaterOrEqual(t, r.State, next)
	})
	synctest.Test(t, func(t *testing.T) { // what older versions wrote down does not say what was before it
		g := newGround(t)
		state := g.tree().Revision
		g.others(3)
		list := g.operated().Moved("")
		g.do(registry.Put(nodes.Operated(), jobtree.EncodeOperated(list)))
		_, err := again(g, operate.Result{ID: "lost", Plan: operate.Plan{State: state}})
		g.refused(operate.CauseOvertaken, err)
		_, err = again(g, operate.Result{ID: "lost", Plan: operate.Plan{State: g.tree().Revision}})
		require.NoError(t, err, "nothing was done since")
	})
}

// Of a backfill no fire runs twice either.
func TestABackfillWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		ran := g.answering(succeed)
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		r, err := g.op.Backfill(ctx, theJob, everyFive(6), operate.Trigger{}, operate.Options{ID: "night"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Positive(t, r.Since)
		time.Sleep(time.Minute) // in which the fourth runs
		once := ran()
		g.others(20)
		opts := operate.Options{ID: r.ID, Since: r.Since}
		_, err = g.op.Backfill(t.Context(), theJob, everyFive(6), operate.Trigger{}, opts)
		g.refused(operate.CauseOvertaken, err)
		require.Equal(t, once, ran(), "nothing runs again")
		_, err = g.op.Backfill(t.Context(), theJob, everyFive(6)[4:], operate.Trigger{}, silent())
		require.NoError(t, err)
		require.Equal(t, everyFive(6), ran(), "each once")
	})
}

// Nor does one that an earlier call has run, if the job forgets the backfill while whoever asks again looks at the fire before.
// What nobody has asked for runs all the same.
func TestABackfillThatIsForgottenMeanwhile(t *testing.T) {
	t.Parallel()
	for came, left := range map[int]int{2: 1, 1: 0} {
		synctest.Test(t, func(t *testing.T) {
			g := newGround(t)
			ran := g.answering(succeed)
			fires := everyFive(2)
			r, err := g.op.Backfill(t.Context(), theJob, fires[:came], operate.Trigger{}, silent())
			require.NoError(t, err)
			again := operate.Options{ID: r.ID, Progress: func(operate.Progress) {
				if _, known := g.operated().Find(r.ID); known {
					g.others(16)
				}
			}}
			r, err = g.op.Backfill(t.Context(), theJob, fires, operate.Trigger{}, again)
			if left > 0 {
				g.refused(operate.CauseOvertaken, err)
			} else {
				require.NoError(t, err)
			}
			require.Len(t, r.Left, left)
			require.Equal(t, fires, ran(), "each once")
		})
	}
}

// An id and the state before it are one word.
func TestKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]operate.Options{"": {}, "ID1": {ID: "ID1"}, "ID1@48211": {ID: "ID1", Since: 48211}} {
		var opts operate.Options
		require.NoError(t, opts.SetKey(key))
		require.Equal(t, want, opts)
		require.Equal(t, key, opts.Key())
	}
	for _, key := range []string{"ID1@", "@7", "ID1@x", "ID1@0", "ID1@-3", "a@1@2"} {
		require.ErrorIs(t, new(operate.Options).SetKey(key), operate.ErrInvalidOption, key)
	}
}

// A removal deletes what tells that it was done: only the state before keeps it from being done to a job that was made anew.
func TestARemovalThatIsAskedForTwice(t *testing.T) {
	t.Parallel()
	g := deserted(t)
	shown, err := g.op.Remove(t.Context(), theJob, operate.Options{DryRun: true})
	require.NoError(t, err)
	opts := operate.Options{ID: "K1", Since: shown.State}
	require.NoError(t, errOf(g.op.Remove(t.Context(), theJob, opts)))
	g.refused(operate.CauseUnknownJob, errOf(g.op.Remove(t.Context(), theJob, opts)))
	require.NoError(t, errOf(g.op.Create(t.Context(), g.config(nil), silent())))
	before := g.all()
	g.refused(operate.CauseOvertaken, errOf(g.op.Remove(t.Context(), theJob, opts)))
	g.refused(operate.CauseStale, errOf(g.op.Remove(t.Context(), theJob, operate.Options{ID: "K1", Shown: &shown.Plan})))
	require.Equal(t, before, g.all())
}
