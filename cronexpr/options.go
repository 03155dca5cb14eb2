package cronexpr

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption says that an option of [Parse] has a value that is not allowed. It is one error in all packages of
// this module: errors.Is finds it by the name that any of them gives it.
var ErrInvalidOption = option.ErrInvalid

// Option changes how [Parse] reads an expression.
type Option func(*options) error

type options struct {
	location *time.Location
	daylight DaylightSaving
	offset   time.Duration
	window   window
}

// WithLocation says which clock the fields are read on. The default, and the meaning of nil, is UTC:
// the processes of a cluster agree on it, while the host's own zone may differ between them.
func WithLocation(loc *time.Location) Option {
	return func(o *options) error {
		if loc == nil {
			loc = time.UTC
		}
		o.location = loc
		return nil
	}
}

// WithDaylightSaving says what happens to fires when the clock of the location is changed. The
// default is [Natural].
func WithDaylightSaving(mode DaylightSaving) Option {
	return func(o *options) error {
		if !mode.valid() {
			return fmt.Errorf("%w: daylight saving %s is unknown; allowed are %s and %s", ErrInvalidOption, mode, Natural, Quartz)
		}
		o.daylight = mode
		return nil
	}
}

// WithOffset moves the fires of "@every d" by offset, so that many jobs with the same period need
// not fire in the same instant. The default is 0. Only the offset modulo d matters, and it may be
// negative. Expressions of other kinds ignore it.
func WithOffset(offset time.Duration) Option {
	return func(o *options) error {
		o.offset = offset
		return nil
	}
}

func newOptions(opts []Option) (options, error) {
	o := options{location: time.UTC, daylight: Natural}
	faults := option.Apply(&o, opts)
	return o, errors.Join(append(faults, o.window.check())...)
}
