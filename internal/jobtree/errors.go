package jobtree

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/texts"
)

// ErrInvalidValue is what every value that cannot be read or must not be written is, for callers
// that only need to know that.
var ErrInvalidValue = errors.New("invalid value")

// ErrNewerFormat is what a value is besides that was written by a newer version in a format which this
// one does not know. It is not to be touched.
var ErrNewerFormat = errors.New("newer format")

// ValueError says what is wrong with the value of a node. errors.Is(err, ErrInvalidValue) is true
// for it.
type ValueError struct {
	Path   string // of the node; empty for a value that was to be written
	Field  string // as it is stored, such as "current.begin"; empty if the value as a whole is wrong
	Value  string // of the field, or the whole one
	Reason string // what is allowed
	Err    error  // the cause, if there is one
	kind   error  // what errors.Is and errors.As find besides; nil = nothing
}

// Error names path, field, value and what is allowed, each as far as it takes to recognise it.
func (e *ValueError) Error() string {
	field := e.Field
	if field == "" {
		field = "value"
	}
	text := fmt.Sprintf("%s is %q, %s", texts.Shorten(field), texts.Shorten(e.Value), texts.Shorten(e.Reason))
	if e.Err != nil {
		text += ": " + texts.Shorten(e.Err.Error())
	}
	if e.Path != "" {
		text = texts.Shorten(e.Path) + ": " + text
	}
	return text
}

// Unwrap gives the cause, if there is one.
func (e *ValueError) Unwrap() error {
	if e.kind != nil {
		return e.kind
	}
	return e.Err
}

// Is makes errors.Is(err, ErrInvalidValue) true.
func (e *ValueError) Is(target error) bool { return target == ErrInvalidValue }

// at completes a fault with the path of its node.
func at(path string, err error) error {
	var e *ValueError
	if errors.As(err, &e) {
		e.Path = path
	}
	return err
}
