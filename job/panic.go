package job

import (
	"errors"
	"fmt"
)

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
