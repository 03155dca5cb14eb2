package prometheus_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// Each scheduler has a collector of its own, which an application registers like any other.
func Example() {
	collector, err := prometheus.New(prometheus.WithItems(16))
	if err != nil {
		log.Fatal(err)
	}
	client.MustRegister(collector)
	if _, err := scheduler.New(memory.NewServer().Open("shop"), scheduler.WithObserver(collector)); err != nil {
		log.Fatal(err)
	}
	http.Handle("/metrics", promhttp.Handler())
	log.Fatal(http.ListenAndServe("127.0.0.1:9090", nil))
}

// What a collector counts while a job with two items runs once.
func ExampleNew() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("shop")
	defer reg.Close(context.Background())
	registry := client.NewRegistry()
	collector, err := prometheus.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	registry.MustRegister(collector)
	s, err := scheduler.New(reg, scheduler.WithObserver(collector))
	if err != nil {
		fmt.Println(err)
		return
	}
	orders, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: 2}, index)
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()
	if err := runOnce(ctx, orders); err != nil {
		fmt.Println(err)
	}
	stop()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}

	families, err := registry.Gather()
	for _, family := range families {
		if family.GetName() == "elasticron_executions_total" {
			for _, m := range family.GetMetric() {
				fmt.Println(m.GetLabel()[0].GetValue(), m.GetLabel()[1].GetValue(), m.GetLabel()[2].GetValue(), m.GetCounter().GetValue())
			}
		}
	}
	fmt.Println(err)
	// Output:
	// orders success manual 2
	// <nil>
}

// index is the code of the job.
var index = job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })

// runOnce runs every item of a job once, and waits for them.
func runOnce(ctx context.Context, j *scheduler.Job) error {
	request, err := j.Trigger(ctx)
	if err != nil {
		return err
	}
	_, err = request.Wait(ctx)
	return err
}
