package history

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption is the error of [NewBus] if an option is not allowed. It is one error in all packages of this module:
// errors.Is finds it by the name that any of them gives it.
var ErrInvalidOption = option.ErrInvalid

// Option changes a [Bus].
type Option func(*Bus) error

// SinkOption changes how the bus delivers to one sink.
type SinkOption func(*delivery) error

// WithSink adds a sink under a name of its own. Logs and [Stats] use the name.
func WithSink(name string, sink Sink, opts ...SinkOption) Option {
	return func(b *Bus) error {
		if name == "" || sink == nil {
			return fmt.Errorf("%w: sink %q needs a name and must not be nil", ErrInvalidOption, name)
		}
		for _, other := range b.deliveries {
			if other.name == name {
				return fmt.Errorf("%w: sink name %q is used twice", ErrInvalidOption, name)
			}
		}
		d := newDelivery(name, sink)
		b.deliveries = append(b.deliveries, d)
		var faults []error
		for _, err := range option.Apply(d, opts) {
			if err != nil {
				faults = append(faults, fmt.Errorf("sink %q: %w", name, err))
			}
		}
		return errors.Join(faults...)
	}
}

// WithLogger sets where the bus logs what is lost, and when a sink fails and recovers. The default
// logs nothing.
func WithLogger(logger *slog.Logger) Option {
	return func(b *Bus) error {
		if logger == nil {
			return fmt.Errorf("%w: logger is nil", ErrInvalidOption)
		}
		b.log = logger
		return nil
	}
}

// WithBuffer sets how many events wait for the sink at most. The bus drops further events, and counts them. The default
// is 65,536 events, which take some 30 MB, or 130 MB if all executions fail with errors of 4,000 bytes, of which no more
// is kept. Each execution posts two events, each round three.
func WithBuffer(events int) SinkOption {
	return func(d *delivery) error {
		if events < 1 {
			return fmt.Errorf("%w: buffer of %d events is not at least 1", ErrInvalidOption, events)
		}
		d.queue.limit = events
		return nil
	}
}

// WithBatch sets how many events one Write gets at most. The default is 512.
func WithBatch(events int) SinkOption {
	return func(d *delivery) error {
		if events < 1 {
			return fmt.Errorf("%w: batch of %d events is not at least 1", ErrInvalidOption, events)
		}
		d.batch = events
		return nil
	}
}

// WithLinger sets how long the first of several events waits for others, so that they share a Write. A
// full batch and a closed bus do not wait. The default is 100 milliseconds; zero does not wait.
func WithLinger(d time.Duration) SinkOption {
	return func(to *delivery) error {
		if d < 0 {
			return fmt.Errorf("%w: linger %s is negative", ErrInvalidOption, d)
		}
		to.linger = d
		return nil
	}
}

// WithTimeout bounds one Write. The default is 30 seconds.
func WithTimeout(d time.Duration) SinkOption {
	return func(to *delivery) error {
		if d <= 0 {
			return fmt.Errorf("%w: timeout %s is not positive", ErrInvalidOption, d)
		}
		to.timeout = d
		return nil
	}
}
