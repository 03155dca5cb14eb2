// Package mending is the room that puts a job's tree right where a careless hand, a late answer or a broken client
// has left in it what no live session answers for: stray nodes, marks and executions that nobody runs, fencing
// tokens that went back, records that cannot be read.
package mending

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Ports are what the room may ask of the process.
type Ports interface {
	room.Ports
	// Snapshot is what the view shows, at least as new as the state.
	Snapshot() registry.Snapshot
	// Held tells whether a session is, or was lately, this process's.
	Held(id registry.SessionID) bool
}

// Mending is what an instance knows of what is to be put right.
type Mending struct {
	ports       Ports
	suspect     actor.Lookout             // items of which a node may belong to no session
	unexplained actor.Lookout             // items that may run under a session of this process without it
	refused     map[int]registry.Revision // tokens of executions that ran here and whose end was refused
	tokens      tokenMemory
}

// New makes the room of a job.
func New(ports Ports) *Mending { return &Mending{ports: ports} }

// Observe takes in what a step of the view has changed.
func (m *Mending) Observe(v room.View, t jobtree.Touched) {
	m.unexplained.Note(t.Items, false)
	m.suspect.Note(t.Items, false)
	m.tokens.note(v.State.Tokens())
	for _, n := range t.Items {
		m.tokens.noteRecord(v.State.Record(n).Value)
	}
}

// Decide proposes to remove what only a session can own and none does, and to put back where the fencing tokens start.
func (m *Mending) Decide(v room.View) room.Batch { return append(m.strays(v), m.restoreTokens(v)...) }

// NewSession marks everything to be looked at again under a session that is new.
func (m *Mending) NewSession() {
	m.unexplained.AddAll()
	m.suspect.AddAll()
}

// LookAgain marks items to be looked at once more that may run under a session of this process without it.
func (m *Mending) LookAgain(items ...int) { m.unexplained.Add(items...) }

// LookAgainAtAll is LookAgain of all items.
func (m *Mending) LookAgainAtAll() { m.unexplained.AddAll() }

// EndRefused takes in that the end of an execution that ran here, under this token, was refused.
func (m *Mending) EndRefused(item int, token registry.Revision) {
	if m.refused == nil {
		m.refused = make(map[int]registry.Revision)
	}
	m.refused[item] = token
}

// Tokens returns where the fencing tokens start, and whether that is known.
func (m *Mending) Tokens() (tokens jobtree.Tokens, known bool) { return m.tokens.now, m.tokens.known }
