package zkcompat

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/elasticron/elasticron/registry/internal/remote"
)

// part has the server close the session after the client is gone, which tries that once, for a second at most. Each try is a
// connection of its own that takes the session over, as that of a client that connects again, and has as much time. It is tried
// until ctx ends.
func (l *link) part(ctx context.Context) {
	for failed := 0; !l.parted.Load() && remote.Sleep(ctx, remote.Backoff(failed)); failed++ {
		limit := l.tryTime()
		began := time.Now()
		if err := l.sayFarewell(ctx, limit); err != nil {
			if time.Since(began) >= limit {
				l.change(func() { l.slow++ })
			}
			l.config.Logger.Debug("the session is closed again", slog.Any("error", err))
		}
	}
}

// sayFarewell is one try.
func (l *link) sayFarewell(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	server, _ := l.hosts.Next()
	conn, err := l.config.Dial(ctx, "tcp", server)
	if conn != nil {
		defer func() { _ = conn.Close() }()
	}
	if err != nil {
		return fmt.Errorf("connect to %s: %w", server, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	in := bufio.NewReader(conn)
	greeting, err := exchange(conn, in, l.hailAgain())
	if err != nil {
		return fmt.Errorf("greet %s: %w", server, err)
	}
	greeting.take(8) // its version, and the time that it grants
	if id := greeting.long(); id == 0 && !greeting.bad {
		l.parted.Store(true) // the server knows no such session: it heard an earlier farewell, or the time is over
		return nil
	}
	const number = 1
	f := newFrame(0)
	f.fill(number, opCloseSession)
	for answer, err := exchange(conn, in, f); ; answer, err = receive(in) {
		if err != nil {
			return fmt.Errorf("say farewell to %s: %w", server, err)
		}
		if answer.int() != number {
			continue
		}
		answer.long()
		err := errorOf(answer.int())
		l.parted.Store(err == nil && !answer.bad)
		return err
	}
}

// hailAgain returns the greeting of a connection that is to take the session over.
func (l *link) hailAgain() frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := make(frame, 4+4+8) // its length, the version, and no transaction that the server has to know
	f.int(int32(l.ttl.Milliseconds()))
	f = binary.BigEndian.AppendUint64(f, uint64(l.id))
	f.text(l.secret)
	binary.BigEndian.PutUint32(f, uint32(len(f)-4))
	return f
}

// exchange sends a frame, and returns the next one that comes.
func exchange(conn net.Conn, in io.Reader, f frame) (*reader, error) {
	if _, err := conn.Write(f); err != nil {
		return nil, err
	}
	return receive(in)
}

// receive returns what the next frame holds.
func receive(in io.Reader) (*reader, error) {
	whole, err := nextFrame(in)
	if err != nil {
		return nil, err
	}
	return &reader{rest: whole[4:]}, nil
}
