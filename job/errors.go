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

// ErrGoexit is the error of code that ended its goroutine by [runtime.Goexit] instead of returning, as
// [testing.T.FailNow] does.
var ErrGoexit = errors.New("the code ended its goroutine by runtime.Goexit, which testing.T.FailNow calls, and did not return")

// PanicError is the error of code that panicked. If the value of the panic is an error, errors.Is and errors.As
// find it.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine, as it panicked
}

// Error says what the panic was, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap gives the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrTimeout is the cause with which the context of an item ends when its attempt took longer than
// [Config.Timeout].
var ErrTimeout = errors.New("item timed out")
