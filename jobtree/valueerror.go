package jobtree

import (
	"errors"
	"fmt"
)

// ErrInvalidValue is what every value that cannot be read or must not be written is, for callers
// that only need to know that.
var ErrInvalidValue = errors.New("invalid value")

// ValueError says what is wrong with the value of a node. errors.Is(err, ErrInvalidValue) is true
// for it.
type ValueError struct {
	Path   string // of the node; empty for a value that was to be written
	Field  string // as it is stored, such as "current.begin"; empty if the value as a whole is wrong
	Value  string // of the field, or the whole one
	Reason string // what is allowed
}

// Error names path, field, value and what is allowed.
func (e *ValueError) Error() string {
	field := e.Field
	if field == "" {
		field = "value"
	}
	text := fmt.Sprintf("%s is %q, %s", field, shorten(e.Value), e.Reason)
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	return text
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

// maxShown is how much of a text an error shows: enough to recognise it.
const maxShown = 200

func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return text[:maxShown] + "..."
}
