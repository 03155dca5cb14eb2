package scheduler

import (
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// JavaStatistics are what a process saw of the executions of an item in Java instances, since it declared
// the job. Java records nothing: an execution is seen by its mark, when that comes and goes, by the clock
// of this process. Of executions so short that the mark was gone before anybody looked, nothing is seen.
type JavaStatistics struct {
	Runs      int64     `json:"runs"`
	Instance  string    `json:"instance,omitempty"`  // that ran it last
	LastBegin time.Time `json:"last_begin,omitzero"` // of the last one
	LastEnd   time.Time `json:"last_end,omitzero"`   // zero while it runs
}

// javaRuns is what was seen of executions in Java instances, by item.
type javaRuns struct {
	mu   sync.Mutex
	ran  map[int]JavaStatistics
	came map[int]time.Time // when the item was taken from a Java instance last
}

// noteJavaRuns notes what a step shows of executions in Java instances: their marks are empty.
func (s *shared) noteJavaRuns(step registry.Step) {
	now := s.runner.s.now().UTC()
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
			s.noteJavaRun(name.Item, change, now)
		}
	}
}

// noteJavaRun notes a change of an item's mark. The caller holds mu.
func (s *shared) noteJavaRun(item int, change registry.Change, now time.Time) {
	run := s.ran[item]
	switch began, is := change.New.Created, change.New.Exists() && change.New.Value == ""; {
	case is && began != change.Old.Created:
		run = JavaStatistics{Runs: run.Runs + 1, Instance: s.instanceUnder(change.New.Session, item), LastBegin: now}
	case !is && change.Old.Exists() && change.Old.Value == "":
		run.LastEnd = now
	default:
		return
	}
	if s.ran == nil {
		s.ran = make(map[int]JavaStatistics)
	}
	s.ran[item] = run
}

// instanceUnder returns the instance of a session, or else the item's owner.
func (s *shared) instanceUnder(session registry.SessionID, item int) string {
	for _, i := range s.runner.state.Instances {
		if i.Session == session {
			return i.ID
		}
	}
	return s.runner.state.Owner(item)
}

// untilJava returns until when an item was a Java instance's business: nobody here knows for what fires it ran
// up to then. always is that it still is.
func (j *javaRuns) untilJava(item int, owner string) (until time.Time, always bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	until = j.came[item]
	if end := j.ran[item].LastEnd; end.After(until) {
		until = end
	}
	return until, jobtree.JavaInstance(owner)
}

// statistics returns what was seen of an item; nil if nothing was and its owner is none of Java's.
func (j *javaRuns) statistics(item int, owner string) *JavaStatistics {
	j.mu.Lock()
	defer j.mu.Unlock()
	run := j.ran[item]
	if run.Runs == 0 && !jobtree.JavaInstance(owner) {
		return nil
	}
	return &run
}
