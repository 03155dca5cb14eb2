package jobtree

import "github.com/elasticron/elasticron/registry"

// Stored is the value of a node as it was last read. The zero Stored is a node that is not there.
type Stored[T any] struct {
	// Value is what the node says; the zero T if it is not there or cannot be read.
	Value T
	// Revision is that of the node's last change, 0 if it is not there. It is what a transaction
	// names as "unchanged since".
	Revision registry.Revision
	// Err tells why the value cannot be read. Then nothing may be decided upon it.
	Err error
}

// Exists tells whether the node is there.
func (s Stored[T]) Exists() bool { return s.Revision != 0 }

func stored[T any](n registry.Node, decode func(registry.Node) (T, error)) Stored[T] {
	if !n.Exists() {
		return Stored[T]{}
	}
	value, err := decode(n)
	return Stored[T]{Value: value, Revision: n.Revision, Err: err}
}

// storedRarely keeps in a word what most items do not have.
func storedRarely[T any](n registry.Node, decode func(registry.Node) (T, error)) *Stored[T] {
	if !n.Exists() {
		return nil
	}
	s := stored(n, decode)
	return &s
}

// valueOf returns what p points to; the zero T if it is nil.
func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
