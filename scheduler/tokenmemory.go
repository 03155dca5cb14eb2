package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
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

// restoreTokens puts the node back that says where the fencing tokens start. The leader does, or who
// remembers what the leader never knew, or at last, if nobody does, the leader by what the records say. As
// whoever writes the node, it writes the configuration as well, because that is what begins compare.
func (r *runner) restoreTokens() {
	m, shown := &r.tokens, r.state.Tokens()
	config := r.view.Snapshot().Get(r.tree.Config())
	if shown.Err == nil && shown.Value == m.now || !config.Exists() || config.Revision != r.state.Config.Revision {
		m.since = time.Time{}
		return
	}
	if m.since.IsZero() {
		m.since = time.Now()
	}
	var wait time.Duration
	switch {
	case r.leads() && !m.known:
		wait = forgottenAfter
	case !m.known:
		return
	case !r.leads():
		wait = othersRestoreAfter
	}
	if left := wait - time.Since(m.since); left > 0 {
		r.alarm.Set(left)
		return
	}
	write := registry.Put(r.tree.Tokens(), jobtree.EncodeTokens(m.now))
	if m.now.Base == 0 {
		write = registry.Delete(r.tree.Tokens())
	}
	revision, err := r.s.registry.Commit(r.attached.Ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(r.tree.Tokens(), shown.Revision), registry.Unchanged(r.tree.Config(), config.Revision)},
		Then: []registry.Write{write, registry.Put(r.tree.Config(), config.Value)},
	})
	if err != nil {
		r.refused("restore the fencing tokens", err)
		return
	}
	r.committed(revision)
	if !m.known {
		r.log.ErrorContext(r.life, "where the fencing tokens start could not be read, and nobody remembers it: they start where those of the items' records did",
			"node", r.tree.Tokens(), "base", m.now.Base)
		return
	}
	r.log.WarnContext(r.life, "put back where the fencing tokens start: the node had been changed by hand", "node", r.tree.Tokens(), "base", m.now.Base)
}
