// Package membership is the room of this process as an instance of a job: under which id and session it is
// registered, how it joins and leaves, and whether its clock lets it take part.
package membership

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Ports are what the room may ask of the process.
type Ports struct {
	*room.Ports
	// ComesBack hears that the instance, which stayed out because of its clock, takes part again. StaysOut hears that
	// it will stay out, as its clock is off by so much; negative if it is behind.
	ComesBack func()
	StaysOut  func(off time.Duration)
}

// Membership is what a process knows of itself as an instance of a job.
type Membership struct {
	ports Ports

	sessions  []registry.SessionID // the last ones of this process, the present one last
	waitingID time.Time            // since when another session holds our instance id; zero = none does
	joinedAs  registry.Revision    // the creation of this instance's node, as it was told; 0 = it has not joined
	leftAt    time.Time            // when this instance was not registered any more because it left; zero = it has not left
	clock     wrongClock
}

// New makes the room of a job.
func New(ports Ports) *Membership { return &Membership{ports: ports} }

// sessionsKept is how many former sessions a process knows as its own: older ones have run out.
const sessionsKept = 3

// Hold notes the session that is the process's from now on.
func (m *Membership) Hold(id registry.SessionID) {
	if slices.Contains(m.sessions, id) {
		return // taken up again
	}
	m.sessions = append(m.sessions, id)
	if len(m.sessions) > sessionsKept {
		m.sessions = slices.Delete(m.sessions, 0, 1)
	}
}

// Disconnected notes that nothing is known of other sessions: a registry that was away gives every session its
// full time again.
func (m *Membership) Disconnected() { m.waitingID = time.Time{} }

// NoteLeft notes that this instance is not registered any more. Fires that come from now on are for others
// to tick.
func (m *Membership) NoteLeft(now time.Time) {
	if m.leftAt.IsZero() {
		m.leftAt = now
	}
}

// LeftAt returns when this instance was not registered any more because it left; zero = it has not left.
func (m *Membership) LeftAt() time.Time { return m.leftAt }
