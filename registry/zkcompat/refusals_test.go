package zkcompat_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// A local session owns no node, and the servers say so in other words, which look as if it would pass.
func TestLocalSessionsThatAreNotUpgradedAreNamed(t *testing.T) {
	t.Parallel()
	servers := zookeeper.StartEnsemble(t, 3, zookeeper.WithConfig("localSessionsEnabled=true"))
	for _, server := range servers { // the leader says it otherwise
		config := configOf(server, "local")
		config.Servers = []string{server.Address()}
		var multis atomic.Int64
		d := dials{wrap: func(_ int, conn net.Conn) net.Conn { return countingMultis{conn, &multis} }}
		d.on(&config)
		r, err := zkcompat.Open(t.Context(), config)
		require.NoError(t, err)
		defer r.Close(context.Background())
		session, err := r.Session(t.Context())
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.PutOwned("/owned", "", session)}})
		require.ErrorIs(t, err, registry.ErrUnsupported)
		require.ErrorContains(t, err, "localSessionsUpgradingEnabled=true")
		sent := multis.Load()
		_, err = r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.PutOwned("/owned", "", session)}})
		require.ErrorIs(t, err, registry.ErrUnsupported)
		require.Equal(t, sent, multis.Load(), "nobody is asked again")
	}
}

// countingMultis is a connection on which transactions are counted, but ballots.
type countingMultis struct {
	net.Conn
	multis *atomic.Int64
}

func (c countingMultis) Write(frame []byte) (int, error) {
	if len(frame) >= 12 && binary.BigEndian.Uint32(frame[8:]) == opMulti && !isBallot(frame) {
		c.multis.Add(1)
	}
	return c.Conn.Write(frame)
}

// Servers that want a proof of who asks say so with an error for which the client has no name.
func TestServersThatLetInOnlyWhoAuthenticatesAreNamed(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.WithJavaFlags("-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=digest"))
	config := configOf(server, "sasl")
	config.ConnectionTimeout = 5 * time.Second
	_, err := zkcompat.Open(t.Context(), config)
	require.ErrorIs(t, err, registry.ErrDenied)
	require.ErrorContains(t, err, "Config.Digest")
	require.ErrorContains(t, err, "SASL is not supported")
}

// A server closes the connection over a request that is too large, and does not say why.
func TestARequestThatTheServerDropsIsNamedWithItsSize(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.WithJavaFlags("-Djute.maxbuffer=262144"))
	r, err := zkcompat.Open(t.Context(), configOf(server, "large"))
	require.NoError(t, err)
	defer r.Close(context.Background())
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/a", strings.Repeat("v", 300<<10))}})
	require.ErrorIs(t, err, registry.ErrUnknownOutcome)
	require.ErrorContains(t, err, "jute.maxbuffer")
	require.ErrorContains(t, err, "after a request of 307")
}

// erring is a connection to a server that answers transactions, but ballots, with an error of which nobody can say whether it
// is for good.
type erring struct {
	net.Conn
	in    *bufio.Reader
	rest  bytes.Reader
	mu    sync.Mutex
	multi map[uint32]bool // by their numbers
}

func (c *erring) Write(frame []byte) (int, error) {
	if len(frame) >= 12 && binary.BigEndian.Uint32(frame[8:]) == opMulti && !isBallot(frame) {
		c.mu.Lock()
		c.multi[binary.BigEndian.Uint32(frame[4:])] = true
		c.mu.Unlock()
	}
	return c.Conn.Write(frame)
}

func (c *erring) Read(p []byte) (int, error) {
	for c.rest.Len() == 0 {
		frame, err := readFrame(c.in)
		if err != nil {
			return 0, err
		}
		c.mu.Lock()
		if len(frame) >= 20 && c.multi[binary.BigEndian.Uint32(frame[4:])] {
			frame = frame[:20]
			binary.BigEndian.PutUint32(frame, 16)
			binary.BigEndian.PutUint32(frame[16:], 0xffffff81) // -127
		}
		c.mu.Unlock()
		c.rest.Reset(frame)
	}
	return c.rest.Read(p)
}

// What a server refuses on and on, with an error that no table calls hopeless, does not wait in silence.
func TestARequestThatIsRefusedOnAndOnIsTold(t *testing.T) {
	t.Parallel()
	log := notedLines{Handler: slog.DiscardHandler, lines: make(chan string, 100)}
	d := dials{wrap: func(_ int, conn net.Conn) net.Conn {
		return &erring{Conn: conn, in: bufio.NewReader(conn), multi: make(map[uint32]bool)}
	}}
	r := open(t, d.on, func(c *zkcompat.Config) { c.Logger = slog.New(log) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 1)
	go func() {
		_, err := r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", "")}})
		over <- err
	}()
	log.await(t, "the registry does not do a request, trying on")
	cancel()
	require.ErrorContains(t, <-over, "throttling")
}
