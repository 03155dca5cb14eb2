// Command prometheus serves the metrics of a scheduler on a free port, runs a job for two seconds over
// an in-memory registry, reads its own metrics as Prometheus would, and ends.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	collector, err := prometheus.New()
	if err != nil {
		return err
	}
	metrics := client.NewRegistry()
	metrics.MustRegister(collector)
	server := httptest.NewServer(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	defer server.Close()

	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg, scheduler.WithObserver(collector))
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 2500*time.Millisecond)
	defer stop()
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	if _, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: 3}, work); err != nil {
		return err
	}
	if err := errors.Join(s.Run(ctx), reg.Close(context.Background())); err != nil {
		return err
	}
	return show(server.URL)
}

// show prints the counters.
func show(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "elasticron_") && !strings.Contains(lines.Text(), "_bucket") {
			fmt.Println(lines.Text())
		}
	}
	return nil
}
