package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Trigger has every instance of a job run its items once, now, whatever the cron says. It returns
// when the request is in the registry. An item that is running runs once more right after; requests
// that come together are one.
//
// Errors: [ErrUnknownJob] if this scheduler does not have the job, [ErrNoInstance] if nobody would
// run it, and those of the registry. After [registry.ErrUnknownOutcome] the job may have been triggered;
// asking again may trigger it twice.
func (s *Scheduler) Trigger(ctx context.Context, name string) error {
	_, err := s.request(ctx, name)
	return err
}

// request is Trigger, and returns the number of the request: its revision.
func (s *Scheduler) request(ctx context.Context, name string) (registry.Revision, error) {
	s.mu.Lock()
	known := s.runners[name] != nil
	s.mu.Unlock()
	if !known {
		return 0, fmt.Errorf("trigger job %q: %w", name, ErrUnknownJob)
	}
	tree := jobtree.For(name)
	for {
		revision, err := s.trigger(ctx, tree)
		if !errors.Is(err, registry.ErrConflict) {
			if err != nil {
				err = fmt.Errorf("trigger job %q: %w", name, err)
			}
			return revision, err
		}
	}
}

// trigger asks all instances in one transaction that updates them as they were read: one that dies
// meanwhile is not made anew, as a node without an owner, but has the whole be decided again, and a
// request that is carried out late does not trigger once more. Of one whose answer was lost and that
// others have overtaken nobody can tell whether it was done, so it is not made again.
func (s *Scheduler) trigger(ctx context.Context, tree jobtree.Tree) (registry.Revision, error) {
	instances, _, err := s.registry.List(ctx, tree.Instances())
	if err != nil {
		return 0, err
	}
	if len(instances) == 0 {
		return 0, ErrNoInstance
	}
	var txn registry.Txn
	for _, node := range instances {
		txn.If = append(txn.If, registry.Unchanged(node.Path, node.Revision))
		txn.Then = append(txn.Then, registry.Update(node.Path, jobtree.InstanceTriggered))
	}
	revision, err := s.registry.Commit(ctx, txn)
	return revision, unsure(err)
}

// unsure returns a conflict after which nobody can tell whether the transaction was done as an unknown
// outcome: what must not be done twice is not to be decided again. Other errors stay as they are.
func unsure(err error) error {
	var conflict *registry.ConflictError
	if errors.As(err, &conflict) && conflict.Ambiguous {
		return fmt.Errorf("%w: %s", registry.ErrUnknownOutcome, conflict.Error())
	}
	return err
}
