// Command http calls an endpoint for each sharding item, and again when the endpoint is busy. It takes a
// few seconds over an in-memory registry and an endpoint of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	var calls atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("%s for %s\n", r.Method, r.Header.Get(httpjob.ContextHeader))
		if calls.Add(1) == 1 {
			http.Error(w, "busy, come back", http.StatusServiceUnavailable)
		}
	}))
	defer endpoint.Close()

	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg, scheduler.WithObserver(ends(2, stop)))
	if err != nil {
		return err
	}
	cfg := job.Config{
		Name:               "warmup",
		Cron:               "@every 1s",
		ShardingTotalCount: 2,
		Class:              httpjob.Class,
		Props: map[string]string{
			"http.uri":                endpoint.URL,
			"http.method":             "POST",
			"http.data":               `{"warm":true}`,
			"http.content.type":       "application/json",
			"http.retries":            "3",
			"http.retry.milliseconds": "100",
		},
	}
	if _, err := s.Add(ctx, cfg, httpjob.Job{}); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.Background()))
}

// ends returns an observer that prints how items ended, and stops when all have.
func ends(all int, stop func()) scheduler.Observer {
	return scheduler.ObserverFunc(func(event scheduler.Event) {
		e, is := event.(scheduler.ItemEvent)
		if !is || !e.Over() {
			return
		}
		fmt.Printf("item %d ended: %v\n", e.Context.Item, e.Err)
		if all--; all == 0 { // one call at a time
			stop()
		}
	})
}
