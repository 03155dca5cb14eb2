// Package requests is the room of requests by hand to run a job's items: for which one an item is to run, and when this
// instance has answered.
//
// A request is the triggered node of the job, or the value TRIGGER in the nodes of instances, as the Java console
// asks. Both have a revision, by which they are told apart and ordered: an item runs for each at most once, in
// their order.
package requests

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Request is what an item is to run for.
type Request struct {
	Revision  registry.Revision // its number
	Parameter string
	Fire      time.Time // zero = none
	Until     time.Time // when it ends; zero = when it is answered
	Guards    []registry.Condition
}

// Open are the requests that this instance has to answer. The zero Open are none.
type Open struct {
	v      room.View
	values registry.Revision                 // of the value in instance nodes; 0 = none
	node   jobtree.Stored[jobtree.Triggered] // the zero one = none
	each   bool                              // no record tells what others ran, so it is answered here, or not at all
}

// Look finds the requests that are open at a time. answered is the newest triggered node for which nothing more is
// to run here; it counts only where records do not tell (answeredByEach).
func Look(v room.View, traits peers.Traits, now time.Time, answered registry.Revision) Open {
	t := v.State.Triggered()
	o := Open{v: v, values: newest(v, traits), each: answeredByEach(v, traits) || t.Value.Each}
	switch {
	case !t.Exists() || t.Err != nil || t.Value.Over(now):
	case o.each && t.Revision <= max(answered, v.State.Instance(v.Instance).Created):
	default:
		o.node = t
	}
	return o
}

// answeredByEach tells whether each instance answers a request for itself, for the items that are its own at the time:
// where Java instances, or the job, do not record for what an item ran. Of a request that was made then, this remains
// so; see [Open.Each].
func answeredByEach(v room.View, traits peers.Traits) bool {
	return traits.AloneAnswered || v.Config.Unmonitored
}

// For returns the request for which an item is to run next; done is the newest for which it ran.
func (o Open) For(item int, done registry.Revision) (Request, bool) {
	node := o.Asks(item, done)
	switch {
	case o.values > done && (!node || o.values < o.node.Revision):
		return Request{Revision: o.values}, true
	case node:
		t := o.node
		return Request{
			Revision: t.Revision, Parameter: t.Value.Parameter, Fire: t.Value.Fire, Until: t.Value.Until,
			Guards: []registry.Condition{registry.Unchanged(o.v.Tree.Triggered(), t.Revision)},
		}, true
	default:
		return Request{}, false
	}
}

// Asks tells whether an item is still to run for the triggered node.
func (o Open) Asks(item int, done registry.Revision) bool {
	return o.node.Revision > done && o.node.Value.Asks(item) && (o.each || o.v.State.Reachable(item, o.node.Revision))
}

// Each tells whether each instance answers the triggered node for itself, this one too, as [jobtree.Triggered.Each] or the
// job has it.
func (o Open) Each() bool { return o.each }

// Node returns the number of the triggered node if it is open; else 0.
func (o Open) Node() registry.Revision { return o.node.Revision }

// newest returns the number of the request by value that this instance has not answered yet; 0 = none. It
// is the revision of the request, which all instances share, so an item that moves between two of
// them meanwhile does not run twice. An instance that joined after a request was not asked itself,
// and takes it up from those who were.
func newest(v room.View, traits peers.Traits) registry.Revision {
	mine := v.State.Instance(v.Instance)
	if mine.Triggered {
		return mine.Request
	}
	if traits.AloneAnswered {
		return 0
	}
	request := registry.Revision(0)
	for _, other := range v.State.Instances {
		if other.Triggered && other.Request < mine.Created {
			request = max(request, other.Request)
		}
	}
	return request
}

// Decide proposes to take the value in the node of this instance back when it has been answered. It is
// guarded by the request as it was seen: a newer one stays. wants tells whether an item is still to be run
// for a request.
func Decide(v room.View, traits peers.Traits, wants func(item int, request registry.Revision) bool) room.Batch {
	mine := v.State.Instance(v.Instance)
	if !mine.Triggered || !v.Usable || !v.Settled() {
		return nil
	}
	for n := range v.State.Total() {
		if answersFor(v, traits, v.State.Owner(n), mine.Request) && wants(n, mine.Request) {
			return nil
		}
	}
	asked, answer := v.State.Answer(mine)
	txn := registry.Txn{If: []registry.Condition{asked}, Then: []registry.Write{answer}}
	return room.Batch{{Step: "acknowledge trigger", Alone: true, Txn: txn}}
}

// answersFor tells whether this instance keeps a request for the sake of an instance's items, too. It
// does for one that joined after the request, and takes it up from here; and for one that was asked
// with it, since an item that moves from there to here before it has begun would miss the request
// otherwise. Where each answers for itself alone, nobody is held up.
func answersFor(v room.View, traits peers.Traits, owner string, request registry.Revision) bool {
	if owner == v.Instance || traits.AloneAnswered {
		return owner == v.Instance
	}
	other := v.State.Instance(owner)
	return v.Config.Monitored() && (other.Created > request || other.Triggered && other.Request == request)
}
