// Command firstprogram is the program of docs/quickstart.md, and its middle is that of the README. It wants an etcd
// at localhost:2379; a test of package examples runs it with another one.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/scheduler"
)

func main() {
	// The first Ctrl-C or SIGTERM ends ctx, and the process hands its items over. A second one ends it at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)

	// All jobs of the process share one handle, and so one session. It logs what is wrong with etcd.
	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: []string{"localhost:2379"}, Namespace: "shop", Logger: slog.Default()})
	if err != nil {
		log.Fatal(err)
	}
	// The log tells of failed items, refused settings and lost sessions.
	s, err := scheduler.New(reg, scheduler.WithLogger(slog.Default()))
	if err != nil {
		log.Fatal(err)
	}

	// Four items run every five seconds, spread over all processes that run this program.
	invoices := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		fmt.Printf("item %d of %d, fire %s, token %d\n", sc.Item, sc.TotalCount, sc.Fire, sc.Token)
		return nil // do this item's share of the work; stop when ctx ends
	})
	if _, err := s.Add(ctx, job.Config{
		Name: "invoices", Cron: "0/5 * * * * ?", ShardingTotalCount: 4,
	}, invoices); err != nil {
		log.Fatal(err)
	}
	err = s.Run(ctx)
	// Run and Close return in bounded time, even if etcd cannot be reached.
	if err := errors.Join(err, reg.Close(context.Background())); err != nil {
		log.Fatal(err)
	}
}
