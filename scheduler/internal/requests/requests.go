// Package requests is the room of requests by hand to run a job's items: which one this instance has not answered
// yet, and when it has.
package requests

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Newest returns the number of the request that this instance has not answered yet; 0 = none. It
// is the revision of the request, which all instances share, so an item that moves between two of
// them meanwhile does not run twice. An instance that joined after a request was not asked itself,
// and takes it up from those who were.
func Newest(v room.View, others peers.Traits) registry.Revision {
	mine := v.State.Instance(v.Instance)
	if mine.Triggered {
		return mine.Revision
	}
	if others.AloneAnswered {
		return 0
	}
	request := registry.Revision(0)
	for _, other := range v.State.Instances {
		if other.Triggered && other.Revision < mine.Created {
			request = max(request, other.Revision)
		}
	}
	return request
}

// Decide proposes to take the request to this instance back when it has been answered. It is
// guarded by the request as it was seen: a newer one stays. wants tells whether an item is still to be run
// for a request.
func Decide(v room.View, others peers.Traits, wants func(item int, request registry.Revision) bool) room.Batch {
	mine := v.State.Instance(v.Instance)
	if !mine.Triggered || !v.Usable || !v.Settled() {
		return nil
	}
	for n := range v.State.Total() {
		if answersFor(v, others, v.State.Owner(n), mine.Revision) && wants(n, mine.Revision) {
			return nil
		}
	}
	path := v.Tree.Instance(v.Instance)
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, mine.Revision)},
		Then: []registry.Write{registry.Update(path, jobtree.InstanceIdle)},
	}
	return room.Batch{{Step: "acknowledge trigger", Txn: txn}}
}

// answersFor tells whether this instance keeps a request for the sake of an instance's items, too. It
// does for one that joined after the request, and takes it up from here; and for one that was asked
// with it, since an item that moves from there to here before it has begun would miss the request
// otherwise. Where each answers for itself alone, nobody is held up.
func answersFor(v room.View, others peers.Traits, owner string, request registry.Revision) bool {
	if owner == v.Instance || others.AloneAnswered {
		return owner == v.Instance
	}
	other := v.State.Instance(owner)
	return v.Config.Monitored() && (other.Created > request || other.Triggered && other.Revision == request)
}
