package protect

import (
	"errors"
	"reflect"

	"github.com/elasticron/elasticron/job"
)

// returned is an error of an application's code, with its text as it was when the code returned. That its methods have
// returned once does not mean that they do so again: one may take a mutex that the code's other goroutines hold, or be
// called by two goroutines that read the same error and were never meant for that.
type returned struct {
	text string
	err  error
}

// Error returns the text that was kept.
func (r *returned) Error() string { return r.text }

// Unwrap returns the error of the code.
func (r *returned) Unwrap() error { return r.err }

// Original returns the very error that code returned, of one that [Call] or [Go] has given; any other as it is. Its methods
// may do what they like, so it is for code of the application, where that is protected.
func Original(err error) error {
	if r, is := err.(*returned); is { //nolint:errorlint // what wraps it is not what the code returned
		return r.err
	}
	return err
}

// plain is the type of errors that are a text and nothing else.
var plain = reflect.TypeOf(errors.New(""))

// lasting tells whether an error does tomorrow what it does today, so that nothing need stand for it: it stays the very
// same for who compares errors.
func lasting(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it is about this error, and not about what it wraps
	case *returned:
		return true
	case *job.PanicError:
		if e == nil {
			return false
		}
		_, is := e.Value.(string)
		return is
	default:
		return reflect.TypeOf(err) == plain && !reflect.ValueOf(err).IsNil()
	}
}

// Is is [errors.Is] for who asks whether an error is one of this module's own, on a goroutine that nothing protects: it asks
// nothing of what an application's code has returned. Only code that was called by this package is known to be that.
func Is(err, target error) bool {
	return among(err, func(e error) bool {
		is, asks := e.(interface{ Is(target error) bool })
		return e == target || asks && is.Is(target) //nolint:errorlint // as above
	})
}

// As is [errors.As] in the same way. It finds errors by their types alone.
func As[E error](err error) (found E, ok bool) {
	ok = among(err, func(e error) (is bool) {
		found, is = e.(E) //nolint:errorlint // errors are looked at one by one
		return is
	})
	return found, ok
}

// among tells whether one of the errors that err is made of is wanted, down to those of the application.
func among(err error, wanted func(error) bool) bool {
	if err == nil {
		return false
	}
	if wanted(err) {
		return true
	}
	switch e := err.(type) { //nolint:errorlint // errors are looked at one by one
	case *returned:
		return false
	case interface{ Unwrap() error }:
		return among(e.Unwrap(), wanted)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if among(one, wanted) {
				return true
			}
		}
	}
	return false
}
