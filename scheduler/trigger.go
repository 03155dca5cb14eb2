package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Trigger makes every instance of the job run its items once, now, whatever the cron says. It returns when the
// request is in the registry; the request can be waited for. An item that is running runs once more right
// after. Requests that come together are one.
//
// Errors: [ErrUnknownJob] if the scheduler does not have the job any more or has stopped, [ErrNoInstance] if
// nobody would run it, and those of the registry. After [registry.ErrUnknownOutcome] the job may have been
// triggered; asking again may trigger it twice.
func (j *Job) Trigger(ctx context.Context) (*Request, error) {
	j.s.mu.Lock()
	known := j.s.runners[j.r.name] == j.r && (j.s.life == nil || j.s.life.Err() == nil)
	j.s.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("trigger job %q: %w", j.r.name, ErrUnknownJob)
	}
	for {
		revision, err := j.s.trigger(ctx, j.r.tree)
		switch {
		case err == nil:
			return &Request{j, revision}, nil
		case !errors.Is(err, registry.ErrConflict):
			return nil, fmt.Errorf("trigger job %q: %w", j.r.name, err)
		}
	}
}

// trigger asks all instances in one transaction that updates them as they were read. If an instance dies
// meanwhile, its node is not created anew without an owner, but the whole is decided again. And a
// request that is carried out late does not trigger once more. If the answer to a request was lost and
// others have overtaken it, nobody can tell whether it was done, so it is not made again.
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

// unsure returns a conflict after which nobody can tell whether the transaction was done, as an unknown
// outcome: what must not be done twice is not to be decided again. Other errors stay as they are.
func unsure(err error) error {
	var conflict *registry.ConflictError
	if errors.As(err, &conflict) && conflict.Ambiguous {
		return fmt.Errorf("%w: %s", registry.ErrUnknownOutcome, conflict.Error())
	}
	return err
}
