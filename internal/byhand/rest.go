package byhand

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// AskRest asks the Java instances for which the transaction of a request had no room, and returns when none is left.
// look returns the job's state at or past a revision.
//
// Who is left can be told from the tree, so whoever made a request and died before can come back, or another in its
// place, and nobody is asked twice.
func AskRest(ctx context.Context, store registry.Committer, look func(context.Context, registry.Revision) (*jobtree.State, error), request registry.Revision) error {
	for seen := request; ; {
		s, err := look(ctx, seen)
		if err != nil {
			return fmt.Errorf("the request is made, but perhaps not to all Java instances: %w", err)
		}
		left := rest(s, request)
		if len(left) == 0 {
			return nil
		}
		for _, o := range store.CommitAll(ctx, left) {
			var conflict *registry.ConflictError
			switch {
			case o.Err == nil:
				seen = max(seen, o.Revision)
			case errors.As(o.Err, &conflict):
				seen = max(seen, conflict.Revision)
			default:
				return fmt.Errorf("the request is made, but not to all Java instances: %w", o.Err)
			}
		}
	}
}

// rest are the transactions that ask those who are left: the Java instances that lived when the request was made and
// whose nodes nobody has written since. One that has been written since was asked, or has answered. If another
// request has taken the place of this one, nobody is left.
func rest(s *jobtree.State, request registry.Revision) (txns []registry.Txn) {
	tree := s.Tree()
	if s.Triggered().Revision != request || s.Layout() != jobtree.Lite { // where all were asked with the request
		return nil
	}
	for _, i := range s.Instances {
		if !jobtree.JavaInstance(i.ID) || i.Revision >= request {
			continue
		}
		node := tree.Instance(i.ID)
		txns = append(txns, registry.Txn{
			If:   []registry.Condition{registry.Unchanged(tree.Triggered(), request), registry.Unchanged(node, i.Revision)},
			Then: []registry.Write{registry.Update(node, jobtree.InstanceTriggered)},
		})
	}
	return txns
}
