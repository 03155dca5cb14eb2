package job

import (
	"errors"
	"fmt"
	"runtime/debug"
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

// Protect calls fn, waits for it, and returns its error: a [*PanicError] if it panicked, [ErrGoexit] if
// it ended its goroutine. It calls fn on a goroutine of its own, as nothing can keep one that ends from
// ending.
func Protect(fn func() error) error {
	ended := make(chan error, 1)
	Go(fn, func(err error) { ended <- err })
	return <-ended
}

// Go calls fn on a goroutine of its own and then, on the same one, done with what [Protect] would
// return. It does not wait for either. However fn ends, done is called.
func Go(fn func() error, done func(error)) {
	go func() {
		err := ErrGoexit // stands if fn neither returns nor panics
		defer func() {
			if value := recover(); value != nil {
				err = &PanicError{Value: value, Stack: debug.Stack()}
			}
			done(err)
		}()
		err = fn()
	}()
}
