package registry

import (
	"fmt"
	"unicode/utf8"
)

// WriteKind says what a [Write] does. The values are for backends; users call the constructors.
type WriteKind uint8

// The kinds of writes.
const (
	WritePut        WriteKind = iota + 1 // create or replace a persistent node
	WritePutOwned                        // create an ephemeral node
	WriteUpdate                          // new value, owner kept
	WriteDelete                          // remove one node
	WriteDeleteTree                      // remove a node and all below it
)

// Write is one change of a [Txn].
type Write struct {
	Kind    WriteKind
	Unasked bool // of WritePut: the store need not be asked who owns the node
	Path    string
	Value   string   // of the puts and the update; valid UTF-8
	Session *Session // of WritePutOwned
}

// Put creates the persistent node at path, or replaces its value. On a node that a session owns it
// is refused with [ErrOwned]: it would silently make the node outlive its owner.
func Put(path, value string) Write { return Write{Kind: WritePut, Path: path, Value: value} }

// Overwrite is [Put] of a node that nobody ever gives to a session, so that the store need not be asked
// whether one owns it: on etcd that would be a condition more. Where a session owns it all the same,
// because somebody meddled, the store refuses the transaction with [ErrOwned] or takes the node from the
// session, for good; it never changes the value of a node that goes with a session.
func Overwrite(path, value string) Write {
	return Write{Kind: WritePut, Unasked: true, Path: path, Value: value}
}

// PutOwned creates an ephemeral node that lives as long as session. It only creates: if there is a
// node at path, whoever owns it, the transaction fails with a conflict on [Absent]. If session is over,
// it fails with [ErrSessionLost].
func PutOwned(path, value string, session *Session) Write {
	return Write{Kind: WritePutOwned, Path: path, Value: value, Session: session}
}

// Update gives the node at path a new value and leaves it with its owner. If there is none, the
// transaction fails with a conflict on [Present].
func Update(path, value string) Write { return Write{Kind: WriteUpdate, Path: path, Value: value} }

// Delete removes the node at path, if there is one, and nothing else: its descendants stay.
func Delete(path string) Write { return Write{Kind: WriteDelete, Path: path} }

// DeleteTree removes the node at path and everything below it, and nothing else: deleting "/job"
// leaves "/job1" alone.
func DeleteTree(path string) Write { return Write{Kind: WriteDeleteTree, Path: path} }

// Touches tells whether the write may change the node at path.
func (w Write) Touches(path string) bool {
	if w.Kind == WriteDeleteTree {
		return Within(path, w.Path)
	}
	return w.Path == path
}

func (w Write) deletes() bool { return w.Kind == WriteDelete || w.Kind == WriteDeleteTree }

func (w Write) check() error {
	if err := CheckPath(w.Path); err != nil {
		return err
	}
	if !utf8.ValidString(w.Value) {
		return fmt.Errorf("%w: value of %q is not valid UTF-8", ErrInvalid, w.Path)
	}
	if w.Unasked && w.Kind != WritePut {
		return fmt.Errorf("%w: write of %q cannot leave open who owns the node", ErrInvalid, w.Path)
	}
	switch w.Kind {
	case WritePut, WriteUpdate, WriteDelete, WriteDeleteTree:
		return nil
	case WritePutOwned:
		if w.Session == nil {
			return fmt.Errorf("%w: put of %q names no session", ErrInvalid, w.Path)
		}
		return nil
	default:
		return fmt.Errorf("%w: write of %q is of unknown kind %d", ErrInvalid, w.Path, w.Kind)
	}
}
