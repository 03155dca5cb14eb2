package etcd_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry/etcd"
)

// A connection of which nothing comes any more, not even that what was sent has arrived, as when a firewall has lost its
// state, is given up in time for another one to save the session.
func TestASilentConnectionDoesNotCostTheSession(t *testing.T) {
	t.Parallel()
	const ttl = 3 * time.Second
	despiteStalls(t, sharedServer(t), ttl/4, func() error {
		var silenced atomic.Bool
		calls, next := make(chan net.Conn, 100), make(chan struct{}, 100)
		r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
			c.SessionTTL = ttl
			c.DialOptions = append(c.DialOptions, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				if silenced.Load() {
					next <- struct{}{}
				}
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(address, "http://"))
				if err == nil {
					calls <- conn
				}
				return conn, err
			}))
		})
		session, err := r.Session(t.Context())
		require.NoError(t, err)
		require.Equal(t, ttl, session.TTL())
		silenced.Store(true)
		for len(calls) > 0 {
			silence(t, <-calls)
		}
		select {
		case <-next:
		case <-session.Done():
			return session.Err()
		}
		put(t, r, "/a", "1")
		return session.Err()
	})
}

// silence has the kernel drop whatever comes on a connection.
func silence(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	nothing := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	var failed error
	require.NoError(t, raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing})
	}))
	require.NoError(t, failed)
}
