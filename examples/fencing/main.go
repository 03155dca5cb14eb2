// Command fencing has a database refuse what an execution writes that another one has overtaken.
//
// An instance runs an item and stands still in the middle of it, for longer than its session lasts. Another instance
// runs the item again and writes what it found. Then the first one goes on and writes, too: its token is lower, and
// the database, a SQLite file, refuses it. The program takes a few seconds and needs nothing but Go.
//
//	go run ./examples/fencing
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The tables: one with what the job finds, and one with the highest token that has written for each item.
const tables = `
	CREATE TABLE totals (
		item     INTEGER,
		occasion TEXT,
		total    INTEGER,
		PRIMARY KEY (item, occasion)
	);
	CREATE TABLE fences (
		job   TEXT,
		item  INTEGER,
		token BIGINT,
		PRIMARY KEY (job, item)
	)`

var errOvertaken = errors.New("a later execution has written already")

// store writes what an execution found, unless a later execution of the item has written before. Fence and result are
// one transaction, so nothing comes between them.
func store(ctx context.Context, db *sql.DB, sc job.ShardingContext, total int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	// The row is raised to this token, or stays as it is because it has a higher one.
	raised, err := tx.ExecContext(ctx, `
		INSERT INTO fences (job, item, token) VALUES (?, ?, ?)
		ON CONFLICT (job, item) DO UPDATE SET token = excluded.token
		WHERE excluded.token >= fences.token`, sc.JobName, sc.Item, sc.Token)
	if err != nil {
		return err
	}
	if rows, err := raised.RowsAffected(); err != nil || rows == 0 {
		return errors.Join(errOvertaken, err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO totals (item, occasion, total) VALUES (?, ?, ?)
		ON CONFLICT (item, occasion) DO UPDATE SET total = excluded.total`, sc.Item, occasion(sc), total)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// occasion is what an execution runs for: its fire, or the request of a run by hand that has none. Whoever runs the same again
// writes the same row again. Fires may be milliseconds apart, and a time has a name in each zone.
func occasion(sc job.ShardingContext) string {
	if sc.Fire.IsZero() {
		return fmt.Sprintf("trigger %d", sc.Trigger)
	}
	return sc.Fire.UTC().Format(time.RFC3339Nano)
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() (err error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	folder, err := os.MkdirTemp("", "elasticron-fencing-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	db, err := open(ctx, filepath.Join(folder, "totals.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	server := memory.NewServer()
	first, second := server.Open("example"), server.Open("example")
	begun, written, refused := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	begin, write := sync.OnceFunc(func() { close(begun) }), sync.OnceFunc(func() { close(written) })
	late := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		fmt.Printf("first begins, token %d, and stands still\n", sc.Token)
		begin()
		<-written
		// Code that heeds its context would stop here. A process that really stood still may be in the middle of a
		// request that no context stops any more.
		err := store(context.WithoutCancel(ctx), db, sc, 1)
		fmt.Printf("first goes on, token %d: %v\n", sc.Token, err)
		refused <- err
		return err
	})
	again := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		err := store(ctx, db, sc, 2)
		fmt.Printf("second runs it, token %d, source %s: %v\n", sc.Token, sc.Source, err)
		if sc.Source == job.Failover {
			write()
		}
		return err
	})

	ended := make(chan error, 2)
	go func() { ended <- instance(ctx, first, late) }()
	select {
	case <-begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	go func() { ended <- instance(ctx, second, again) }()
	first.Cut() // nothing of the first instance reaches the registry, so its session ends there
	select {
	case err := <-refused:
		if !errors.Is(err, errOvertaken) {
			return fmt.Errorf("the late write was not refused: %w", err)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	stop()
	first.Heal()
	return errors.Join(<-ended, <-ended)
}

func open(ctx context.Context, file string) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: url.Values{
		"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)"}, // who comes second waits
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// instance takes part in the job until ctx ends.
func instance(ctx context.Context, reg *memory.Registry, code job.Handler) error {
	s, err := scheduler.New(reg)
	if err != nil {
		return err
	}
	cfg := job.Config{Name: "totals", Cron: "@every 1s", ShardingTotalCount: 1, Failover: true}
	if _, err := s.Add(ctx, cfg, code); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.WithoutCancel(ctx)))
}
