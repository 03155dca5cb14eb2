package errorhandler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
)

// A handler of your own: it pages somebody, unless the job says in its settings that nobody cares.
func ExampleRegistry_Register() {
	handlers := errorhandler.Default()
	err := handlers.Register("PAGE", func(cfg job.Config, _ *slog.Logger) (job.ErrorHandler, error) {
		p := job.ReadProps(cfg.Props)
		quiet := p.Flag("page.quiet", false)
		page := func(_ context.Context, name string, sc job.ShardingContext, err error) error {
			if !quiet {
				fmt.Printf("page: %s, item %d: %s\n", name, sc.Item, err)
			}
			return nil
		}
		return job.ErrorHandlerFunc(page), p.Err()
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(handlers.Names())

	// A scheduler does the rest: scheduler.New(reg, scheduler.WithErrorHandlers(handlers)).
	handler, err := handlers.New(job.Config{Name: "orders", ErrorHandler: "PAGE"}, slog.Default())
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = handler.HandleError(context.Background(), "orders", job.ShardingContext{Item: 2}, errors.New("out of stock"))
	// Output:
	// [IGNORE LOG PAGE THROW]
	// page: orders, item 2: out of stock
}

// The text of a message to people, cut to what its medium takes.
func ExampleDescribe() {
	sc := job.ShardingContext{
		TaskID: "orders@-@2@-@READY@-@10.0.0.1@-@5", Item: 2, TotalCount: 4, ItemParameter: "Oslo", Source: job.Scheduled,
		Fire: time.Date(2026, time.January, 2, 3, 0, 0, 0, time.UTC),
	}
	fmt.Println(errorhandler.Describe("orders", sc, errors.New("out of stock"), 2048))
	// Output:
	// Job 'orders' failed: item 2 of 4 (Oslo), fire 2026-01-02T03:00:00Z, scheduled
	// task orders@-@2@-@READY@-@10.0.0.1@-@5
	// out of stock
}
