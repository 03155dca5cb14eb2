package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/job"
)

// A store over a database that the application opens, and a query for what failed. With PostgreSQL it is
// sql.Open("pgx", dsn) and sqlstore.PostgreSQL.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	folder, err := os.MkdirTemp("", "history-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	db, err := sql.Open("sqlite", filepath.Join(folder, "history.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	store, err := sqlstore.New(db, sqlstore.SQLite)
	if err != nil {
		fmt.Println(err)
		return
	}
	bus, err := history.NewBus(history.WithSink("history", store))
	if err != nil {
		fmt.Println(err)
		return
	}
	bus.Start()

	// A scheduler with the observer of package observe posts the events.
	at := time.Date(2026, time.March, 1, 10, 0, 0, 0, time.UTC)
	for item := range 3 {
		start := history.Started("host-1", "R1", job.ShardingContext{JobName: "orders", Item: item, Source: job.Scheduled, Fire: at}, at)
		bus.Post(start)
		if item == 1 {
			bus.Post(start.Ended(at.Add(time.Second), fmt.Errorf("out of stock"), nil))
		} else {
			bus.Post(start.Ended(at.Add(time.Second), nil, nil))
		}
	}
	if err := bus.Close(ctx); err != nil {
		fmt.Println(err)
		return
	}

	success := false
	failed, err := store.Executions(ctx, history.ExecutionQuery{Job: "orders", Success: &success})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range failed.Rows {
		fmt.Println("item", e.Item, e.FailureCause)
	}

	// Retain does this now and then, beside the scheduler.
	gone, err := store.DeleteBefore(ctx, at.AddDate(0, 0, 30))
	fmt.Println(gone, "rows deleted", err)
	// Output:
	// item 1 out of stock
	// 3 rows deleted <nil>
}
