package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/integration/serverprocess"
)

// startTimeout bounds the start of a server. It takes about a second on a machine that is not busy, and much
// longer beside other servers on one that is.
const startTimeout = 3 * time.Minute

// Server is one ZooKeeper server. Its methods may be called concurrently.
type Server struct {
	folder  string
	address string
	command []string

	mu      sync.Mutex
	running *serverprocess.Process // nil while it is down
}

// Launch starts a server that runs until Close. Tests call [Start]; this is for a server that a
// TestMain shares among them. It returns when clients can connect.
func Launch(ctx context.Context, chosen ...Option) (*Server, error) {
	servers, err := launch(ctx, 1, chosen)
	if err != nil {
		return nil, err
	}
	return servers[0], nil
}

// launch starts servers that know each other, and waits until all of them serve.
func launch(ctx context.Context, count int, chosen []Option) (servers []*Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	jars, err := jars()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			for _, s := range servers {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	places, err := newPlaces(count)
	if err != nil {
		return nil, err
	}
	o := newOptions(chosen)
	for i, place := range places {
		s, err := newServer(place, jars, o.config(places, i), o)
		if err != nil {
			return servers, err
		}
		servers = append(servers, s)
		if err := s.begin(); err != nil {
			return servers, err
		}
	}
	for _, s := range servers {
		if err := s.ready(ctx); err != nil {
			return servers, err
		}
	}
	return servers, nil
}

func newServer(p place, jars, config string, o options) (*Server, error) {
	folder, err := os.MkdirTemp("", "zookeeper-")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, address: p.client}
	file := filepath.Join(folder, "zoo.cfg")
	s.command = o.java(jars, folder, file)
	config += "dataDir=" + filepath.ToSlash(folder) + "/data\n"
	err = errors.Join(
		os.Mkdir(filepath.Join(folder, "data"), 0o755),
		os.WriteFile(file, []byte(config), 0o600),
		os.WriteFile(filepath.Join(folder, "data", "myid"), []byte(p.id), 0o600))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, nil
}

// Address returns "host:port", where clients connect. It stays the same over a restart.
func (s *Server) Address() string { return s.address }

// Addresses returns the address in a slice, as clients want it.
func (s *Server) Addresses() []string { return []string{s.address} }

// Leads tells whether the server says that it leads its ensemble.
func (s *Server) Leads(ctx context.Context) bool {
	return strings.Contains(state(ctx, s.address, mostPatience), "Mode: leader")
}

// Kill ends the server with SIGKILL. Its data stay.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return nil
	}
	err := s.running.Kill()
	s.running = nil
	return err
}

// Run starts a server that was killed, over the same data and on the same port, and returns when
// clients can connect. The server counts the time of the sessions that it finds from then on.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.begin(); err != nil {
		return err
	}
	return s.ready(ctx)
}

// Freeze stops the server with SIGSTOP: connections stay open and nothing answers.
func (s *Server) Freeze() error { return s.with((*serverprocess.Process).Freeze) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() error { return s.with((*serverprocess.Process).Thaw) }

// PID is the id of the server's process, 0 while it is down.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return 0
	}
	return s.running.PID()
}

func (s *Server) with(do func(*serverprocess.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return fmt.Errorf("the server at %s is not running", s.address)
	}
	return do(s.running)
}

// Close kills the server and removes its folder.
func (s *Server) Close() error {
	return errors.Join(s.Kill(), os.RemoveAll(s.folder))
}

// LogFolder returns where the server keeps its transaction log; see package txnlog.
func (s *Server) LogFolder() string { return filepath.Join(s.folder, "data", "version-2") }

// Log returns the last lines that the server wrote.
func (s *Server) Log() string { return serverprocess.LogTail(s.log()) }

func (s *Server) log() string { return filepath.Join(s.folder, "log") }

func (s *Server) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return fmt.Errorf("the server at %s is running already", s.address)
	}
	p, err := serverprocess.Start(s.command, s.log())
	if err != nil {
		return fmt.Errorf("start ZooKeeper: %w", err)
	}
	s.running = p
	return nil
}

// ready waits until the server serves.
func (s *Server) ready(ctx context.Context) error {
	s.mu.Lock()
	p := s.running
	s.mu.Unlock()
	if p == nil {
		return fmt.Errorf("the server at %s was killed while it started", s.address)
	}
	began := time.Now()
	for !serves(ctx, s.address, min(max(leastPatience, time.Since(began)), mostPatience)) {
		select {
		case <-p.Gone():
			return fmt.Errorf("the server at %s ended while it started:\n%s", s.address, s.Log())
		case <-ctx.Done():
			return fmt.Errorf("the server at %s does not serve: %w\n%s", s.address, ctx.Err(), s.Log())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
