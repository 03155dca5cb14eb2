package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	// leftFollowed is for how long a job is followed that was left: what is carried out late comes within moments as a rule.
	leftFollowed = 10 * time.Minute
	// leftLooked is how long it takes at most until it is looked at again afterwards.
	leftLooked = 10 * time.Minute
)

// takeOut takes this process's instance out of a job that it has left: the registry carried its join out late, and nobody
// else would take the node away while the session lasts. What refuses that is asked again: others give items to an instance
// that is registered.
func (s *Scheduler) takeOut(job string, node registry.Node) {
	if s.holdsLeft(job, node) == nil {
		return
	}
	s.work.Go(func() {
		for pause := firstReopening; ; pause = min(2*pause, longestReopening) {
			attached := s.holdsLeft(job, node)
			if attached == nil {
				return
			}
			_, err := s.registry.Commit(attached.Ctx, registry.Txn{
				If:   []registry.Condition{registry.CreatedAt(node.Path, node.Created)},
				Then: []registry.Write{registry.Delete(node.Path)},
			})
			if err == nil || errors.Is(err, registry.ErrConflict) {
				return
			}
			if waitPause(attached.Ctx, pause, job) != nil {
				return
			}
			s.repeated(slog.LevelWarn, "this instance is still registered in a job that it has left", job, err)
		}
	})
}

// holdsLeft returns the present session if a node is of it, and is that of this process's instance in a job that the process
// does not have; nil if not.
func (s *Scheduler) holdsLeft(job string, node registry.Node) *room.Attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runners[job] != nil || s.attached == nil || !node.Exists() || node.Session != s.attached.Session.ID() {
		return nil
	}
	return s.attached
}

// watchLeft follows the node that this process's instance had in a job that it has left, and takes it out whenever it is there
// again, until Run ends or another session has begun. Whether every join was answered does not matter: one that was sent again
// may have been carried out by what was sent again, and once more by what was sent first. That may wait in a member of the
// store that stands still, for as long as the session lasts. But a view costs something, here and there: after a while the job
// is looked at now and then, until it is removed.
func (s *Scheduler) watchLeft(life context.Context, job string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.handlers.byClass) > 0 {
		s.notData[job] = struct{}{}
	}
	if s.session == nil { // it never joined
		return
	}
	if watched := s.left[job]; watched != nil && !watched.rarely {
		watched.since = time.Now()
		return
	}
	s.beginToFollow(life, job)
	if !s.leftLooking {
		s.leftLooking = true
		s.work.Go(func() { s.lookAtLeft(life) })
	}
}

// beginToFollow follows a job that was left from now on. The caller holds mu.
func (s *Scheduler) beginToFollow(life context.Context, job string) {
	watched := &leftJob{since: time.Now()}
	s.left[job] = watched
	s.work.Go(func() { s.followLeft(life, job, watched) })
}

// lookAtLeft looks now and then at the jobs that were left a while ago, as long as there are jobs that were left.
func (s *Scheduler) lookAtLeft(life context.Context) {
	for waitPause(life, leftLooked, "left") == nil {
		for job, watched := range s.leftForLong() {
			s.lookAtLeftJob(life, job, watched)
		}
		if s.noneLeft() {
			return
		}
	}
}

// noneLeft tells whether there is no job that was left. Then nobody looks at them any more.
func (s *Scheduler) noneLeft() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leftLooking = len(s.left) > 0
	return !s.leftLooking
}

// leftForLong returns the jobs that are looked at now and then. It closes the views of those that have been followed for long
// enough.
func (s *Scheduler) leftForLong() map[string]*leftJob {
	s.mu.Lock()
	defer s.mu.Unlock()
	long, followed := make(map[string]*leftJob), make(map[string]*leftJob)
	for job, watched := range s.left {
		switch {
		case s.runners[job] != nil: // it is here again
		case watched.rarely:
			long[job] = watched
		case watched.view != nil && !watched.node.Exists() && time.Since(watched.since) >= leftFollowed:
			followed[job] = &leftJob{view: watched.view}
			watched.rarely, watched.view = true, nil
			long[job] = watched
		}
	}
	if len(followed) > 0 {
		s.work.Go(func() { closeViews(followed) }) // whose subscribers may wait for mu
	}
	return long
}

// lookAtLeftJob follows a job again if an instance of this process's name is there, which takes it out. It lets go of a job
// that was removed: where there is none, nobody joins.
func (s *Scheduler) lookAtLeftJob(life context.Context, job string, watched *leftJob) {
	tree := jobtree.For(job)
	_, instance := s.registry.Get(life, tree.Instance(s.instance))
	_, config := s.registry.Get(life, tree.Config())
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.left[job] != watched || life.Err() != nil:
	case instance == nil:
		s.beginToFollow(life, job)
	case errors.Is(instance, registry.ErrNotFound) && errors.Is(config, registry.ErrNotFound):
		delete(s.left, job)
	}
}

func (s *Scheduler) followLeft(life context.Context, job string, watched *leftJob) {
	path := jobtree.For(job).Instance(s.instance)
	over := func() bool { return life.Err() != nil || s.left[job] != watched || watched.rarely }
	view := s.reopen(life, path, jobtree.ForOperators, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return over()
	})
	if view == nil {
		return
	}
	s.mu.Lock()
	if over() {
		s.mu.Unlock()
		view.Close()
		return
	}
	watched.view = view
	s.mu.Unlock()
	view.AfterEnd(func(reason error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if errors.Is(reason, registry.ErrClosed) || s.leftClosed { // Run may have waited for what it started
			return
		}
		if s.left[job] == watched && !watched.rarely {
			s.work.Go(func() { s.followLeft(life, job, watched) })
		}
	})
	view.Subscribe(func(step registry.Step) {
		node := step.Snapshot.Get(path)
		s.mu.Lock()
		watched.node = node
		s.mu.Unlock()
		s.takeOut(job, node)
	})
}

// leftJob is a job that this process has left under its present session, or under the last one if there is none.
type leftJob struct {
	since  time.Time      // when it was left
	view   *registry.View // nil until it is open, and when it was closed again
	node   registry.Node  // of this instance, as was told last: the view may not show it yet
	rarely bool           // it is not followed any more, but looked at now and then
}

// takeOutLeft looks at a job that was just left, as what came while it was on the list was passed over. The caller holds mu.
func (s *Scheduler) takeOutLeft(job string) {
	if watched := s.left[job]; watched != nil && watched.node.Exists() {
		node := watched.node
		s.work.Go(func() { s.takeOut(job, node) })
	}
}

// takeOutAllLeft looks at all jobs that were left, under a session that was given up here and then taken up again. The caller
// holds mu.
func (s *Scheduler) takeOutAllLeft() {
	for job := range s.left {
		s.takeOutLeft(job)
	}
}

// forgetLeft lets go of all jobs that were left, because a session has begun that the registry knows as another: the registry
// carries a join out under its own session alone, and no session is taken up again that another has followed. The caller holds
// mu.
func (s *Scheduler) forgetLeft() {
	all := s.left
	s.left = make(map[string]*leftJob)
	if len(all) > 0 {
		s.work.Go(func() { closeViews(all) }) // whose subscribers may wait for mu
	}
}

// closeLeft ends the views of jobs that were left.
func (s *Scheduler) closeLeft() {
	s.mu.Lock()
	s.leftClosed = true
	all := s.left
	s.left = make(map[string]*leftJob)
	s.mu.Unlock()
	closeViews(all)
}

func closeViews(left map[string]*leftJob) {
	for _, watched := range left {
		if watched.view != nil {
			watched.view.Close()
		}
	}
}
