package job

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/texts"
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
	text := fmt.Sprintf("%s %q %s", texts.Shorten(e.Field), texts.Shorten(e.Value), texts.Shorten(e.Reason))
	if e.Err != nil {
		text += ": " + texts.Shorten(e.Err.Error())
	}
	return text
}

// Unwrap gives the cause, if there is one.
func (e *FieldError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrInvalidConfig) true.
func (e *FieldError) Is(target error) bool { return target == ErrInvalidConfig }
