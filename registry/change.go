package registry

// ChangeKind tells the three kinds of changes apart.
type ChangeKind uint8

// The kinds of changes.
const (
	Added ChangeKind = iota + 1
	Updated
	Removed
)

// String returns "added", "updated" or "removed".
func (k ChangeKind) String() string {
	switch k {
	case Added:
		return "added"
	case Updated:
		return "updated"
	case Removed:
		return "removed"
	default:
		return "unknown change"
	}
}

// Change is the difference of one node between two states that a view showed, one after the other.
// What happened in between is not shown. A node that was removed and put again in one step is an
// update whose New.Created differs from Old.Created.
type Change struct {
	Old Node // the zero Node if added
	New Node // the zero Node if removed
	// Removed tells, if the node was removed, the revision that did it. It is 0 if the store did not tell, as may be after a
	// break, of which a view shows the difference alone. A step may show what several revisions removed: only nodes that one
	// revision removed went together, as all of a session do at its end. A store that knows no better may tell the last
	// revision that added or removed one of the node's siblings.
	Removed Revision
}

// Kind tells whether the node was added, updated or removed.
func (c Change) Kind() ChangeKind {
	switch {
	case !c.Old.Exists():
		return Added
	case !c.New.Exists():
		return Removed
	default:
		return Updated
	}
}

// Path returns the path of the node.
func (c Change) Path() string {
	if c.New.Exists() {
		return c.New.Path
	}
	return c.Old.Path
}

// Step is one step of a view: the state it has now reached, and how that differs from the state
// shown before, in ascending order of paths, each path once. All subscribers are given the same one: it is not to be changed.
type Step struct {
	Snapshot Snapshot
	Changes  []Change
}
