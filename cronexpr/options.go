package cronexpr

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption says that an option of [Parse] has a value that is not allowed. It is one error in all packages of
// this module: errors.Is finds it by the name that any of them gives it.
var ErrInvalidOption = option.ErrInvalid

// Option changes how [Parse] reads an expression.
type Option func(*options)

type options struct {
	location *time.Location
	daylight DaylightSaving
	offset   time.Duration
	window   window
}

func defaultOptions() options {
	return options{location: time.UTC, daylight: Natural}
}

// WithLocation says which clock the fields are read on. The default, and the meaning of nil, is UTC:
// the processes of a cluster agree on it, while the host's own zone may differ between them.
func WithLocation(loc *time.Location) Option {
	return func(o *options) {
		if loc == nil {
			loc = time.UTC
		}
		o.location = loc
	}
}

// WithDaylightSaving says what happens to fires when the clock of the location is changed. The
// default is [Natural].
func WithDaylightSaving(mode DaylightSaving) Option {
	return func(o *options) { o.daylight = mode }
}

// WithOffset moves the fires of "@every d" by offset, so that many jobs with the same period need
// not fire in the same instant. The default is 0. Only the offset modulo d matters, and it may be
// negative. Expressions of other kinds ignore it.
func WithOffset(offset time.Duration) Option {
	return func(o *options) { o.offset = offset }
}

func (o options) validate() error {
	if !o.daylight.valid() {
		return fmt.Errorf("%w: daylight saving %s is unknown; allowed are %s and %s",
			ErrInvalidOption, o.daylight, Natural, Quartz)
	}
	if w := o.window; !w.end.IsZero() && w.end.Before(w.start) {
		return fmt.Errorf("%w: the end, %s, is before the start, %s",
			ErrInvalidOption, w.end.Format(time.RFC3339), w.start.Format(time.RFC3339))
	}
	return nil
}
