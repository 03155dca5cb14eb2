package otel

import (
	"fmt"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption is the error of [New] if an option is not allowed. It is one error in all packages of this module:
// errors.Is finds it by any of their names.
var ErrInvalidOption = option.ErrInvalid

// Option changes where an [Observer] reports to.
type Option func(*options) error

type options struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
}

// WithTracerProvider sets where spans go. The default is the global provider.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(o *options) error {
		if p == nil {
			return fmt.Errorf("%w: tracer provider is nil", ErrInvalidOption)
		}
		o.tracers = p
		return nil
	}
}

// WithMeterProvider sets where metrics go. The default is the global provider.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(o *options) error {
		if p == nil {
			return fmt.Errorf("%w: meter provider is nil", ErrInvalidOption)
		}
		o.meters = p
		return nil
	}
}
