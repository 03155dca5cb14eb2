package otel_test

import (
	"log"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/elasticron/elasticron/metrics/otel"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// Where spans and metrics go is up to the providers, which an application sets up with exporters.
func Example() {
	tracers, meters := trace.NewTracerProvider(), metric.NewMeterProvider()
	observer, err := otel.New(otel.WithTracerProvider(tracers), otel.WithMeterProvider(meters))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := scheduler.New(memory.NewServer().Open("shop"), scheduler.WithObserver(observer)); err != nil {
		log.Fatal(err)
	}
}
