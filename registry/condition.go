package registry

import "fmt"

// ConditionKind says what a [Condition] asks of its node. The values are for backends; users call
// the constructors.
type ConditionKind uint8

// The kinds of conditions.
const (
	CondAbsent     ConditionKind = iota + 1 // the node does not exist
	CondPresent                             // the node exists
	CondUnchanged                           // Node.Revision is Revision; 0 = absent
	CondCreatedAt                           // Node.Created is Revision
	CondNotOwnedBy                          // absent, persistent, or owned by another session than Session
)

// Condition is one guard of a [Txn]. Conditions are comparable values.
type Condition struct {
	Kind     ConditionKind
	Path     string
	Revision Revision
	Session  SessionID
}

// Absent holds while there is no node at path.
func Absent(path string) Condition { return Condition{Kind: CondAbsent, Path: path} }

// Present holds while there is a node at path.
func Present(path string) Condition { return Condition{Kind: CondPresent, Path: path} }

// Unchanged holds while the node at path is as it was read: last changed at revision, or still
// absent if revision is 0.
func Unchanged(path string, revision Revision) Condition {
	if revision == 0 {
		return Absent(path)
	}
	return Condition{Kind: CondUnchanged, Path: path, Revision: revision}
}

// CreatedAt holds while the node at path is the very one that revision created, whatever its value
// is by now. It is how a term, an instance or an execution proves that it still stands.
func CreatedAt(path string, revision Revision) Condition {
	return Condition{Kind: CondCreatedAt, Path: path, Revision: revision}
}

// NotOwnedBy holds while session does not own a node at path: there is none, or it is persistent,
// or it belongs to another session.
func NotOwnedBy(path string, session SessionID) Condition {
	return Condition{Kind: CondNotOwnedBy, Path: path, Session: session}
}

// Holds tells whether the condition is true of a node as it was found; the zero [Node] is an absent
// one.
func (c Condition) Holds(found Node) bool {
	switch c.Kind {
	case CondAbsent:
		return !found.Exists()
	case CondPresent:
		return found.Exists()
	case CondUnchanged:
		return found.Revision == c.Revision
	case CondCreatedAt:
		return found.Exists() && found.Created == c.Revision
	case CondNotOwnedBy:
		return found.Session == 0 || found.Session != c.Session
	default:
		return false
	}
}

// String says what is asked, for logs and errors.
func (c Condition) String() string {
	switch c.Kind {
	case CondAbsent:
		return c.Path + " absent"
	case CondPresent:
		return c.Path + " present"
	case CondUnchanged:
		return fmt.Sprintf("%s unchanged since %d", c.Path, c.Revision)
	case CondCreatedAt:
		return fmt.Sprintf("%s created at %d", c.Path, c.Revision)
	case CondNotOwnedBy:
		return fmt.Sprintf("%s not owned by session %s", c.Path, c.Session)
	default:
		return fmt.Sprintf("%s condition %d", c.Path, c.Kind)
	}
}

func (c Condition) check() error {
	if err := CheckPath(c.Path); err != nil {
		return err
	}
	switch c.Kind {
	case CondAbsent, CondPresent:
		return nil
	case CondUnchanged, CondCreatedAt:
		if c.Revision <= 0 {
			return fmt.Errorf("%w: condition on %q needs a revision above 0, has %d", ErrInvalid, c.Path, c.Revision)
		}
		return nil
	case CondNotOwnedBy:
		if c.Session == 0 {
			return fmt.Errorf("%w: condition on %q names no session", ErrInvalid, c.Path)
		}
		return nil
	default:
		return fmt.Errorf("%w: condition on %q is of unknown kind %d", ErrInvalid, c.Path, c.Kind)
	}
}
