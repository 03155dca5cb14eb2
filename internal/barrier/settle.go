package barrier

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Settle returns the transaction that records how the hook of a barrier ended which was taken as b
// says, with the token. Nothing else changes a barrier while its hook's mark is there.
func Settle(tree jobtree.Tree, p jobtree.Phase, b jobtree.Barrier, token registry.Revision, hook error, now time.Time) registry.Txn {
	outcome, text := jobtree.BarrierSuccess, ""
	if hook != nil {
		outcome, text = jobtree.BarrierFailure, hook.Error()
	}
	return registry.Txn{
		If: []registry.Condition{registry.CreatedAt(tree.BarrierHook(p), token)},
		Then: []registry.Write{
			registry.Delete(tree.BarrierHook(p)),
			registry.Put(tree.Barrier(p), jobtree.EncodeBarrier(b.Settled(outcome, text, now))),
		},
	}
}

// Lost tells whether a hook was taken and its mark is gone, with the session of whoever took it, before
// the barrier was settled.
func Lost(s *jobtree.State, p jobtree.Phase) bool {
	b := s.Barrier(p)
	return b.Round.Value.Underway() && !b.Hook.Exists()
}

// DeclareLost returns the transaction that settles a barrier for which [Lost] is true. A view may show that a hook was taken
// before it shows its mark, so that must not be there.
func DeclareLost(s *jobtree.State, p jobtree.Phase, now time.Time) registry.Txn {
	txn := settleOpen(s, p, jobtree.BarrierLost, now)
	txn.If = append(txn.If, registry.Absent(s.Tree().BarrierHook(p)))
	return txn
}

// Expire returns the transaction that settles a barrier which is still open at its deadline.
func Expire(s *jobtree.State, p jobtree.Phase, now time.Time) registry.Txn {
	return settleOpen(s, p, jobtree.BarrierTimeout, now)
}

func settleOpen(s *jobtree.State, p jobtree.Phase, outcome jobtree.BarrierOutcome, now time.Time) registry.Txn {
	b, tree := s.Barrier(p), s.Tree()
	return registry.Txn{
		// Whoever takes the hook rewrites the barrier, so this says that nobody has, or has again.
		If:   []registry.Condition{registry.Unchanged(tree.Barrier(p), b.Round.Revision)},
		Then: []registry.Write{registry.Put(tree.Barrier(p), jobtree.EncodeBarrier(b.Round.Value.Settled(outcome, "", now)))},
	}
}

// Disown returns the transaction that settles a barrier as lost whose hook's mark belongs to a session
// that still stands, of a process that knows of no such hook. It is for that process.
func Disown(s *jobtree.State, p jobtree.Phase, now time.Time) registry.Txn {
	b, tree := s.Barrier(p), s.Tree()
	txn := registry.Txn{
		If:   []registry.Condition{registry.CreatedAt(tree.BarrierHook(p), b.Hook.Created)},
		Then: []registry.Write{registry.Delete(tree.BarrierHook(p))},
	}
	if b.Round.Value.Underway() {
		settled := b.Round.Value.Settled(jobtree.BarrierLost, "", now)
		txn.Then = append(txn.Then, registry.Put(tree.Barrier(p), jobtree.EncodeBarrier(settled)))
	}
	return txn
}
