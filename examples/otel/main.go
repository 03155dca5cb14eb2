// Command otel traces the rounds of a job with OpenTelemetry: it prints every span when it ends, runs a
// job for two seconds over an in-memory registry, and ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/otel"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	tracers := trace.NewTracerProvider(trace.WithSyncer(printer{}))
	observer, err := otel.New(otel.WithTracerProvider(tracers))
	if err != nil {
		return err
	}
	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg, scheduler.WithObserver(observer))
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 2500*time.Millisecond)
	defer stop()
	work := job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
		_, span := tracers.Tracer("example").Start(ctx, "charge the card") // belongs to the item's span
		defer span.End()
		return nil
	})
	if _, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: 2}, work); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.Background()), tracers.Shutdown(context.Background()))
}

// printer is an exporter that prints spans. A real one sends them to a collector.
type printer struct{}

// ExportSpans implements [trace.SpanExporter].
func (printer) ExportSpans(_ context.Context, spans []trace.ReadOnlySpan) error {
	for _, s := range spans {
		fmt.Printf("trace %s: %s took %s\n", s.SpanContext().TraceID(), s.Name(), s.EndTime().Sub(s.StartTime()))
	}
	return nil
}

// Shutdown implements [trace.SpanExporter].
func (printer) Shutdown(context.Context) error { return nil }
