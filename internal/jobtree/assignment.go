package jobtree

import (
	"fmt"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Epoch identifies an assignment of items to instances and says how many items it has. A leader
// counts its assignments, so term and counter together are used once only, also for those that were
// abandoned halfway.
type Epoch struct {
	Term    registry.Revision // of the leader: the revision that created the leader node
	Counter int64             // of the assignments of that term
	Total   int               // sharding total count
}

// EpochID is what sets an epoch apart from all others.
type EpochID struct {
	Term    registry.Revision
	Counter int64
}

// ID returns what sets the epoch apart from all others.
func (e Epoch) ID() EpochID { return EpochID{Term: e.Term, Counter: e.Counter} }

// EncodeEpoch returns the text of the epoch node, as in {"term":7,"counter":2,"total":10}.
func EncodeEpoch(e Epoch) string {
	w := writer{text: []byte{'{'}}
	w.count("term", int64(e.Term))
	w.count("counter", e.Counter)
	w.count("total", int64(e.Total))
	return string(append(w.text, '}'))
}

// DecodeEpoch reads the epoch node. Members that it does not know are left out.
func DecodeEpoch(n registry.Node) (Epoch, error) {
	o, err := parseObject(n.Value)
	if err != nil {
		return Epoch{}, at(n.Path, err)
	}
	var e Epoch
	var r reader
	for m := range o.members() {
		switch m.name {
		case "term":
			e.Term = registry.Revision(r.count(m))
		case "counter":
			e.Counter = r.count(m)
		case "total":
			e.Total = int(r.count(m))
			if e.Total > job.MaxShardingTotalCount {
				r.fault(m, fmt.Sprintf("must not be above %d", job.MaxShardingTotalCount))
			}
		}
	}
	if r.err != nil {
		return Epoch{}, at(n.Path, r.err)
	}
	return e, nil
}

// Next is an item's owner in an assignment that is too large for one transaction and is written in
// parts. It counts from the moment at which the epoch node says that its epoch is in force.
type Next struct {
	Epoch EpochID
	Owner string // instance id
}

// EncodeNext returns the text of a next node, as in {"term":7,"counter":2,"owner":"10.0.0.1@-@7"}.
func EncodeNext(n Next) string {
	w := writer{text: []byte{'{'}}
	w.count("term", int64(n.Epoch.Term))
	w.count("counter", n.Epoch.Counter)
	w.string("owner", n.Owner)
	return string(append(w.text, '}'))
}

// DecodeNext reads a next node. Members that it does not know are left out.
func DecodeNext(n registry.Node) (Next, error) {
	o, err := parseObject(n.Value)
	if err != nil {
		return Next{}, at(n.Path, err)
	}
	var next Next
	var r reader
	for m := range o.members() {
		switch m.name {
		case "term":
			next.Epoch.Term = registry.Revision(r.count(m))
		case "counter":
			next.Epoch.Counter = r.count(m)
		case "owner":
			next.Owner = r.text(m)
		}
	}
	if r.err != nil {
		return Next{}, at(n.Path, r.err)
	}
	return next, nil
}

// Tokens says where the fencing tokens of a job start. The revisions of a registry count from where it
// began, so those of a new one are lower than those of the registry that a job came from.
//
// Nobody but who moves a job between registries writes the node, together with the job's config node
// in one transaction: a begin is guarded by the config that it saw, so none is granted a token by an
// older base.
type Tokens struct {
	// Base is added to the revision of every begin, and is at least the largest token of the job that
	// was ever granted elsewhere.
	Base int64
}

// Of returns the fencing token of an execution that began at a revision.
func (t Tokens) Of(begin registry.Revision) int64 { return t.Base + int64(begin) }

// EncodeTokens returns the text of the tokens node, as in {"base":12884901888}.
func EncodeTokens(t Tokens) string {
	w := writer{text: []byte{'{'}}
	w.count("base", t.Base)
	return string(append(w.text, '}'))
}

// DecodeTokens reads the tokens node. Members that it does not know are left out.
func DecodeTokens(n registry.Node) (Tokens, error) {
	o, err := parseObject(n.Value)
	if err != nil {
		return Tokens{}, at(n.Path, err)
	}
	var t Tokens
	var r reader
	for m := range o.members() {
		if m.name == "base" {
			t.Base = r.count(m)
		}
	}
	if r.err != nil {
		return Tokens{}, at(n.Path, r.err)
	}
	return t, nil
}
