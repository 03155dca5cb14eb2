// Package option holds what packages with options share: the error, which each exports as ErrInvalidOption, and how options are
// applied.
package option

import (
	"errors"
	"fmt"
)

// ErrInvalid is what every error of an option is that has a value that is not allowed.
var ErrInvalid = errors.New("invalid option")

// Apply sets what options say of to. It returns what is wrong with each, nil where nothing is; an option that is nil is wrong.
func Apply[T any, O ~func(*T) error](to *T, options []O) []error {
	faults := make([]error, len(options))
	for i, set := range options {
		if set == nil {
			faults[i] = fmt.Errorf("%w: option %d of %d is nil", ErrInvalid, i+1, len(options))
			continue
		}
		faults[i] = set(to)
	}
	return faults
}
