// Package protect calls an application's code so that a panic, and the end of its goroutine, are errors.
package protect

import (
	"runtime/debug"

	"github.com/elasticron/elasticron/job"
)

// Call calls fn, waits for it, and returns its error: a [*job.PanicError] if it panicked, [job.ErrGoexit] if
// it ended its goroutine. It calls fn on a goroutine of its own, because nothing can keep a goroutine that ends from
// ending.
func Call(fn func() error) error {
	ended := make(chan error, 1)
	Go(fn, func(err error) { ended <- err })
	return <-ended
}

// Go calls fn on a goroutine of its own and then, on the same one, done with what [Call] would
// return. It does not wait for either. However fn ends, done is called.
func Go(fn func() error, done func(error)) {
	go func() {
		err := job.ErrGoexit // stands if fn neither returns nor panics
		defer func() {
			if value := recover(); value != nil {
				err = &job.PanicError{Value: value, Stack: debug.Stack()}
			}
			done(err)
		}()
		err = fn()
	}()
}
