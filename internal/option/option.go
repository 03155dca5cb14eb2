// Package option holds the error that packages with options share. Each exports it as ErrInvalidOption.
package option

import "errors"

// ErrInvalid is what every error of an option is that has a value that is not allowed.
var ErrInvalid = errors.New("invalid option")
