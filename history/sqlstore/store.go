package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/option"
)

// ErrInvalidOption is the error of [New] if an option is not allowed. It is one error in all packages of this module:
// errors.Is finds it by the name that any of them gives it.
var ErrInvalidOption = option.ErrInvalid

// Store keeps a history in a database. Its methods are safe for concurrent use.
type Store struct {
	db       *sql.DB
	dialect  dialect
	location *time.Location
	log      *slog.Logger

	now    func() time.Time
	isHere func(near bool, host string) bool

	prepared atomic.Bool
	keyed    atomic.Bool   // both tables have the key that writes need
	turn     chan struct{} // of size 1: whoever prepares the tables has put something into it

	mu       sync.Mutex
	indexing *indexing       // of the indexes that were missing last; nil if none were
	refused  map[string]bool // events that were refused for good, by id, while others of their batch could not be stored yet
}

var (
	_ history.Sink   = (*Store)(nil)
	_ history.Reader = (*Store)(nil)
)

// Option changes a [Store].
type Option func(*Store) error

// WithLocation sets the zone of the wall clock that SQLite and PostgreSQL keep. The default is UTC. All
// processes that write to the same tables must have the same zone.
func WithLocation(location *time.Location) Option {
	return func(s *Store) error {
		if location == nil {
			return fmt.Errorf("%w: location is nil", ErrInvalidOption)
		}
		s.location = location
		return nil
	}
}

// WithLogger sets where the store logs events that it could not store as they are, and what
// [Store.Retain] deletes, and what it lets stay. The default logs nothing.
func WithLogger(logger *slog.Logger) Option {
	return func(s *Store) error {
		if logger == nil {
			return fmt.Errorf("%w: logger is nil", ErrInvalidOption)
		}
		s.log = logger
		return nil
	}
}

// New makes a store over a database, which stays the caller's to close. It does no I/O: the tables are
// made by the first call that finds the database, or by [Store.Prepare]. The error lists every option
// that is not allowed.
func New(db *sql.DB, name Dialect, opts ...Option) (*Store, error) {
	s := &Store{
		db: db, location: time.UTC, log: slog.New(slog.DiscardHandler), now: time.Now, isHere: isHere, turn: make(chan struct{}, 1),
	}
	var faults []error
	if db == nil {
		faults = append(faults, fmt.Errorf("%w: database is nil", ErrInvalidOption))
	}
	var known bool
	if s.dialect, known = dialects[name]; !known {
		faults = append(faults, fmt.Errorf("%w: dialect %q is not %q, %q or %q", ErrInvalidOption, name, SQLite, PostgreSQL, MySQL))
	}
	faults = append(faults, option.Apply(s, opts)...)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if s.dialect.zoned {
		s.location = time.UTC // which is that of our sessions
	}
	return s, nil
}

// session calls use with a connection on which times are those of the store's location.
func (s *Store) session(ctx context.Context, use func(*sql.Conn) error) error {
	conn, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer s.release(ctx, conn)
	return use(conn)
}

// open returns a connection for a session, which release ends.
func (s *Store) open(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil || !s.dialect.zoned {
		return conn, err
	}
	if _, err := conn.ExecContext(ctx, "SET @elasticron_zone = @@SESSION.time_zone, SESSION time_zone = '+00:00'"); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// release gives a connection back to the pool.
func (s *Store) release(ctx context.Context, conn *sql.Conn) {
	if s.dialect.zoned {
		s.restoreZone(ctx, conn)
	}
	_ = conn.Close()
}

// restoreZone gives a connection its time zone back, which others of the process use, or has it thrown
// away.
func (s *Store) restoreZone(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "SET SESSION time_zone = @elasticron_zone"); err != nil {
		discard(conn)
	}
}
