package barrier

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// FallsTo tells whether an instance is to take a barrier that is complete at once: it ran the last item
// to arrive, or whoever did is gone. If that one stands still, others may take it after a while.
func FallsTo(s *jobtree.State, p jobtree.Phase, instance string) bool {
	var last *jobtree.Execution
	newest := registry.Revision(0)
	for _, n := range s.Barrier(p).Round.Value.Items {
		if record := s.Record(n); record.Revision > newest && record.Value.Current != nil {
			last, newest = record.Value.Current, record.Revision
		}
	}
	return last == nil || last.Instance == instance || s.Instance(last.Instance).Session != last.Session
}

// Take returns the transaction by which an instance takes the hook of a complete barrier. Its revision
// is the hook's token. The hook may run only when it is done. Of several instances that try, one gets it.
func Take(s *jobtree.State, p jobtree.Phase, instance string, session *registry.Session) registry.Txn {
	b, tree := s.Barrier(p), s.Tree()
	taken := b.Round.Value
	taken.Done = instance
	return registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(tree.Barrier(p), b.Round.Revision),
			registry.CreatedAt(tree.Instance(instance), s.Instance(instance).Created),
			registry.Unchanged(tree.Config(), s.Config.Revision), // by another one the items may not wait for it
		},
		Then: []registry.Write{
			registry.Put(tree.Barrier(p), jobtree.EncodeBarrier(taken)),
			registry.PutOwned(tree.BarrierHook(p), instance, session),
		},
	}
}
