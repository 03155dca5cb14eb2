// Package membership is the room of this process as an instance of a job: under which id and session it is
// registered, how it joins and leaves, and whether its clock and the job's configuration let it take part.
package membership

import (
	"context"
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Ports are what the room may ask of the process.
type Ports interface {
	room.Ports
	// Data tells whether the job is data, which waits where a process that declares it would give up.
	Data() bool
	Peers() peers.Peers
	// Get reads a node from the registry itself.
	Get(ctx context.Context, path string) (registry.Node, error)
	// ComesBack hears that the instance, which stayed out, takes part again. StaysOut hears that it will stay out, as its
	// clock is off by so much; negative if it is behind.
	ComesBack()
	StaysOut(off time.Duration)
	// Refusal is why this process refuses the configuration, if it does.
	Refusal() string
	// ShutDown hears that others took this instance out of the job for good.
	ShutDown()
	// Fail hears that the process cannot take part as it is configured.
	Fail(why error)
}

// Membership is what a process knows of itself as an instance of a job.
type Membership struct {
	ports Ports

	sessions  []registry.SessionID // the last ones of this process, the present one last
	waitingID time.Time            // since when another session holds our instance id; zero = none does
	joinedAs  registry.Revision    // the creation of this instance's node, as it was told; 0 = it has not joined
	parting   bool                 // it was proposed to leave the job to others
	leftAt    time.Time            // when this instance was not registered any more because it left; zero = it has not left
	clock     wrongClock
	refusal   *refusal // nil while the instance does not stay out because of one
}

// New makes the room of a job.
func New(ports Ports) *Membership { return &Membership{ports: ports} }

// Observe takes in what this process's clock says, and whether it can use the configuration: either may keep the instance
// out of the job, or not any more.
func (m *Membership) Observe(v room.View) {
	m.mindRefusal(v)
	m.mindClock(v)
	if m.Away() && m.deserted(v) {
		m.comeBackAsLast(v)
	}
}

// Decide proposes this instance's next step as a member. It removes what is left of a session before, and joins once
// its id is free; or it leaves the job to others, if it is to stay out and the parting is ready.
func (m *Membership) Decide(v room.View, p Parting) room.Batch {
	batch := m.RemoveFormer(v)
	if m.Away() {
		if m.parting && m.Standing(v) == Absent { // whether or not the answer was heard
			m.hasLeft(v.Clock.Now())
		}
		return append(batch, m.leaveToOthers(v, p)...)
	}
	switch m.Standing(v) {
	case Registered:
		m.joined(v)
		if m.Out() {
			m.ports.DecideAgain() // to leave
		}
	case Former: // it joins when the state shows that it is removed
	case Taken:
		m.awaitID(v)
	default:
		batch = append(batch, m.join(v)...)
	}
	return batch
}

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

// Held tells whether a session is this process's: the present one, or one that it has lost or given up lately.
func (m *Membership) Held(id registry.SessionID) bool { return slices.Contains(m.sessions, id) }

// Disconnected notes that nothing is known of other sessions: a registry that was away gives every session its
// full time again.
func (m *Membership) Disconnected() { m.waitingID = time.Time{} }
