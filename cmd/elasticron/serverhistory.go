package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/elasticron/elasticron/console/recorder"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/registry"
)

// How long the history of --embedded keeps executions, and how often it looks for older ones.
const (
	historyKeeps = 30 * 24 * time.Hour
	historyTidy  = time.Hour
)

// oneHistory refuses a history of several namespaces: it does not tell of which one an execution is, so who may read
// one of them would read all.
func (s *serving) oneHistory(namespaces []string) error {
	if s.history == "" || len(namespaces) < 2 {
		return nil
	}
	return misuse("--history is given with the namespaces %s: a history does not tell namespaces apart, want one namespace, or a server for each",
		strings.Join(namespaces, ", "))
}

// shownHistory opens the history that the server is to show; nil if there is none.
func (s *serving) shownHistory(ctx context.Context) (history.Reader, error) {
	if s.history == "" {
		return nil, nil
	}
	if _, err := os.Stat(s.history); err != nil { // which opening would make
		return nil, fmt.Errorf("--history: %w", err)
	}
	store, err := sqlite.Open(ctx, s.history)
	if err != nil {
		return nil, err
	}
	s.closes(store.Close)
	return store, nil
}

// ownHistory keeps what runs in a namespace in a file beside the etcd of --embedded.
func (s *serving) ownHistory(ctx context.Context, name string, reg registry.Viewer) (history.Reader, error) {
	folder := filepath.Join(s.data, "history")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	store, err := sqlite.Open(ctx, filepath.Join(folder, url.PathEscape(name)+".db"), sqlstore.WithLogger(s.log))
	if err != nil {
		return nil, err
	}
	s.closes(store.Close)
	tidying, end := context.WithCancel(context.WithoutCancel(ctx))
	tidied := make(chan struct{})
	go func() {
		defer close(tidied)
		_ = store.Retain(tidying, historyKeeps, historyTidy) // it logs what fails
	}()
	s.closes(func() error {
		end()
		<-tidied
		return nil
	})
	bus, err := history.NewBus(history.WithSink("history", store), history.WithLogger(s.log))
	if err != nil {
		return nil, err
	}
	bus.Start()
	s.closes(func() error {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		return bus.Close(bounded)
	})
	stop, err := recorder.Start(ctx, reg, bus)
	if err != nil {
		return nil, err
	}
	s.closes(func() error {
		stop()
		return nil
	})
	return store, nil
}
