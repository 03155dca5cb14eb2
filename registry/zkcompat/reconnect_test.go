package zkcompat_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

const (
	opRemoveWatches = 18
	opMultiRead     = 22
	opSetAuth       = 100
	opAddWatch      = 106
)

// witness makes connections and keeps a record of each.
type witness struct {
	mu    sync.Mutex
	calls []*witnessed
}

// dial is what a Config takes.
func (w *witness) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &witnessed{Conn: conn, in: bufio.NewReader(conn), mu: &w.mu, syncs: make(map[uint32]bool)}
	w.calls = append(w.calls, c)
	return c, nil
}

// reconnect breaks the last connection and returns the record of the next one once it is as wanted.
func (w *witness) reconnect(t *testing.T, wanted func(record) bool) record {
	t.Helper()
	w.mu.Lock()
	before := len(w.calls)
	_ = w.calls[before-1].Close()
	w.mu.Unlock()
	var found record
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range w.calls[before:] {
			if wanted(c.record) {
				found = c.record
				return true
			}
		}
		return false
	}, time.Minute, time.Millisecond)
	return found
}

// record is what happened on one connection.
type record struct {
	hailed  bool
	seen    registry.Revision // that the client said it has seen
	synced  bool              // a sync was answered
	read    bool              // znodes were read
	tooSoon bool              // before that
}

// witnessed is one connection. The mutex is the witness's.
type witnessed struct {
	net.Conn
	in   *bufio.Reader
	rest bytes.Reader

	mu     *sync.Mutex
	record record
	syncs  map[uint32]bool // that were sent
}

func (c *witnessed) Write(frame []byte) (int, error) {
	c.mu.Lock()
	if !c.record.hailed {
		c.record.hailed, c.record.seen = true, registry.Revision(binary.BigEndian.Uint64(frame[8:]))
	} else {
		switch binary.BigEndian.Uint32(frame[8:]) {
		case opSync:
			c.syncs[binary.BigEndian.Uint32(frame[4:])] = true
		case opMultiRead:
			c.record.read, c.record.tooSoon = true, c.record.tooSoon || !c.record.synced
		}
	}
	c.mu.Unlock()
	return c.Conn.Write(frame)
}

func (c *witnessed) Read(p []byte) (int, error) {
	for c.rest.Len() == 0 {
		frame, err := readFrame(c.in)
		if err != nil {
			return 0, err
		}
		c.mu.Lock()
		late := c.syncs[binary.BigEndian.Uint32(frame[4:])]
		c.mu.Unlock()
		if late {
			time.Sleep(20 * time.Millisecond) // a server that has far to go to its leader
			c.mu.Lock()
			c.record.synced = true
			c.mu.Unlock()
		}
		c.rest.Reset(frame)
	}
	return c.rest.Read(p)
}

// What a view has shown, a server must know that is to go on with the session: the greeting says so, although
// the client hears of no answer to a multi.
func TestAServerThatLagsBehindAViewIsNotTaken(t *testing.T) {
	t.Parallel()
	calls := new(witness)
	const n = 20
	r, view := counters(t, n, func(c *zkcompat.Config) { c.Dial = calls.dial })
	var last registry.Revision
	for range 10 {
		for _, o := range r.CommitAll(t.Context(), increments(view.Snapshot(), n)) {
			require.NoError(t, o.Err)
			last = o.Revision
		}
		require.NoError(t, view.WaitRevision(t.Context(), last))
	}
	c := calls.reconnect(t, func(c record) bool { return c.hailed })
	require.GreaterOrEqual(t, c.seen, last)
	require.NoError(t, view.WaitRevision(t.Context(), put(t, r, registry.Put("/end", ""))))
	require.Equal(t, "10", view.Snapshot().Get("/n/7/record").Value)
}

// On a new connection, views are read only when a sync has been answered there. That the server took the credentials
// once more, or the watches, tells nothing of what it knows.
func TestNothingIsReadBeforeASyncOnANewConnection(t *testing.T) {
	t.Parallel()
	calls := new(witness)
	_, view := counters(t, 5, func(c *zkcompat.Config) { c.Dial, c.Digest = calls.dial, "user:secret" })
	for range 5 {
		c := calls.reconnect(t, func(c record) bool { return c.read })
		require.False(t, c.tooSoon)
	}
	require.True(t, view.Snapshot().Get("/config").Exists())
}

// breaking is a connection that breaks when it is to send one of the first syncs. It counts credentials.
type breaking struct {
	net.Conn
	left   *atomic.Int64 // syncs that are not sent
	logins *atomic.Int64 // on the last connection
}

func (c breaking) Write(frame []byte) (int, error) {
	switch binary.BigEndian.Uint32(frame[8:]) {
	case opSetAuth:
		c.logins.Add(1)
	case opSync:
		if c.left.Add(-1) >= 0 {
			return 0, errors.Join(io.ErrClosedPipe, c.Close())
		}
	}
	return c.Conn.Write(frame)
}

