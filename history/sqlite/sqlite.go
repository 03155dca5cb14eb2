// Package sqlite keeps the history of a scheduler in a file, without a server. It is a store of package
// sqlstore over SQLite in pure Go.
//
//	store, err := sqlite.Open(ctx, "history.db")
//	bus, err := history.NewBus(history.WithSink("history", store))
//
// Only one process at a time should write to the file; any number may read it. While another one writes, calls wait, for ten
// seconds at most, or until their context ends. The file must lie on a local disk. If somebody deletes, renames or replaces it
// while it is open, calls return [ErrGone]: nothing is shown that is not in the file of that name, and the bus waits with
// events until the very file is back. An application links SQLite only if it imports this package.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	modernc "modernc.org/sqlite" // which registers the driver "sqlite", too

	"github.com/elasticron/elasticron/history/sqlstore"
)

// Store is a history in a file: an [sqlstore.Store] that keeps outputs of executions, too.
type Store struct {
	*sqlstore.Store
	db   *sql.DB
	path string
	file os.FileInfo // of what had the path when it was opened
}

// Open opens the file at path, and makes the file and its tables if they are missing; a new file is for its owner
// only, as it may hold what executions printed. What is there and no regular file is refused. The folder must exist. While
// the file is open, SQLite keeps path-wal and path-shm beside it. Events that were written survive the death of
// the process; a power cut may lose those of the last moments.
func Open(ctx context.Context, path string, opts ...sqlstore.Option) (*Store, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open history %q: %w", path, err)
	}
	if there, err := os.Stat(absolute); err == nil && !there.Mode().IsRegular() {
		return nil, fmt.Errorf("open history %q: it is no regular file", path)
	}
	created, err := os.OpenFile(absolute, os.O_CREATE|os.O_RDONLY, 0o600)
	var info os.FileInfo
	if err == nil {
		info, err = created.Stat()
		err = errors.Join(err, created.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("open history %q: %w", path, err)
	}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: url.Values{
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", ownPatience.Milliseconds()), "journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"}, // a transaction that begins by reading could not be made to write when another does
	}.Encode()}
	connector, err := modernc.NewConnector(file.String())
	if err != nil {
		return nil, fmt.Errorf("open history %q: %w", path, err)
	}
	db := sql.OpenDB(patient{connector})
	store := &Store{db: db, path: absolute, file: info}
	store.Store, err = sqlstore.New(db, sqlstore.SQLite, opts...)
	if err == nil {
		err = store.Prepare(ctx)
	}
	if err == nil {
		err = store.prepareOutputs(ctx)
	}
	if err == nil {
		err = store.there()
	}
	if err != nil {
		_ = db.Close() // the first error counts
		return nil, fmt.Errorf("open history %q: %w", path, err)
	}
	return store, nil
}

// Close closes the file. Before, close the bus that writes to the store.
func (s *Store) Close() error { return s.db.Close() }
