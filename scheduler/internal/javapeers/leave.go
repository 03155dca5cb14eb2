package javapeers

import (
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
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

// Joined implements [peers.Members].
func (s *java) Joined(v room.View) { s.departure = departure{under: v.Attached} }

// Left implements [peers.Members].
func (s *java) Left() { s.departure = departure{} }

// Gone implements [peers.Members]: it tells whether this instance is gone from the tree under a session under
// which it was there.
func (s *java) Gone(v room.View) (gone, shutDown bool) {
	if s.under != v.Attached {
		return false, false
	}
	if s.gone.IsZero() {
		s.gone = time.Now()
	}
	if wait := confirmShutdown - time.Since(s.gone); wait > 0 {
		s.ports.Wake(wait)
		return true, false
	}
	return true, true
}

// MistakesLeave implements [peers.Members]: an instance of 2.1.5 takes every one that goes for crashed, if failover is on, and
// runs again what the assignment then says that it had. It does so only if another instance is there whose id begins with the
// same address.
func (s *java) MistakesLeave(v room.View) bool {
	if s.of == jobtree.ElasticJob3 || !v.State.Config.Value.Failover {
		return false // the marks of 3.x say what runs
	}
	address, theirs, beside := jobtree.ServerOf(v.Instance), false, false
	for _, i := range v.State.Instances {
		if i.ID != v.Instance {
			theirs = theirs || jobtree.JavaInstance(i.ID)
			beside = beside || strings.HasPrefix(i.ID, address)
		}
	}
	return theirs && beside
}
