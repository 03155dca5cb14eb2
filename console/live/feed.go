package live

import (
	"sync"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// mostChanges is how many changes wait at most. If more come at once, what ran meanwhile is not certain.
const mostChanges = 50_000

// feed collects what a view tells until the hub looks at it. It holds up the view for as long as it takes to write
// something down.
type feed struct {
	mu       sync.Mutex
	begun    bool
	snapshot registry.Snapshot
	changed  map[string]bool // jobs; true: something of it that operators decide
	changes  []ofNode
	skipped  bool // changes were too many to be kept
	told     chan struct{}
}

// ofNode is a change of a node that a timeline is made of.
type ofNode struct {
	name   jobtree.Name
	change registry.Change
}

func newFeed() *feed { return &feed{changed: make(map[string]bool), told: make(chan struct{}, 1)} }

// take notes a step. The first one is the whole state, which is read from the snapshot.
func (f *feed) take(step registry.Step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.begun
	f.begun, f.snapshot = true, step.Snapshot
	for _, c := range step.Changes {
		job := operate.JobOf(c.Path())
		f.changed[job] = f.changed[job] || false
		name, known := jobtree.Parse(c.Path())
		if !known || first {
			f.changed[job] = f.changed[job] || first
			continue
		}
		switch name.Kind {
		case jobtree.KindConfig, jobtree.KindServer, jobtree.KindItemDisabled:
			f.changed[job] = true
		case jobtree.KindOperated:
			f.changed[job] = true
			f.keep(name, c)
		case jobtree.KindItemRecord, jobtree.KindItemMisfire:
			f.keep(name, c)
		}
	}
	select {
	case f.told <- struct{}{}:
	default:
	}
}

func (f *feed) keep(name jobtree.Name, c registry.Change) {
	if len(f.changes) >= mostChanges {
		f.skipped, f.changes = true, nil
	}
	if !f.skipped {
		f.changes = append(f.changes, ofNode{name, c})
	}
}

// news is what came since the hub looked last.
type news struct {
	snapshot registry.Snapshot
	changed  map[string]bool
	changes  []ofNode
	skipped  bool
}

func (f *feed) look() news {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := news{snapshot: f.snapshot, changes: f.changes, skipped: f.skipped}
	if len(f.changed) > 0 {
		n.changed, f.changed = f.changed, make(map[string]bool)
	}
	f.changes, f.skipped = nil, false
	return n
}
