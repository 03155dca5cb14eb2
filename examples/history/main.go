// Command history keeps the history of a job in a SQLite file, and prints it.
//
// A job of three items runs every second; item 2 fails every other time. When it has failed twice, the
// program asks the history what happened. It needs nothing but Go: the registry is in the process, and
// the file goes with the program.
//
//	go run ./examples/history
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

const (
	flushFor = 10 * time.Second // the most that the history may take at the end
	keep     = 30 * 24 * time.Hour
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "elasticron-history-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	store, err := sqlite.Open(ctx, filepath.Join(folder, "history.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := record(ctx, store); err != nil {
		return err
	}
	return report(ctx, out, store)
}

// record runs a scheduler until an item has failed twice, with its history in the store and its failures in the log.
func record(ctx context.Context, store *sqlite.Store) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	bus, err := history.NewBus(
		history.WithSink("history", store),
		history.WithSink("log", history.NewLogSink(logger)),
		history.WithLogger(logger), // says if anything is lost
	)
	if err != nil {
		return err
	}
	bus.Start()

	registry := memory.NewServer().Open("example")
	s, err := scheduler.New(registry, scheduler.WithObserver(observe.New(bus)))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failures atomic.Int32
	work := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		if sc.Item == 2 && sc.Fire.Second()%2 == 0 {
			if failures.Add(1) == 2 {
				stop()
			}
			return errors.New("out of stock")
		}
		return nil
	})
	if _, err := s.Add(ctx, job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 3}, work); err != nil {
		return err
	}

	retained := make(chan error, 1)
	go func() { retained <- store.Retain(ctx, keep, time.Hour) }()
	err = s.Run(ctx)

	// The bus goes after the scheduler, whose last items end while it stops.
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushFor)
	defer cancel()
	return errors.Join(err, bus.Close(flush), <-retained, registry.Close(flush))
}

// report asks the history what happened.
func report(ctx context.Context, out io.Writer, past history.Reader) error {
	oldestFirst := history.Paging{PerPage: 100, Ascending: true}
	executions, err := past.Executions(ctx, history.ExecutionQuery{Job: "orders", Paging: oldestFirst})
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-8s  %-4s  %-9s  %-12s  %-8s  %s\n", "FIRE", "ITEM", "SOURCE", "ROUND", "TOOK", "OUTCOME")
	for _, e := range executions.Rows {
		outcome := "success"
		if !e.Success {
			outcome = e.FailureCause
		}
		fmt.Fprintf(&text, "%s  %-4d  %-9s  %-12s  %-8s  %s\n",
			e.Fire.Format(time.TimeOnly), e.Item, e.Source, e.Round, e.Complete.Sub(e.Start), outcome)
	}
	failed, err := past.Statuses(ctx, history.StatusQuery{State: history.Errored, Paging: oldestFirst})
	if err != nil {
		return err
	}
	fmt.Fprintf(&text, "\n%d executions, %d rounds in error:\n", executions.Total, failed.Total)
	for _, r := range failed.Rows {
		fmt.Fprintf(&text, "  round %s, items %s: %s\n", r.Round, r.ShardingItems, r.Message)
	}
	_, err = io.WriteString(out, text.String())
	return err
}
