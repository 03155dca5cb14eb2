package zkcompat_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// dials wraps connections by their number, the first of which is 1, and keeps them.
type dials struct {
	wrap func(number int, conn net.Conn) net.Conn
	mu   sync.Mutex
	all  []net.Conn
}

func (d *dials) on(c *zkcompat.Config) {
	c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all = append(d.all, conn)
		return d.wrap(len(d.all), conn), nil
	}
}

// cut ends the newest connection.
func (d *dials) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.all[len(d.all)-1].Close()
}

func (d *dials) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}

// lessGranted is a connection to a server that grants half of the session's time.
type lessGranted struct {
	net.Conn
	begin []byte // of the greeting, changed
	done  bool
}

func (c *lessGranted) Read(p []byte) (int, error) {
	if !c.done {
		c.done, c.begin = true, make([]byte, 12)
		if _, err := io.ReadFull(c.Conn, c.begin); err != nil {
			return 0, err
		}
		granted := c.begin[8:]
		binary.BigEndian.PutUint32(granted, binary.BigEndian.Uint32(granted)/2)
	}
	if len(c.begin) > 0 {
		n := copy(p, c.begin)
		c.begin = c.begin[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// A server that grants less time than the one before it would end the session while its process counts itself alive.
func TestAServerThatGrantsLessTime(t *testing.T) {
	t.Parallel()
	d := dials{wrap: func(number int, conn net.Conn) net.Conn {
		if number == 1 {
			return conn
		}
		return &lessGranted{Conn: conn}
	}}
	r := open(t, d.on, steadily)
	before, err := r.Session(t.Context())
	require.NoError(t, err)
	d.cut()
	select {
	case <-before.Done():
		require.ErrorIs(t, before.Err(), registry.ErrSessionLost)
		require.ErrorContains(t, before.Err(), "grants it")
	case <-time.After(time.Minute):
		require.Fail(t, "it counts itself alive for as long as before")
	}
	now, err := r.Session(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.ID(), now.ID())
	require.Equal(t, before.TTL()/2, now.TTL())
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/mine", "", now)}})
	require.NoError(t, err)
}

// noAuth is a connection that breaks when credentials are to be sent.
type noAuth struct{ net.Conn }

func (c noAuth) Write(frame []byte) (int, error) {
	if len(frame) >= 12 && binary.BigEndian.Uint32(frame[8:]) == 100 && binary.BigEndian.Uint32(frame) == uint32(len(frame)-4) {
		return 0, errors.Join(io.ErrClosedPipe, c.Close())
	}
	return c.Conn.Write(frame)
}

// A connection that breaks while credentials are sent again is followed by another.
func TestAConnectionBreaksUnderCredentials(t *testing.T) {
	t.Parallel()
	d := dials{wrap: func(number int, conn net.Conn) net.Conn {
		if number == 2 {
			return noAuth{conn}
		}
		return conn
	}}
	r := open(t, d.on, func(c *zkcompat.Config) { c.Digest = "ours:right" })
	put := func(value string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", value)}, Repeat: registry.RepeatHarmless})
		return err
	}
	require.NoError(t, put("1"))
	d.cut()
	require.NoError(t, put("2"))
	require.GreaterOrEqual(t, d.count(), 3)
	closed := make(chan error, 1)
	go func() { closed <- r.Close(context.Background()) }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "it never closes")
	}
}

// Whoever has been granted less time once may be again, by an answer that gets lost: no session counts for longer.
func TestASessionCountsForTheLeastThatAnyServerGrants(t *testing.T) {
	t.Parallel()
	log := notedLines{Handler: slog.DiscardHandler, lines: make(chan string, 100)}
	d := dials{wrap: func(number int, conn net.Conn) net.Conn {
		if number == 2 {
			return &lessGranted{Conn: conn}
		}
		return conn
	}}
	r := open(t, d.on, steadily, func(c *zkcompat.Config) { c.Logger = slog.New(log) })
	full, err := r.Session(t.Context())
	require.NoError(t, err)
	d.cut()
	<-full.Done()
	log.await(t, "the server grants sessions less time than is asked for")
	half, err := r.Session(t.Context())
	require.NoError(t, err)
	half.Abandon(errors.New("it is to be another one, from a server that grants all"))
	next, err := r.Session(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, half.ID(), next.ID())
	require.GreaterOrEqual(t, d.count(), 3)
	require.Equal(t, full.TTL()/2, next.TTL())
}

// notedLines passes the messages of a log on.
type notedLines struct {
	slog.Handler
	lines chan string
}

func (n notedLines) Enabled(context.Context, slog.Level) bool { return true }
func (n notedLines) WithAttrs([]slog.Attr) slog.Handler       { return n }

func (n notedLines) Handle(_ context.Context, r slog.Record) error {
	select {
	case n.lines <- r.Message:
	default:
	}
	return nil
}

func (n notedLines) await(t *testing.T, message string) {
	t.Helper()
	bound := time.After(time.Minute)
	for {
		select {
		case line := <-n.lines:
			if line == message {
				return
			}
		case <-bound:
			require.Fail(t, "nothing was logged", message)
		}
	}
}
