package javapeers

import (
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// runs is what was seen of executions in Java instances, by item.
type runs struct {
	mu   sync.Mutex
	ran  map[int]peers.Statistics
	came map[int]time.Time // when the item was taken from a Java instance last
}

// noteRuns notes what a step shows of executions in Java instances.
func (s *java) noteRuns(v room.View, step registry.Step) {
	now := v.Clock.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		switch {
		case !ok:
		case name.Kind == jobtree.KindItemInstance && jobtree.JavaInstance(change.Old.Value) && change.New.Value != change.Old.Value:
			if s.came == nil {
				s.came = make(map[int]time.Time)
			}
			s.came[name.Item] = now
		case name.Kind == jobtree.KindItemRunning:
			s.noteRun(v, name.Item, change, now)
			s.noteEnd(v, name.Item, change)
		}
	}
}

// noteRun notes a change of an item's mark. The caller holds mu.
func (s *java) noteRun(v room.View, item int, change registry.Change, now time.Time) {
	run := s.ran[item]
	switch began, is := change.New.Created, s.javas(change.New); {
	case is && began != change.Old.Created:
		run = peers.Statistics{Runs: run.Runs + 1, Instance: s.runnerOf(v, change.New, item), LastBegin: now}
	case !is && s.javas(change.Old):
		run.LastEnd = now
	default:
		return
	}
	if s.ran == nil {
		s.ran = make(map[int]peers.Statistics)
	}
	s.ran[item] = run
}

// lastRun returns the Java instance that was seen to run an item last; empty if none was.
func (r *runs) lastRun(item int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ran[item].Instance
}

// lastBegin returns when the last execution of an item in a Java instance was seen to begin; zero if none was.
func (r *runs) lastBegin(item int) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ran[item].LastBegin
}

// javas tells whether a mark is of an execution in a Java instance: it is empty, or names one in ElasticJob 3.x.
func (s *java) javas(mark registry.Node) bool {
	if s.of == jobtree.ElasticJob3 {
		return mark.Exists() && jobtree.JavaInstance(mark.Value)
	}
	return mark.Exists() && mark.Value == ""
}

// runnerOf returns the instance of a mark of Java's.
func (s *java) runnerOf(v room.View, mark registry.Node, item int) string {
	if s.of == jobtree.ElasticJob3 {
		return mark.Value
	}
	return instanceUnder(v, mark.Session, item)
}

// instanceUnder returns the instance of a session, or else the item's owner.
func instanceUnder(v room.View, session registry.SessionID, item int) string {
	for _, i := range v.State.Instances {
		if i.Session == session {
			return i.ID
		}
	}
	return v.State.Owner(item)
}

// TheirsUntil implements [peers.Reporter].
func (r *runs) TheirsUntil(item int, owner string) (until time.Time, always bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	until = r.came[item]
	if end := r.ran[item].LastEnd; end.After(until) {
		until = end
	}
	return until, jobtree.JavaInstance(owner)
}

// Statistics implements [peers.Reporter].
func (r *runs) Statistics(item int, owner string) *peers.Statistics {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.ran[item]
	if run.Runs == 0 && !jobtree.JavaInstance(owner) {
		return nil
	}
	return &run
}
