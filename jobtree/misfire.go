package jobtree

import (
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Misfire is what an item's misfire node says of the fires that it missed. The zero Misfire says that
// there were some, and not which: it is the empty text that Java writes.
type Misfire struct {
	Oldest time.Time
	Newest time.Time
	Count  int // of the missed fires; 0 = unknown
}

// EncodeMisfire returns the text of a misfire node: JSON, or nothing for the zero Misfire.
func EncodeMisfire(m Misfire) string {
	if m == (Misfire{}) {
		return ""
	}
	w := writer{text: []byte{'{'}}
	w.instant("oldest", m.Oldest)
	w.instant("newest", m.Newest)
	w.count("count", int64(m.Count))
	return string(append(w.text, '}'))
}

// DecodeMisfire reads a misfire node. Members that it does not know are left out.
func DecodeMisfire(n registry.Node) (Misfire, error) {
	if n.Value == "" {
		return Misfire{}, nil
	}
	o, err := parseObject(n.Value)
	if err != nil {
		return Misfire{}, at(n.Path, err)
	}
	var missed Misfire
	var r reader
	for m := range o.members() {
		switch m.name {
		case "oldest":
			missed.Oldest = r.instant(m)
		case "newest":
			missed.Newest = r.instant(m)
		case "count":
			missed.Count = int(r.count(m))
		}
	}
	if r.err != nil {
		return Misfire{}, at(n.Path, r.err)
	}
	return missed, nil
}
