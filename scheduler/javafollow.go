package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// before notes what a step of the view takes away and the state will not know any more.
func (s *shared) before(step registry.Step) {
	if !s.runner.s.java {
		return
	}
	if s.former == nil {
		s.former = make(map[int]string)
	}
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if ok && name.Kind == jobtree.KindItemInstance && change.Old.Value != "" && change.Old.Value != change.New.Value {
			s.former[name.Item] = change.Old.Value
		}
	}
	s.noteJavaRuns(step)
	s.lookForCrashes(step)
}

// after has a leader plan again when an item has ended that is to be moved.
func (s *shared) after(t jobtree.Touched) {
	if s.held && len(t.Items) > 0 {
		s.runner.leadership.plan = true
	}
	if t.Config && s.runner.state.Config.Revision == 0 {
		s.lastCron = lastCron{} // what is stored next is another job
	}
	if s.runner.s.java {
		s.look = true
		s.taken.Note(t.Items, t.Instances)
	}
}

// settle does what only Java makes necessary.
func (s *shared) settle() {
	if s.runner.s.java {
		s.yield()
		s.settleLosses()
		s.claimAbandoned()
		s.urge()
	}
}

// formerRecorded tells whether what an item ran for under its former owner is known: the former owner
// wrote its record, or nobody ran it for the newest tick, because a Java leader was resharding then, and
// every Java instance waited for that.
func (s *shared) formerRecorded(node jobtree.Item) bool {
	owner := s.former[node.Number]
	last := node.Record.Value.Current
	return s.runner.last.blocked || owner != "" && last != nil && last.Instance == owner
}

// missedByJava returns the fire that stands for those that an item missed by a note of Java's, which
// says that there were some and not which: the newest one since it ran.
func (r *runner) missedByJava(ran time.Time) []time.Time {
	const longest = 366 * 24 * time.Hour
	now := r.s.now()
	from := now.Add(-longest)
	if ran.After(from) {
		from = ran
	}
	if fire := cronexpr.Last(r.settings.rules.Schedule, from, now); !fire.IsZero() {
		return []time.Time{fire}
	}
	return nil
}
