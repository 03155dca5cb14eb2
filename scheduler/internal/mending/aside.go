package mending

import (
	"errors"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// maxAside bounds, in bytes, what is kept of a record that cannot be read.
const maxAside = 16 << 10

// SetAside proposes to replace the record of an item that cannot be read, keeps its text for an operator, and has
// the item go on with the fires from now on, and the requests by hand: what the record said is not known. One of
// a newer format is left as it is. A node of a foreign session in the place of that text is removed first, as it would
// be in the way for as long as that session.
func (m *Mending) SetAside(v room.View, node jobtree.Item, now time.Time) room.Batch {
	n := node.Number
	path := v.Tree.ItemRecord(n)
	found := m.ports.Snapshot().Get(path)
	if errors.Is(node.Record.Err, jobtree.ErrNewerFormat) || found.Revision != node.Record.Revision {
		return nil
	}
	if limit := v.Clock.Limit(); !limit.IsZero() && now.After(limit) {
		now = limit
	}
	text := strings.ToValidUTF8(found.Value[:min(len(found.Value), maxAside)], "\uFFFD")
	fresh := jobtree.Record{State: jobtree.ItemIdle, LastFire: now.Truncate(time.Millisecond), Trigger: lastAsked(v.State)}
	txn := registry.Txn{
		If: []registry.Condition{registry.Unchanged(path, found.Revision), registry.Unchanged(v.Tree.ItemRunning(n), node.Remains.Revision)},
		Then: []registry.Write{
			registry.Put(path, jobtree.EncodeRecord(fresh)),
			registry.Put(v.Tree.ItemAside(n), text),
		},
	}
	var batch room.Batch
	if held := m.ports.Snapshot().Get(v.Tree.ItemAside(n)); held.Ephemeral() {
		batch = append(batch, m.removeStray(held.Path, held.Revision))
	}
	return append(batch, room.Proposal{Step: "set a record aside", Txn: txn, Done: func(registry.Outcome) {
		m.ports.Log().ErrorContext(m.ports.Life(), "the record of an item could not be read: it was set aside, and the item goes on with its next fire",
			room.KeyItem, n, room.KeyError, node.Record.Err, "node", v.Tree.ItemAside(n))
	}})
}

// lastAsked returns the number of the last request by hand, of either kind, that is there; 0 = none.
func lastAsked(s *jobtree.State) registry.Revision {
	last := s.Triggered().Revision
	for _, i := range s.Instances {
		last = max(last, i.Request)
	}
	return last
}
