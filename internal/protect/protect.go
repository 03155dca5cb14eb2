// Package protect calls an application's code so that a panic, and the end of its goroutine, are errors, and so that
// whoever gets the error can use it: its text is asked for once, where the code ran.
package protect

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/elasticron/elasticron/job"
)

// Call calls fn, waits for it, and returns its error: a [*job.PanicError] if it panicked, [job.ErrGoexit] if
// it ended its goroutine. It calls fn on a goroutine of its own, because nothing can keep a goroutine that ends from
// ending.
//
// An error whose own methods panic, as those of a nil pointer may, would take the process with it wherever its text is
// read. Another error stands for it, which names its type. One that could panic or block later is wrapped: its text stays
// what it is now, [errors.Is] and [errors.As] find it, and [Original] returns it.
func Call(fn func() error) error {
	ended := make(chan error, 1)
	Go(fn, func(err error) { ended <- err })
	return <-ended
}

// Within is [Call] that does not wait beyond the end of ctx: then returned is false, and err the cause of that end.
func Within(ctx context.Context, fn func() error) (returned bool, err error) {
	ended := make(chan error, 1)
	Go(fn, func(err error) { ended <- err })
	select {
	case err := <-ended:
		return true, err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// Go calls fn on a goroutine of its own and then, on the same one, done with what [Call] would
// return. It does not wait for either. However fn ends, done is called.
func Go(fn func() error, done func(error)) {
	go func() {
		err := job.ErrGoexit // stands if fn neither returns nor panics
		instead := errUseless
		defer func() { done(err) }()
		defer func() { // once err stands, whatever its methods do here
			if tried := err; tried != nil && !lasting(tried) {
				err = instead(tried)
				if text, usable := textOf(tried); usable {
					err = &returned{text, tried}
				}
			}
		}()
		defer func() {
			if value := recover(); value != nil {
				stack := debug.Stack()
				err = &job.PanicError{Value: value, Stack: stack}
				instead = func(error) error { return &job.PanicError{Value: "a value" + useless(value), Stack: stack} }
			}
		}()
		err = fn()
	}()
}

func errUseless(err error) error { return errors.New("the code returned an error" + useless(err)) }

func useless(value any) string { return fmt.Sprintf(" of type %T, whose own methods panic", value) }

// probe is an error that no code returns, and a type that none is of.
type probe struct{}

func (*probe) Error() string { return "probe" }

// textOf returns the text of an error. usable tells whether its methods return, and those of what it wraps, where they are
// asked what anybody asks an error. If one ends the goroutine, textOf does not return.
func textOf(err error) (text string, usable bool) {
	defer func() { _ = recover() }()
	text = err.Error()
	one := &probe{}
	_ = errors.Is(err, one)
	_ = errors.As(err, &one)
	return text, true
}
