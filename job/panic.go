package job

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of a job's code, made an error at the item's boundary. errors.Is and
// errors.As see the value if it was an error.
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

// Protect calls fn and returns its error, or a [*PanicError] if it panicked.
func Protect(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return fn()
}
