package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Trigger has every instance of the job run its items once, now, whatever the cron says. It returns when the
// request is in the registry; the request can be waited for. An item that is running runs once more right
// after. Requests that come together are one.
//
// Errors: [ErrUnknownJob] if the scheduler does not have the job any more or has stopped, [ErrNoInstance] if
// nobody would run it, and those of the registry. After [registry.ErrUnknownOutcome] the job may have been triggered; asking again may
// trigger it twice.
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

// requested returns the number of the request that this instance has not answered yet; 0 = none. It
// is the revision of the request, which all instances share, so an item that moves between two of
// them meanwhile does not run twice. An instance that joined after a request was not asked itself,
// and takes it up from those who were.
func (r *runner) requested() registry.Revision {
	mine := r.state.Instance(r.s.instance)
	if mine.Triggered {
		return mine.Revision
	}
	if r.s.traits.AloneAnswered {
		return 0 // there each instance answers for itself alone
	}
	request := registry.Revision(0)
	for _, other := range r.state.Instances {
		if other.Triggered && other.Revision < mine.Created {
			request = max(request, other.Revision)
		}
	}
	return request
}

// acknowledgeTrigger takes the request to this instance back when it has been answered. It is
// guarded by the request as it was seen: a newer one stays.
func (r *runner) acknowledgeTrigger() {
	mine := r.state.Instance(r.s.instance)
	if !mine.Triggered || !r.settings.ok || !r.settled() || !r.answered(mine.Revision) {
		return
	}
	path := r.tree.Instance(r.s.instance)
	revision, err := r.s.registry.Commit(r.attached.Ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, mine.Revision)},
		Then: []registry.Write{registry.Update(path, jobtree.InstanceIdle)},
	})
	if err != nil {
		r.refused("acknowledge trigger", err)
		return
	}
	r.committed(revision)
}

// answered tells whether every item has begun for a request that this instance was asked.
func (r *runner) answered(request registry.Revision) bool {
	for n := range r.state.Total() {
		if r.answersFor(r.state.Owner(n), request) && r.wantsTrigger(n, request) {
			return false
		}
	}
	return true
}

// answersFor tells whether this instance keeps a request for the sake of an instance's items, too. It
// does for one that joined after the request, and takes it up from here; and for one that was asked
// with it, since an item that moves from there to here before it has begun would miss the request
// otherwise. Where each answers for itself alone, nobody is held up.
func (r *runner) answersFor(owner string, request registry.Revision) bool {
	if owner == r.s.instance || r.s.traits.AloneAnswered {
		return owner == r.s.instance
	}
	other := r.state.Instance(owner)
	return r.settings.config.Monitored() && (other.Created > request || other.Triggered && other.Revision == request)
}

// wantsTrigger tells whether an item is still to be run for a request.
func (r *runner) wantsTrigger(n int, request registry.Revision) bool {
	node := r.state.Item(n)
	if node.Disabled || node.Record.Err != nil {
		return false
	}
	done := node.Record.Value.Trigger
	if it := r.items[n]; it != nil {
		if it.running != nil && it.running.undo || it.wrote > r.applied {
			return true // the record does not show yet that the begin is taken back
		}
		done = max(done, it.triggered)
	}
	return done < request
}
