package jobtree

import "github.com/elasticron/elasticron/registry"

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