// However many connections break before the first proof, the client says who it is once on each.
func TestCredentialsDoNotPileUp(t *testing.T) {
	t.Parallel()
	var left, logins atomic.Int64
	left.Store(4)
	open(t, func(c *zkcompat.Config) {
		c.Digest = "user:secret"
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			logins.Store(0)
			return breaking{conn, &left, &logins}, nil
		}
	})
	require.EqualValues(t, 1, logins.Load())
}

// neverAnswers returns an address at which connections are taken and nobody answers.
func neverAnswers(t *testing.T) string {
	t.Helper()
	var listening net.ListenConfig
	mute, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0") // nobody accepts what its queue takes
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mute.Close()) })
	return mute.Addr().String()
}

// brief is how long the sessions last of which one connection after the other is of no use.
const brief = 8 * time.Second

// briefly opens a handle of such a session, whose connections after the first are made by next, which is told their numbers. It
// returns what breaks the first one.
func briefly(t *testing.T, next func(ctx context.Context, number int64, address string) (net.Conn, error)) (*zkcompat.Registry, *registry.Session, func()) {
	t.Helper()
	var dialed atomic.Int64
	first := make(chan net.Conn, 1)
	r := open(t, func(c *zkcompat.Config) {
		c.SessionTimeout, c.DialTimeout = brief, time.Minute
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if n := dialed.Add(1); n > 1 {
				return next(ctx, n, address)
			}
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				first <- conn
			}
			return conn, err
		}
	})
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	require.Equal(t, brief, session.TTL())
	return r, session, func() { require.NoError(t, (<-first).Close()) }
}

// goesOn writes something and returns why the session is lost, nil if it is not.
func goesOn(t *testing.T, r registry.Committer, session *registry.Session) error {
	t.Helper()
	put(t, r, registry.Put("/x", ""))
	return session.Err()
}

// A server that has just started may take a connection, and never answer on it. That costs a fourth of the session's time, and
// not the session.
func TestAnUnansweredConnectionDoesNotCostTheSession(t *testing.T) {
	t.Parallel()
	mute := neverAnswers(t)
	despiteStalls(t, brief/2, func() error {
		third := make(chan struct{})
		r, session, end := briefly(t, func(ctx context.Context, number int64, address string) (net.Conn, error) {
			switch number {
			case 2:
				address = mute
			case 3:
				close(third)
			}
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		})
		end()
		select {
		case <-third:
		case <-session.Done():
			return session.Err()
		}
		return goesOn(t, r, session)
	})
}

// With a server that lets nobody in as fast as that, as with TLS on a busy machine, or that is behind a name whose first address
// is dead, the next try has more time.
func TestASlowServerDoesNotCostTheSession(t *testing.T) {
	t.Parallel()
	despiteStalls(t, brief*3/16, func() error {
		var dialed atomic.Int64
		r, session, end := briefly(t, func(ctx context.Context, number int64, address string) (net.Conn, error) {
			dialed.Store(number)
			select {
			case <-time.After(brief * 3 / 10):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		})
		end()
		if err := goesOn(t, r, session); err != nil {
			return err
		}
		if n := dialed.Load(); n != 3 {
			return fmt.Errorf("it connected %d times", n)
		}
		return nil
	})
}

// The greetings are exchanged in what is left of the try's time.
func TestATryTakesItsTimeOnce(t *testing.T) {
	t.Parallel()
	mute := neverAnswers(t)
	despiteStalls(t, brief/10, func() error {
		times := make(chan time.Time, 100)
		r, session, end := briefly(t, func(ctx context.Context, number int64, address string) (net.Conn, error) {
			times <- time.Now()
			if number == 2 {
				deadline, _ := ctx.Deadline()
				time.Sleep(time.Until(deadline) * 9 / 10)
				address = mute
			}
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		})
		end()
		began := <-times
		if took := (<-times).Sub(began); took >= 3*time.Second { // a fourth of the session's time, and a pause
			return fmt.Errorf("the try took %s", took)
		}
		return goesOn(t, r, session)
	})
}

// A connection that went silent, and the next one that nobody answers on, do not cost the session together.
func TestASilentAndAnUnansweredConnectionDoNotCostTheSession(t *testing.T) {
	t.Parallel()
	const ttl = 12 * time.Second
	mute := neverAnswers(t)
	despiteStalls(t, ttl/16, func() error {
		wire := proxy.Start(t, sharedServer(t).Address())
		var dialed atomic.Int64
		third := make(chan struct{})
		r := open(t, func(c *zkcompat.Config) {
			c.SessionTimeout, c.DialTimeout = ttl, time.Minute
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				switch dialed.Add(1) {
				case 1:
					address = wire.Address()
				case 2:
					address = mute
				case 3:
					close(third)
				}
				return new(net.Dialer).DialContext(ctx, network, address)
			}
		})
		session, err := r.Session(t.Context())
		require.NoError(t, err)
		require.Equal(t, ttl, session.TTL())
		wire.Cut()
		select {
		case <-third:
		case <-session.Done():
			return session.Err()
		}
		return goesOn(t, r, session)
	})
}
