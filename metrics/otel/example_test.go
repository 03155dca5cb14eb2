package otel_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/otel"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// An application sets up the providers, with exporters that send spans and metrics to where they belong.
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

// The spans of a round: one for its item, and one for the round itself.
func ExampleNew() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("shop")
	defer reg.Close(context.Background())
	spans := tracetest.NewSpanRecorder()
	observer, err := otel.New(otel.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := scheduler.New(reg, scheduler.WithObserver(observer))
	if err != nil {
		fmt.Println(err)
		return
	}
	code := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	orders, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: 1}, code)
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()
	if request, err := orders.Trigger(ctx); err != nil {
		fmt.Println(err)
	} else if _, err := request.Wait(ctx); err != nil {
		fmt.Println(err)
	}
	stop()
	fmt.Println(<-ended)
	for _, span := range spans.Ended() {
		fmt.Println(span.Name(), span.Status().Code)
	}
	// Output:
	// <nil>
	// orders item Unset
	// orders round Unset
}
