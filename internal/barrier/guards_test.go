package barrier_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Each guard refuses a decision that was made on what is not so any more. In each story something
// happens between a decision on the state "seen" and its arrival.
func TestEachGuardRefusesWhatIsTooLate(t *testing.T) {
	t.Parallel()
	const p = jobtree.PhaseStarted
	first, second := jobtree.RoundKey{Fire: noon}, jobtree.RoundKey{Trigger: 5}
	sessionA, sessionB := session(t, 1), session(t, 2)
	open := func(w *world, key jobtree.RoundKey) { require.True(t, w.commit(barrier.Open(w.state(), p, key, noon))) }
	take := func(w *world) { require.True(t, w.commit(barrier.Take(w.state(), p, b, sessionB))) }
	settle := func(w *world) {
		s := w.state().Barrier(p)
		require.True(t, w.commit(barrier.Settle(tree, p, s.Round.Value, s.Hook.Created, nil, noon)))
	}
	takes := func(seen *jobtree.State) registry.Txn { return barrier.Take(seen, p, a, sessionA) }
	expires := func(seen *jobtree.State) registry.Txn { return barrier.Expire(seen, p, noon) }
	opens := func(seen *jobtree.State) registry.Txn { return barrier.Open(seen, p, first, noon) }
	var hidden registry.Node
	for name, story := range map[string]struct {
		before    func(w *world) // up to the decision
		decide    func(seen *jobtree.State) registry.Txn
		meanwhile func(w *world)
	}{
		"take what is taken":             {func(w *world) { open(w, first) }, takes, take},
		"take what is taken and settled": {func(w *world) { open(w, first) }, takes, func(w *world) { take(w); settle(w) }},
		"take what is timed out": {func(w *world) { open(w, first) }, takes, func(w *world) {
			require.True(t, w.commit(barrier.Expire(w.state(), p, noon)))
		}},
		"take what is replaced":   {func(w *world) { open(w, first) }, takes, func(w *world) { open(w, second) }},
		"take as one who is gone": {func(w *world) { open(w, first) }, takes, func(w *world) { delete(w.nodes, tree.Instance(a)) }},
		"take as another by now":  {func(w *world) { open(w, first) }, takes, func(w *world) { delete(w.nodes, tree.Instance(a)); w.put(tree.Instance(a), "", 3) }},
		"take by settings of before": {func(w *world) { open(w, first) }, takes, func(w *world) {
			w.put(tree.Config(), strings.Replace(w.nodes[tree.Config()].Value, "{", "{ ", 1), 0)
		}},
		"time out what is taken":    {func(w *world) { open(w, first) }, expires, take},
		"time out what is settled":  {func(w *world) { open(w, first) }, expires, func(w *world) { take(w); settle(w) }},
		"time out what is replaced": {func(w *world) { open(w, first) }, expires, func(w *world) { open(w, second) }},
		"declare lost whose mark was not shown yet": {func(w *world) {
			open(w, first)
			take(w)
			hidden = w.nodes[tree.BarrierHook(p)]
			delete(w.nodes, tree.BarrierHook(p))
		}, func(seen *jobtree.State) registry.Txn { return barrier.DeclareLost(seen, p, noon) }, func(w *world) {
			w.nodes[tree.BarrierHook(p)] = hidden
		}},
		"open what is open":    {func(*world) {}, opens, func(w *world) { open(w, first) }},
		"open what is settled": {func(*world) {}, opens, func(w *world) { open(w, first); take(w); settle(w) }},
		"open while a hook runs of which the barrier was removed by hand": {func(*world) {}, opens, func(w *world) {
			open(w, first)
			take(w)
			delete(w.nodes, tree.Barrier(p))
		}},
		"settle for another": {func(w *world) { open(w, first); take(w) }, func(seen *jobtree.State) registry.Txn {
			s := seen.Barrier(p)
			return barrier.Settle(tree, p, s.Round.Value, s.Hook.Created, nil, noon)
		}, func(w *world) {
			delete(w.nodes, tree.BarrierHook(p))
			require.True(t, w.commit(barrier.DeclareLost(w.state(), p, noon)))
			open(w, second)
			take(w)
		}},
	} {
		w := newWorld(t, 1)
		story.before(w)
		seen := w.state()
		story.meanwhile(w)
		require.False(t, w.commit(story.decide(seen)), name)
	}
}
