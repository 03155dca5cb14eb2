package mending

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// tokenMemory remembers where the fencing tokens of a job start. They must not go back, so a node that
// vanishes, or says less than before, or nothing that can be read, is not believed but put back. The items'
// records say where the tokens of their executions started, so that they outlive everybody who remembers.
type tokenMemory struct {
	now   jobtree.Tokens
	known bool      // the node, or that there is none, has been seen
	since time.Time // since when the node is not as remembered; zero = it is
}

func (m *tokenMemory) note(shown jobtree.Stored[jobtree.Tokens]) {
	if shown.Err == nil {
		m.now.Base, m.known = max(m.now.Base, shown.Value.Base), true
	}
}

// noteRecord takes note of where the tokens of an item's last execution started.
func (m *tokenMemory) noteRecord(record jobtree.Record) {
	if e := record.Current; e != nil {
		m.now.Base = max(m.now.Base, e.Base)
	}
}

const (
	// othersRestoreAfter is how long those who do not lead leave it to the leader to put back where the
	// tokens start.
	othersRestoreAfter = time.Second
	// forgottenAfter is how long a leader that never knew it waits for somebody who does.
	forgottenAfter = 5 * time.Second
)

// restoreTokens proposes to put the node back that says where the fencing tokens start. The leader does, or whoever
// remembers what the leader never knew, or at last, if nobody remembers, the leader by the records. Like
// whoever writes the node, it writes the configuration as well, because begins compare the configuration.
func (m *Mending) restoreTokens(v room.View) room.Batch {
	memory, shown := &m.tokens, v.State.Tokens()
	if shown.Err == nil && shown.Value == memory.now { // as nearly always
		memory.since = time.Time{}
		return nil
	}
	config := m.ports.Snapshot().Get(v.Tree.Config())
	_, elsewhere := jobtree.DecodeElsewhere(config) // then whoever moves the job deletes what is left here
	if !config.Exists() || elsewhere || config.Revision != v.State.Config.Revision {
		memory.since = time.Time{}
		return nil
	}
	if memory.since.IsZero() {
		memory.since = time.Now()
	}
	var wait time.Duration
	switch {
	case v.Leads() && !memory.known:
		wait = forgottenAfter
	case !memory.known:
		return nil
	case !v.Leads():
		wait = othersRestoreAfter
	}
	if left := wait - time.Since(memory.since); left > 0 {
		m.ports.Wake(left)
		return nil
	}
	// Also where they start at nothing, the node stays: it tells that nobody has changed the configuration, see
	// operate.Outside. One that a session owns cannot be written, and is not waited for; operators
	// see a change from outside then, which it is.
	write := registry.Put(v.Tree.Tokens(), jobtree.EncodeTokens(memory.now))
	if memory.now.Base == 0 && m.ports.Snapshot().Get(v.Tree.Tokens()).Ephemeral() {
		write = registry.Delete(v.Tree.Tokens())
	}
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged(v.Tree.Tokens(), shown.Revision), registry.Unchanged(v.Tree.Config(), config.Revision)},
		Then: []registry.Write{write, registry.Put(v.Tree.Config(), config.Value)},
	}
	return room.Batch{{Step: "restore the fencing tokens", Alone: true, Txn: txn, Done: func(registry.Outcome) { m.restored(v.Tree.Tokens()) }}}
}

// restored reports that the node was put back.
func (m *Mending) restored(node string) {
	if !m.tokens.known {
		m.ports.Log().ErrorContext(m.ports.Life(), "where the fencing tokens start could not be read, and nobody remembers it: they start where those of the items' records did",
			"node", node, "base", m.tokens.now.Base)
		return
	}
	m.ports.Log().WarnContext(m.ports.Life(), "put back where the fencing tokens start: the node had been changed by hand", "node", node, "base", m.tokens.now.Base)
}
