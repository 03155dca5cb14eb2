package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// resign takes this process's instance out of a job that it has left: the registry carried its join out
// late, and nobody else would take the node away while the session lasts.
func (s *Scheduler) resign(job string, node registry.Node) {
	s.mu.Lock()
	attached, here := s.attached, s.runners[job] != nil
	s.mu.Unlock()
	if here || attached == nil || !node.Exists() || node.Session != attached.Session.ID() {
		return
	}
	s.work.Go(func() {
		_, err := s.registry.Commit(attached.Ctx, registry.Txn{
			If:   []registry.Condition{registry.CreatedAt(node.Path, node.Created)},
			Then: []registry.Write{registry.Delete(node.Path)},
		})
		if err != nil && !errors.Is(err, registry.ErrConflict) && attached.Ctx.Err() == nil {
			s.repeated(slog.LevelWarn, "this instance is still registered in a job that it has left", job, err)
		}
	})
}

// watchLeft follows the node that this process's instance had in a job that it has left, until Run ends, and
// resigns whenever it is there again.
func (s *Scheduler) watchLeft(life context.Context, job string) {
	s.mu.Lock()
	_, watched := s.left[job]
	if !watched {
		s.left[job] = nil // until the view is open
	}
	s.mu.Unlock()
	if !watched {
		s.work.Go(func() { s.followLeft(life, job) })
	}
}

func (s *Scheduler) followLeft(life context.Context, job string) {
	path := jobtree.For(job).Instance(s.instance)
	view := s.reopen(life, path, jobtree.ForOperators, func() bool { return life.Err() != nil })
	if view == nil {
		return
	}
	watched := &leftJob{view: view}
	s.mu.Lock()
	over := life.Err() != nil
	if !over {
		s.left[job] = watched
	}
	s.mu.Unlock()
	if over {
		view.Close()
		return
	}
	view.AfterEnd(func(reason error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !errors.Is(reason, registry.ErrClosed) && !s.leftClosed { // else Run has waited for what it started
			s.work.Go(func() { s.followLeft(life, job) })
		}
	})
	view.Subscribe(func(step registry.Step) {
		node := step.Snapshot.Get(path)
		s.mu.Lock()
		watched.node = node
		s.mu.Unlock()
		s.resign(job, node)
	})
}

// leftJob is a job that this process has left.
type leftJob struct {
	view *registry.View
	node registry.Node // of this instance, as was told last: the view may not show it yet
}

// resignLeft looks at all jobs that were left: under a new session, under one that was given up here and then
// taken up again, and when a job was just left, as what came while it was on the list was passed over. The
// caller holds mu.
func (s *Scheduler) resignLeft() {
	for job, watched := range s.left {
		if watched != nil {
			node := watched.node
			s.work.Go(func() { s.resign(job, node) })
		}
	}
}

// closeLeft ends the views of jobs that were left.
func (s *Scheduler) closeLeft() {
	s.mu.Lock()
	s.leftClosed = true
	all := slices.Collect(maps.Values(s.left))
	s.mu.Unlock()
	for _, watched := range all {
		if watched != nil {
			watched.view.Close()
		}
	}
}
