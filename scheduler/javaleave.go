package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// confirmShutdown is how long an instance must have been gone from the tree, its session alive, to be
// taken for shut down. A session that is over is known to be so by then.
const confirmShutdown = time.Second

// departure notices that somebody deleted this instance's node, which is how the Java console shuts an
// instance down.
type departure struct {
	under *room.Attachment // under which the instance was last seen in the tree
	gone  time.Time        // since when it is not; zero = it is
}

// seen notes that the tree has this instance under the present session.
func (s *shared) seen() { s.departure = departure{under: s.runner.attached} }

// wasShutDown tells whether this instance is gone from the tree under a session under which it was
// there, and stops the job here when that is certain. Other jobs of the process go on.
func (s *shared) wasShutDown() bool {
	r := s.runner
	if !r.s.java || s.under != r.attached {
		return false
	}
	if s.gone.IsZero() {
		s.gone = time.Now()
	}
	if wait := confirmShutdown - time.Since(s.gone); wait > 0 {
		r.alarm.Set(wait)
		return true
	}
	r.log.WarnContext(r.life, "shut down by an operator: the job stops here until the process starts anew")
	r.leaving = true
	r.s.timetable.Set(r.entry, nil)
	r.box.Post(func() {}) // to leave
	return true
}
