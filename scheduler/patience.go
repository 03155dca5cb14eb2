package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/failover"
	"github.com/elasticron/elasticron/registry"
)

// patience has a process that lost its own session wait a little before it declares executions lost that
// seem to be: what took its session may have taken those of all others, who are coming back as well, and
// what they have finished meanwhile is not lost once they have said so.
type patience struct {
	lostSession bool      // and has not joined again
	until       time.Time // nothing is declared before

	sessions []registry.SessionID // the last ones of this process, the present one last
}

// sessionsKept is how many former sessions a process knows as its own: older ones have run out.
const sessionsKept = 3

// hold notes the session that is the process's from now on.
func (p *patience) hold(id registry.SessionID) {
	if slices.Contains(p.sessions, id) {
		return // taken up again
	}
	p.sessions = append(p.sessions, id)
	if len(p.sessions) > sessionsKept {
		p.sessions = slices.Delete(p.sessions, 0, 1)
	}
}

// joined notes that the instance takes part under a session of this TTL.
func (p *patience) joined(ttl time.Duration) {
	if p.lostSession {
		p.lostSession, p.until = false, time.Now().Add(ttl/3)
	}
}

// lost tells whether an item's execution may be declared lost now. One whose code has not returned to
// this process, or whose end is still to be recorded, is not: it ends when that has happened. wait tells
// that the same question may have another answer in a moment, at which the runner decides again.
func (r *runner) lost(n int) (lost, wait bool) {
	if !failover.Lost(r.state, n) {
		return false, false
	}
	record := r.state.Item(n).Record
	if it := r.items[n]; it != nil && it.running != nil && it.running.token == record.Value.Token(record.Revision) {
		return false, false
	}
	if left := time.Until(r.losses.until); left > 0 {
		r.alarm.Set(left)
		return false, true
	}
	return true, false
}
