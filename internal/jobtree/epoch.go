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
