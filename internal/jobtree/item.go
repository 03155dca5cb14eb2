package jobtree

import "github.com/elasticron/elasticron/registry"

// Item is everything that a job's tree says of one sharding item. The zero Item is one about which it
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
	// Remains is the mark of an execution whose instance is gone, or, if it is Java's, has come anew since, where the layout is
	// [ElasticJob3]: it is persistent there. Then Running is the zero Mark, and whoever begins the item takes the remains away
	// first.
	Remains Mark
	// Failover marks a claim; its value is the claimant's id.
	Failover Mark
	// Claimed marks a claim where the layout is [ElasticJob3]: it is persistent, so it outlives a claimant that is gone.
	Claimed Mark
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

// Mark is a node of an item that says which instance is at it. It is ephemeral, but for some of [ElasticJob3]. The zero Mark
// is one that is not there.
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

// AssignedAt returns the revision of the node by which the item is [Item.Owner]'s; 0 if there is none. An owner that keeps
// an item in a resharding keeps the revision as well.
func (it Item) AssignedAt(inForce EpochID) registry.Revision {
	if inForce != (EpochID{}) && it.Next.Value.Epoch == inForce {
		return it.Next.Revision
	}
	return it.InstanceRevision
}
