package zkcompat_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

const opCloseSession = 0xfffffff5 // -11

// taciturn is a connection on which what is to be said as a farewell comes to something else.
type taciturn struct {
	net.Conn
	instead func(conn net.Conn, farewell []byte) (int, error)
}

func (c taciturn) Write(frame []byte) (int, error) {
	if binary.BigEndian.Uint32(frame[8:]) == opCloseSession {
		return c.instead(c.Conn, frame)
	}
	return c.Conn.Write(frame)
}

// hastily waits for no server for long.
func hastily(c *zkcompat.Config) { c.DialTimeout = time.Second }

// A farewell that does not get through, or is not answered, is said again on the next connection.
func TestAFarewellIsSaidUntilItIsHeard(t *testing.T) {
	t.Parallel()
	for name, instead := range map[string]func(net.Conn, []byte) (int, error){
		"it breaks the connection": func(conn net.Conn, _ []byte) (int, error) {
			return 0, errors.Join(io.ErrClosedPipe, conn.Close())
		},
		"it gets lost": func(_ net.Conn, farewell []byte) (int, error) { return len(farewell), nil },
		"the answer gets lost": func(conn net.Conn, farewell []byte) (int, error) {
			n, err := conn.Write(farewell)
			return n, errors.Join(err, conn.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said atomic.Int64
			d := dials{wrap: func(_ int, conn net.Conn) net.Conn {
				return taciturn{conn, func(conn net.Conn, farewell []byte) (int, error) {
					if said.Add(1) <= 2 {
						return instead(conn, farewell)
					}
					return conn.Write(farewell)
				}}
			}}
			r, other := open(t, steadily, d.on, hastily), open(t)
			session, err := r.Session(t.Context())
			require.NoError(t, err)
			put(t, r, registry.PutOwned("/owned", "", session))
			ctx, cancel := context.WithTimeout(t.Context(), steadyTTL/2)
			defer cancel()
			require.NoError(t, r.Close(ctx))
			_, err = other.Get(t.Context(), "/owned")
			require.ErrorIs(t, err, registry.ErrNotFound)
		})
	}
}

// A farewell on a silent connection, and then on one that nobody answers on, leaves time for another one.
func TestAFarewellIsSaidAfterAnUnansweredConnection(t *testing.T) {
	t.Parallel()
	const ttl = 8 * time.Second
	mute, other := neverAnswers(t), open(t, steadily)
	despiteStalls(t, ttl*3/8, func() error {
		wire := proxy.Start(t, sharedServer(t).Address())
		var dialed atomic.Int64
		r := open(t, func(c *zkcompat.Config) {
			c.SessionTimeout, c.DialTimeout = ttl, time.Minute
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				switch dialed.Add(1) {
				case 1:
					address = wire.Address()
				case 2:
					address = mute
				}
				return new(net.Dialer).DialContext(ctx, network, address)
			}
		})
		session, err := r.Session(t.Context())
		require.NoError(t, err)
		require.Equal(t, ttl, session.TTL())
		_, err = r.Commit(t.Context(), registry.Txn{
			Then: []registry.Write{registry.PutOwned("/owned", "", session)}, Repeat: registry.RepeatHarmless,
		})
		if err != nil {
			return err
		}
		wire.Cut()
		if err := r.Close(t.Context()); err != nil {
			return err
		}
		if _, err := other.Get(t.Context(), "/owned"); !errors.Is(err, registry.ErrNotFound) {
			return fmt.Errorf("what it owned is there: %w", err)
		}
		if n := dialed.Load(); n != 3 {
			return fmt.Errorf("it connected %d times", n)
		}
		return nil
	})
}
