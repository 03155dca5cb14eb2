package jobtree

import "github.com/elasticron/elasticron/registry"

// Item is everything that a job's tree says of one sharding item. The zero Item is one of which it
// says nothing.
type Item struct {
	Number int
	// Instance is what the item's instance node says, and InstanceRevision when it last changed. Who
	// owns the item is up to [Item.Owner].
	Instance         string
	InstanceRevision registry.Revision
	// Next is the owner in an assignment that is, or was, written in parts.
	Next Stored[Next]
	// Running marks the execution that a live session holds, whatever the record says.
	Running Mark
	// Failover marks a claim; its value is the claimant's id.
	Failover Mark
	// Misfire are the missed fires.
	Misfire Stored[Misfire]
	// Disabled tells that an operator excluded the item.
	Disabled bool
	// Record is what is known of the item's executions. If it cannot be read, Err is set and the
	// item must not run.
	Record Stored[Record]
	// FailoverItem is the revision of the node by which the item asks for a claimant; 0 = it does
	// not.
	FailoverItem registry.Revision
	// Offset is the item's checkpoint; empty if it has none.
	Offset string
	// OffsetRevision is the revision of the checkpoint's node; 0 if there is none. An execution that takes
	// its checkpoint back leaves an empty node until it ends.
	OffsetRevision registry.Revision
}

// Mark is an ephemeral node of an item. The zero Mark is one that is not there.
type Mark struct {
	Value    string
	Session  registry.SessionID
	Created  registry.Revision
	Revision registry.Revision
}

// Exists tells whether the node is there.
func (m Mark) Exists() bool { return m.Revision != 0 }

// Owner returns the id of the instance to which the item is assigned while the assignment of the
// given epoch is in force: what next says if it belongs to that epoch, else what instance says.
// Empty is nobody.
func (it Item) Owner(inForce EpochID) string {
	// Without an epoch, the zero id must not match what next says, be it nothing or unreadable.
	if inForce != (EpochID{}) && it.Next.Value.Epoch == inForce {
		return it.Next.Value.Owner
	}
	return it.Instance
}

// itemNodes is an [Item] as a job keeps it: small, as a process may hold tens of thousands of items
// of which few run.
type itemNodes struct {
	instance         string
	instanceRevision registry.Revision
	failoverItem     registry.Revision
	disabled         bool
	next             *Stored[Next]
	running          *Mark
	failover         *Mark
	misfire          *Stored[Misfire]
	record           *Stored[Record]
}

// item returns the nodes in full.
func (in *itemNodes) item(number int) Item {
	return Item{
		Number:           number,
		Instance:         in.instance,
		InstanceRevision: in.instanceRevision,
		Next:             valueOf(in.next),
		Running:          valueOf(in.running),
		Failover:         valueOf(in.failover),
		Misfire:          valueOf(in.misfire),
		Disabled:         in.disabled,
		Record:           valueOf(in.record),
		FailoverItem:     in.failoverItem,
	}
}

// owner is [Item.Owner] without building the item.
func (in *itemNodes) owner(inForce EpochID) string {
	if in.next == nil {
		return in.instance
	}
	return Item{Instance: in.instance, Next: *in.next}.Owner(inForce)
}

// set takes over the new state of one of the item's nodes.
func (in *itemNodes) set(kind Kind, n registry.Node) {
	switch kind {
	case KindItemInstance:
		in.instance, in.instanceRevision = n.Value, n.Revision
	case KindItemNext:
		in.next = storedRarely(n, DecodeNext)
	case KindItemRunning:
		in.running = markOf(n)
	case KindItemFailover:
		in.failover = markOf(n)
	case KindItemMisfire:
		in.misfire = storedRarely(n, DecodeMisfire)
	case KindItemDisabled:
		in.disabled = n.Exists()
	case KindItemRecord:
		in.record = storedRarely(n, DecodeRecord)
	case KindFailoverItem:
		in.failoverItem = n.Revision
	}
}

func markOf(n registry.Node) *Mark {
	if !n.Exists() {
		return nil
	}
	return &Mark{Value: n.Value, Session: n.Session, Created: n.Created, Revision: n.Revision}
}
