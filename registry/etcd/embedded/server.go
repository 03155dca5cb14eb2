package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed is returned when the server was closed for good.
var ErrClosed = errors.New("embedded etcd server is closed")

// ErrInUse is returned by a start whose folder another server uses, as a rule one in another process.
var ErrInUse = errors.New("the folder is used by another process")

// ErrMisplaced is returned by a start whose folder has data of an etcd where no server looks for them. A backup belongs into the
// folder member1 of the one that the server is given.
var ErrMisplaced = errors.New("the data of etcd are in the wrong place")

// Server is one etcd server in this process. Its methods may be called concurrently.
type Server struct {
	opts      *options
	place     place
	temporary bool

	mu      sync.Mutex // held while the server starts or stops
	running *instance  // nil while stopped
	fault   error      // why a stop ended before the server had
	closed  bool
}

// Start starts a server and returns when it is ready to serve. The context bounds the start only. On
// an error nothing is left behind.
func Start(ctx context.Context, opts ...Option) (*Server, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	servers, err := startTogether(ctx, o, 1)
	if err != nil {
		return nil, fmt.Errorf("start embedded etcd: %w", err)
	}
	return servers[0], nil
}

// Endpoints returns the URLs that clients connect to.
func (s *Server) Endpoints() []string { return []string{s.place.client.String()} }

// Dir returns the folder of the data.
func (s *Server) Dir() string { return s.place.dir }

// Stop stops the server and leaves its data for [Server.Restart]. A leader hands over to another
// member first. It breaks the connections of clients rather than wait for them, and does nothing if
// the server is stopped already. Connections that have said nothing yet, such as those of a check of ports, hold it up for
// two seconds, and are then left to those who opened them. On Linux the system gives the ports that the server found by itself
// to nobody else until Close.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halt((*instance).stop)
}

// Kill stops the server as a crash would: without a word to the other members. Its data stays for
// [Server.Restart].
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halt((*instance).kill)
}

// Restart starts a stopped server again, with its data and at its old address, and returns when it
// is ready. It stops a running one first. After Close it returns [ErrClosed].
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.halt((*instance).stop) // with mu held until the next one runs, or another Restart would find its folder in use
	running, err := launch(ctx, s.opts, s.place)
	if err != nil {
		return fmt.Errorf("restart embedded etcd: %w", err)
	}
	if err := running.ready(ctx); err != nil {
		return fmt.Errorf("restart embedded etcd: %w", errors.Join(err, running.kill()))
	}
	s.running = running
	return nil
}

// Running tells whether the server is started.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil
}

// Close stops the server for good and removes its folder if that is a temporary one. It returns at
// once, also while clients are connected, and within seconds where connections have said nothing yet, see [Server.Stop]. It
// may be called more than once. If etcd itself does not stop, as on a disk that does not answer, Close returns an error after
// 17 seconds at the latest, and leaves the folder as it is, locked.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.halt((*instance).stop)
	s.closed = true
	err := errors.Join(s.fault, s.place.letGo())
	if s.temporary && s.fault == nil {
		err = errors.Join(err, removeTemporary(s.place.dir))
	}
	return err
}

// halt ends the server if it runs. The caller holds mu.
func (s *Server) halt(how func(*instance) error) {
	if s.running != nil {
		s.fault = how(s.running)
		s.running = nil
	}
}

// leading tells whether the server leads its cluster.
func (s *Server) leading() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil && s.running.leads()
}
