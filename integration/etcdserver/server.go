package etcdserver

import (
	"context"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
)

// Server is one etcd server, alone in its process or a member of a cluster there. Its methods may be
// called concurrently.
type Server struct {
	process  *process
	member   int
	endpoint string
}

// Start starts a server and returns when it is ready to serve. The context bounds the start only, and
// may end while the program is built for the first time. On an error nothing is left behind.
func Start(ctx context.Context, opts ...Option) (*Server, error) {
	alone, err := launch(ctx, 0, opts)
	if err != nil {
		return nil, err
	}
	return alone.members[0], nil
}

// Endpoints returns the URLs that clients connect to.
func (s *Server) Endpoints() []string { return []string{s.endpoint} }

// PID is the id of the server's process, in which the other members of its cluster are, too.
func (s *Server) PID() int { return s.process.PID() }

// Stop stops the server and leaves its data for [Server.Restart]. A leader hands over to another
// member first. It breaks the connections of clients rather than wait for them, and does nothing if
// the server is stopped already.
func (s *Server) Stop() { s.process.order(wire.Stop, s.member) }

// Kill stops the server as a crash would: without a word to the other members. Its data stays for
// [Server.Restart].
func (s *Server) Kill() { s.process.order(wire.Kill, s.member) }

// Restart starts a stopped server again, with its data and at its old address, and returns when it
// is ready. It stops a running one first.
func (s *Server) Restart(ctx context.Context) error {
	return s.process.ask(ctx, wire.Restart, s.member, new(wire.Nothing))
}

// Close ends the process, and with it the other members of a cluster, and removes the data. It fails
// if the process ended before by itself, and may be called more than once.
func (s *Server) Close() error { return s.process.close() }
