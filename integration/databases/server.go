package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticron/elasticron/integration/ports"
	"github.com/elasticron/elasticron/integration/serverprocess"
)

// startTimeout bounds the start of a server. It takes about a second on a machine that is not busy.
const startTimeout = 2 * time.Minute

// Server is one database server. Its methods may be called concurrently.
type Server struct {
	kind     *Kind
	forced   bool
	folder   string
	port     string
	database atomic.Int64 // number of the last one made

	mu      sync.Mutex
	running *serverprocess.Process // nil while it is down
}

// Option sets something of a server.
type Option func(*Server)

// WithForcedSync has the server force to the disk what it confirms, as in real life. Without it, a
// killed server loses nothing either, because the system keeps what the server wrote, and tests do not
// wait for the disk.
func WithForcedSync() Option { return func(s *Server) { s.forced = true } }

// Start starts a server that ends with the test. See [Need] for machines that cannot run it. A test
// that fails shows the end of the server's log.
func Start(tb testing.TB, k *Kind, chosen ...Option) *Server {
	tb.Helper()
	Need(tb, k)
	s, err := launch(tb.Context(), k, chosen)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("%s wrote:\n%s", k.Name, s.Log())
		}
		if err := s.close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func launch(ctx context.Context, k *Kind, chosen []Option) (_ *Server, err error) {
	port, err := ports.Claim(1)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "elasticron-database-")
	if err != nil {
		return nil, err
	}
	s := &Server{kind: k, folder: folder, port: port[0]}
	for _, set := range chosen {
		set(s)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	data := filepath.Join(folder, "data")
	if err := errors.Join(os.Mkdir(data, 0o700), serverprocess.HandOver(folder), serverprocess.HandOver(data)); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s, s.Run(ctx)
}

// prepare makes the data of a new server.
func (s *Server) prepare(ctx context.Context) error {
	p, err := s.start(s.kind.prepare(s.folder))
	if err != nil {
		return fmt.Errorf("make the data of %s: %w", s.kind.Name, err)
	}
	select {
	case <-p.Gone():
	case <-ctx.Done():
		p.End(os.Kill)
	}
	if !p.State().Success() {
		return fmt.Errorf("make the data of %s: %s\n%s", s.kind.Name, p.State(), s.Log())
	}
	return nil
}

// start runs a command, whose program is found by its name.
func (s *Server) start(args []string) (*serverprocess.Process, error) {
	command := append([]string{s.kind.find(args[0])}, args[1:]...)
	return serverprocess.Start(command, s.log(), serverprocess.Unprivileged())
}

// Address returns "host:port". It stays the same over a restart.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", s.port) }

// Kill ends the server as a crash would: without notice, with nothing finished, and the next start
// recovers what had been confirmed. It does nothing if the server is down.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.running.End(s.kind.die)
		s.running = nil
	}
}

// Run starts a server that was killed, over the same data and on the same port, and returns when it
// answers.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return fmt.Errorf("%s at %s is running already", s.kind.Name, s.Address())
	}
	p, err := s.start(s.serve())
	if err != nil {
		return fmt.Errorf("start %s: %w", s.kind.Name, err)
	}
	if err := s.ready(ctx, p); err != nil {
		p.End(os.Kill)
		return err
	}
	s.running = p
	return nil
}

func (s *Server) serve() []string {
	args := s.kind.serve(s.folder, s.port)
	if !s.forced {
		args = append(args, s.kind.unforced...)
	}
	return args
}

// ready waits until the server answers.
func (s *Server) ready(ctx context.Context, p *serverprocess.Process) error {
	db, err := sql.Open(s.kind.driver, s.DSN(s.kind.first))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing was changed
	for db.PingContext(ctx) != nil {
		select {
		case <-p.Gone():
			return fmt.Errorf("%s at %s ended while it started:\n%s", s.kind.Name, s.Address(), s.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s at %s does not answer: %w\n%s", s.kind.Name, s.Address(), ctx.Err(), s.Log())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// DSN returns how [database/sql.Open] names a database of the server for the kind's driver.
func (s *Server) DSN(database string) string { return s.kind.dsn(s.Address(), database) }

// Open makes a new, empty database and opens it. It is closed with the test.
func (s *Server) Open(tb testing.TB) *sql.DB {
	tb.Helper()
	name := "test" + strconv.FormatInt(s.database.Add(1), 10)
	first := s.open(tb, s.kind.first)
	if _, err := first.ExecContext(tb.Context(), s.kind.create(name)); err != nil {
		tb.Fatalf("create a database in %s: %v", s.kind.Name, err)
	}
	return s.open(tb, name)
}

func (s *Server) open(tb testing.TB, database string) *sql.DB {
	tb.Helper()
	db, err := sql.Open(s.kind.driver, s.DSN(database))
	if err != nil {
		tb.Fatal(err)
	}
	// A connection to a server that was killed cannot be closed in order, and need not be.
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *Server) close() error {
	s.Kill()
	return os.RemoveAll(s.folder)
}

// Log returns the last lines that the server wrote.
func (s *Server) Log() string { return serverprocess.LogTail(s.log()) }

func (s *Server) log() string { return filepath.Join(s.folder, "log") }
