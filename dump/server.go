package dump

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/scheduler"
)

const (
	// limit bounds one connection, from its first byte to its last.
	limit = 10 * time.Second
	// maxLine bounds a command, in bytes.
	maxLine = 1024
	// maxClients bounds the connections that are served at once; others wait.
	maxClients = 8
)

// ErrNotLoopback says that the address is not one of the loopback interface, and [WithAnyAddress] is not given.
var ErrNotLoopback = errors.New("dump: not a loopback address")

// source is what a server dumps.
type source interface {
	dump(ctx context.Context, job string) (scheduler.Dump, error)
	jobs() []string
}

// jobsOf are the jobs of a scheduler.
type jobsOf struct{ *scheduler.Scheduler }

func (s jobsOf) dump(ctx context.Context, name string) (scheduler.Dump, error) {
	j, err := s.Job(name)
	if err != nil {
		return scheduler.Dump{}, err
	}
	return j.Dump(ctx)
}

func (s jobsOf) jobs() []string {
	var names []string
	for _, j := range s.Jobs() {
		names = append(names, j.Name())
	}
	return names
}

// Server answers requests for dumps on a TCP port.
type Server struct {
	source   source
	listener net.Listener
	options
}

// Listen opens the port at which the jobs of a scheduler are dumped. The address is "host:port", as in "127.0.0.1:9888";
// port 0 takes a free one. The host must be a loopback address, or "localhost", unless [WithAnyAddress] is given. Errors:
// [ErrInvalidOption], [ErrNotLoopback], and those of the port.
func Listen(s *scheduler.Scheduler, address string, opts ...Option) (*Server, error) {
	return listen(jobsOf{s}, address, opts)
}

func listen(from source, address string, opts []Option) (*Server, error) {
	s := &Server{source: from}
	faults := option.Apply(&s.options, opts)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("dump: %w", err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !s.anyAddress && (!ok || !at.IP.IsLoopback()) {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrNotLoopback, listener.Addr()), listener.Close())
	}
	s.listener = listener
	return s, nil
}

// Addr returns where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until ctx ends, closes the port, and returns nil when no connection is left. Other
// errors are those of the port.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var clients sync.WaitGroup
	defer clients.Wait()
	stop := context.AfterFunc(ctx, func() { _ = s.listener.Close() })
	defer stop()
	places := make(chan struct{}, maxClients)
	for {
		connection, err := s.listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("dump: %w", errors.Join(err, s.listener.Close()))
		}
		places <- struct{}{} // for as long as limit, at most
		clients.Go(func() {
			defer func() { <-places }()
			s.serve(ctx, connection)
		})
	}
}

// serve answers one client, within the limit. What goes wrong with a connection is its client's affair.
func (s *Server) serve(ctx context.Context, connection net.Conn) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() { _ = connection.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	if connection.SetDeadline(time.Now().Add(limit)) != nil {
		return
	}
	line, err := bufio.NewReaderSize(io.LimitReader(connection, maxLine), maxLine).ReadString('\n')
	if err != nil && (!errors.Is(err, io.EOF) || line == "" || len(line) >= maxLine) {
		return
	}
	_, _ = io.WriteString(connection, s.answer(ctx, strings.TrimSpace(line)))
}

// answer returns what is sent for a command; nothing if it is none.
func (s *Server) answer(ctx context.Context, line string) string {
	word, job, named := strings.Cut(line, "@")
	word = strings.ToLower(word)
	if word != "dump" && word != "json" {
		return ""
	}
	if !named {
		job = s.theJob()
	}
	d, err := s.source.dump(ctx, job)
	if err != nil {
		return ""
	}
	if !s.secrets {
		d = maskSecrets(d)
	}
	text := Text(d)
	if word == "json" {
		encoded, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return ""
		}
		text = string(encoded) + "\n"
	}
	if s.addresses {
		return text
	}
	return maskAddresses(text)
}

// theJob returns the job that is meant if none is named.
func (s *Server) theJob() string {
	if s.job != "" {
		return s.job
	}
	if names := s.source.jobs(); len(names) == 1 {
		return names[0]
	}
	return ""
}
