package job

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrInvalidConfig is what every fault of a [Config] is, for callers that only need to know that.
var ErrInvalidConfig = errors.New("invalid job configuration")

// FieldError is one fault of a [Config]. errors.Is(err, ErrInvalidConfig) is true for it.
type FieldError struct {
	Field  string // as in Config, such as "ShardingTotalCount"
	Value  string // as it was found
	Reason string // what is allowed, such as "must be between 1 and 100000"
	Err    error  // the cause, if another package refused the value
}

// Error names the field, its value and what is allowed, each as far as it takes to recognise it.
func (e *FieldError) Error() string {
	text := fmt.Sprintf("%s %q %s", Shorten(e.Field), Shorten(e.Value), Shorten(e.Reason))
	if e.Err != nil {
		text += ": " + Shorten(e.Err.Error())
	}
	return text
}

// Unwrap gives the cause, if there is one.
func (e *FieldError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrInvalidConfig) true.
func (e *FieldError) Is(target error) bool { return target == ErrInvalidConfig }

// maxShown is how many bytes of a text an error shows.
const maxShown = 200

// Shorten returns a text as an error or a log line shows it: whole up to 200 bytes, else its beginning,
// which is enough to recognise it. What it is a part of stays bounded, however large a value was.
func Shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + fmt.Sprintf("... (%d bytes)", len(text))
}
