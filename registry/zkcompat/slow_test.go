package zkcompat_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// slow is a connection whose answers come late, though one after the other, once it is told so.
type slow struct {
	net.Conn
	late func() time.Duration
	in   chan slowRead
	over chan struct{}
	rest []byte
	once sync.Once
}

type slowRead struct {
	bytes []byte
	due   time.Time
	err   error
}

func newSlow(conn net.Conn, late func() time.Duration) *slow {
	s := &slow{Conn: conn, late: late, in: make(chan slowRead, 1<<10), over: make(chan struct{})}
	go func() {
		for {
			bytes := make([]byte, 32<<10)
			n, err := conn.Read(bytes)
			select {
			case s.in <- slowRead{bytes[:n], time.Now().Add(late()), err}:
			case <-s.over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case r := <-s.in:
			select {
			case <-time.After(time.Until(r.due)):
			case <-s.over:
				return 0, net.ErrClosed
			}
			if s.rest = r.bytes; r.err != nil {
				return 0, r.err
			}
		case <-s.over:
			return 0, net.ErrClosed
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (*slow) SetReadDeadline(time.Time) error { return nil } // something comes all the time

func (s *slow) Close() error {
	s.once.Do(func() { close(s.over) })
	return s.Conn.Close()
}

// A connection on which every answer takes longer than the session lasts proves nothing, however steadily the answers
// come. Another one takes its place, and the session with what it holds is there again before the server would drop it:
// the server hears of it all the while.
func TestAConnectionSlowerThanTheSessionIsReplaced(t *testing.T) {
	t.Parallel()
	var slowed atomic.Bool
	var dialed atomic.Int64
	r := open(t, func(c *zkcompat.Config) {
		c.SessionTimeout = 3 * time.Second
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			first := dialed.Add(1) == 1
			return newSlow(conn, func() time.Duration {
				if first && slowed.Load() {
					return time.Hour
				}
				return 0
			}), nil
		}
	})
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	owned := put(t, r, registry.PutOwned("/owned", "", session))
	slowed.Store(true)
	<-session.Done()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next, err := r.Session(ctx)
	require.NoError(t, err)
	found, err := r.Get(ctx, "/owned")
	if next.ID() == session.ID() { // else this machine stood still for longer than the session lasts
		require.NoError(t, err)
		require.Equal(t, owned, found.Created)
	}
}
