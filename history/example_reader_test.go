package history_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/job"
)

// printFailures prints what failed of a job, the newest first, two at a time.
func printFailures(ctx context.Context, reader history.Reader, name string) error {
	failed := false
	query := history.ExecutionQuery{Job: name, Success: &failed, Paging: history.Paging{PerPage: 2}}
	for query.Page = 1; ; query.Page++ {
		page, err := reader.Executions(ctx, query)
		if err != nil {
			return err
		}
		for _, e := range page.Rows {
			fmt.Printf("page %d of %d failures: item %d: %s\n", query.Page, page.Total, e.Item, e.FailureCause)
		}
		if query.Page*query.PerPage >= page.Total {
			return nil
		}
	}
}

// Any store of package sqlstore is a reader. This one is a file.
func ExampleReader() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "history-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	store, err := sqlite.Open(ctx, filepath.Join(folder, "history.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	bus, err := history.NewBus(history.WithSink("history", store))
	if err != nil {
		fmt.Println(err)
		return
	}
	bus.Start()
	for item := range 3 { // in an application, the observer of package observe posts events
		at := time.Date(2026, time.March, 1, 10, item, 0, 0, time.UTC)
		start := history.Started("host-1", "R1", job.ShardingContext{JobName: "orders", Item: item}, at)
		bus.Post(start)
		bus.Post(start.Ended(at, errors.New("out of stock"), nil))
	}
	if err := bus.Close(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(printFailures(ctx, store, "orders"))
	// Output:
	// page 1 of 3 failures: item 2: out of stock
	// page 1 of 3 failures: item 1: out of stock
	// page 2 of 3 failures: item 0: out of stock
	// <nil>
}
