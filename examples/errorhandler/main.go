// Command errorhandler has failures of a job posted to a webhook, in a round of which two items run at
// once. It takes a few seconds over an in-memory registry and a webhook of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/webhook"
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
	pager := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var failure webhook.Failure
		err := json.NewDecoder(r.Body).Decode(&failure)
		fmt.Printf("paged: item %d of %s: %s (%v)\n", failure.Item, failure.Job, failure.Error, err)
		stop()
	}))
	defer pager.Close()

	handlers := errorhandler.Default() // LOG, IGNORE and THROW
	if err := handlers.Register(webhook.Name, webhook.New); err != nil {
		return err
	}
	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg, scheduler.WithErrorHandlers(handlers))
	if err != nil {
		return err
	}
	cfg := job.Config{
		Name:               "orders",
		Cron:               "@every 1s",
		ShardingTotalCount: 4,
		MaxConcurrentItems: 2,
		ErrorHandler:       webhook.Name,
		Props:              map[string]string{"webhook.url": pager.URL},
	}
	work := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		if sc.Item == 3 {
			return errors.New("no such order")
		}
		return nil
	})
	if _, err := s.Add(ctx, cfg, work); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.Background()))
}
