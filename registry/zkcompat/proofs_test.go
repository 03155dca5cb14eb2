package zkcompat_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// balloting is a connection that counts the ballots that it sends, or drops them.
type balloting struct {
	net.Conn
	ballots *atomic.Int64
	drop    *atomic.Bool
}

func (c balloting) Write(frame []byte) (int, error) {
	if isBallot(frame) {
		c.ballots.Add(1)
		if c.drop.Load() {
			return len(frame), nil
		}
	}
	return c.Conn.Write(frame)
}

// A ballot is committed, also for a client that may not read what it checks, and nobody is told of it.
func TestABallotChangesNothing(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	plain, _, err := zk.Connect(server.Addresses(), steadyTTL, zk.WithLogInfo(false))
	require.NoError(t, err)
	defer plain.Close()
	require.NoError(t, plain.AddAuth("digest", []byte("admin:secret")))
	_, err = plain.Create("/ballots", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	for _, rights := range []int32{zk.PermAll, zk.PermCreate} {
		_, err = plain.SetACL("/", append(zk.DigestACL(zk.PermAll, "admin", "secret"), zk.WorldACL(rights)...), -1)
		require.NoError(t, err)
		_, before, err := plain.Exists("/")
		require.NoError(t, err)
		_, _, told, err := plain.ExistsW("/")
		require.NoError(t, err)

		var ballots atomic.Int64
		config := configOf(server, "ballots")
		wire := dials{wrap: func(_ int, conn net.Conn) net.Conn { return balloting{conn, &ballots, new(atomic.Bool)} }}
		wire.on(&config)
		r, err := zkcompat.Open(t.Context(), config)
		require.NoError(t, err)
		session, err := r.Session(t.Context())
		require.NoError(t, err)
		_, since, err := r.List(t.Context(), registry.Root)
		require.NoError(t, err)
		first := ballots.Load()
		const times = 9 // a session and a half
		require.Eventually(t, func() bool { return ballots.Load() >= first+times }, time.Minute, time.Millisecond)
		_, now, err := r.List(t.Context(), registry.Root)
		require.NoError(t, err)
		require.GreaterOrEqual(t, now, since+times, "each is a transaction")
		require.NoError(t, session.Err())
		require.NoError(t, r.Close(context.Background()))

		_, after, err := plain.Exists("/")
		require.NoError(t, err)
		require.Equal(t, before, after)
		select {
		case e := <-told:
			require.Failf(t, "somebody is told", "%v", e)
		default:
		}
	}
}

// What a process writes proves its session, and spares it the ballots.
func TestOwnWritesProveTheSession(t *testing.T) {
	t.Parallel()
	for name, followed := range map[string]bool{"by themselves": false, "together": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			despiteStalls(t, testTTL/2, func() error {
				var ballots atomic.Int64
				var drop atomic.Bool
				r := open(t, func(c *zkcompat.Config) {
					wire := dials{wrap: func(_ int, conn net.Conn) net.Conn { return balloting{conn, &ballots, &drop} }}
					wire.on(c)
				})
				session, err := r.Session(t.Context())
				require.NoError(t, err)
				put(t, r, registry.Put("/n", ""))
				if followed {
					_, err := r.View(t.Context(), registry.Root)
					require.NoError(t, err)
				}
				drop.Store(true)
				defer drop.Store(false)
				ctx, giveUp := context.WithCancel(t.Context()) // without ballots, nothing is written after the session
				defer giveUp()
				go func() { <-session.Done(); giveUp() }()
				write := registry.Txn{Then: []registry.Write{registry.Put("/n", "")}, Repeat: registry.RepeatHarmless}
				for begin := time.Now(); time.Since(begin) < 2*session.TTL(); {
					if _, err := r.Commit(ctx, write); err != nil {
						return errors.Join(err, session.Err())
					}
				}
				return session.Err()
			})
		})
	}
}

// slowed is a connection on which no answer comes sooner than some time after its request was sent: how long the server itself
// takes does not matter until then. Events are held up with the answers before them.
type slowed struct {
	net.Conn
	by   time.Duration
	in   *bufio.Reader
	rest bytes.Reader

	mu   sync.Mutex
	sent []time.Time // of the requests that wait for their answers, which come in order
}

func answeredLater(conn net.Conn, by time.Duration) net.Conn {
	return &slowed{Conn: conn, by: by, in: bufio.NewReader(conn)}
}

func (c *slowed) Write(frame []byte) (int, error) {
	c.mu.Lock()
	c.sent = append(c.sent, time.Now())
	c.mu.Unlock()
	return c.Conn.Write(frame)
}

func (c *slowed) Read(p []byte) (int, error) {
	if c.rest.Len() == 0 {
		frame, err := readFrame(c.in)
		if err != nil {
			return 0, err
		}
		if binary.BigEndian.Uint32(frame[4:]) != math.MaxUint32 { // -1, the number of events
			c.mu.Lock()
			sent := c.sent[0]
			c.sent = c.sent[1:]
			c.mu.Unlock()
			time.Sleep(time.Until(sent.Add(c.by)))
		}
		c.rest.Reset(frame)
	}
	return c.rest.Read(p)
}

// Where commits take long, the next proof is sent as soon as it is due, and does not wait for a sixth of the timeout after the
// answer to the last one, too: the session is in no doubt before a commit takes a third of its timeout.
func TestSlowCommitsLeaveNoDoubt(t *testing.T) {
	t.Parallel()
	const ttl = 6 * time.Second
	despiteStalls(t, ttl/20, func() error {
		r := open(t, func(c *zkcompat.Config) {
			c.SessionTimeout = ttl
			wire := dials{wrap: func(_ int, conn net.Conn) net.Conn { return answeredLater(conn, ttl*28/100) }}
			wire.on(c)
		})
		session, err := r.Session(t.Context())
		require.NoError(t, err)
		for over := time.After(2 * ttl); ; {
			changed := session.Changed()
			if state := session.State(); state != registry.SessionConnected {
				return fmt.Errorf("the session is %v", state)
			}
			select {
			case <-changed:
			case <-over:
				return nil
			}
		}
	})
}
