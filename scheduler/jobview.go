package scheduler

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// view returns the runner's view while the scheduler has the job and runs.
func (j *Job) view() (*registry.View, error) {
	j.s.mu.Lock()
	defer j.s.mu.Unlock()
	if j.r.view == nil || j.s.runners[j.r.name] != j.r || j.s.life.Err() != nil {
		return nil, fmt.Errorf("job %q: %w", j.r.name, ErrUnknownJob)
	}
	return j.r.view, nil
}

// shows tells whether a view is the one by which the process goes.
func (j *Job) shows(view *registry.View) bool {
	now, err := j.view()
	return err == nil && now == view
}

// waitRevision waits until the process sees a revision of what belongs to no item, whatever view it has of that.
func (j *Job) waitRevision(ctx context.Context, revision registry.Revision) {
	for {
		view, err := j.view()
		if err != nil || view.WaitRevision(ctx, revision) == nil || ctx.Err() != nil {
			return
		}
		if again, err := j.view(); err != nil || again == view {
			return // it has ended, and was not replaced
		}
	}
}

// seesWhole tells whether a view is one of the whole job.
func (j *Job) seesWhole(view *registry.View) bool {
	j.s.mu.Lock()
	defer j.s.mu.Unlock()
	return view == j.r.view && j.r.outside == nil
}

// viewOfAll returns a view of the whole job, and what ends its use: the runner's, or one of its own.
func (j *Job) viewOfAll(ctx context.Context) (view *registry.View, done func(), err error) {
	view, err = j.view()
	if err != nil {
		return nil, nil, err
	}
	if j.seesWhole(view) {
		return view, func() {}, nil
	}
	j.s.mu.Lock()
	life := j.r.life
	j.s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(life, cancel) //nolint:contextcheck // the view ends with Run, too
	view, err = j.s.registry.View(ctx, j.r.tree.Root(), jobtree.ForOperators)
	if err != nil {
		stop()
		cancel()
		return nil, nil, err
	}
	return view, func() {
		stop()
		cancel()
		view.Close()
	}, nil
}

// state returns the job's tree, as this process sees it once that is as new as seen, or as it is read where the
// scheduler does not run yet, cannot follow the job, or follows its own items alone.
func (j *Job) state(ctx context.Context, seen registry.Revision) (*jobtree.State, error) {
	if view, err := j.view(); err == nil && j.seesWhole(view) && view.WaitRevision(ctx, seen) == nil {
		return j.s.dialect.StateOf(j.r.name, view.Snapshot()), nil
	}
	return j.stored(ctx)
}

// stored returns the job's tree, read.
func (j *Job) stored(ctx context.Context) (*jobtree.State, error) {
	nodes, revision, err := j.s.registry.List(ctx, j.r.tree.Root())
	if err != nil {
		return nil, err
	}
	return j.s.dialect.StateOf(j.r.name, registry.NewSnapshot(revision, nodes)), nil
}
