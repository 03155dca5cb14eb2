package embedded

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/tlstest"
)

// soon is how long a stop may take that has to leave connections, on a busy machine, too.
const soon = 10 * time.Second

// What an HTTP/2 client sends first. One that stands still then has not said all that gRPC waits for.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// A connection that says nothing, or too little, holds up neither a stop nor a start at the same place, wherever it is.
func TestSilentConnectionsDoNotHoldUpAStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	tlstest.New(t).Issue(cert, key, "server", "127.0.0.1")
	client := func(s *Server) string { return s.place.client.Host }
	peer := func(s *Server) string { return s.place.peer.Host }
	apart := func(s *Server) string { return s.opts.httpAddress }
	for name, test := range map[string]struct {
		opts  []Option
		where func(*Server) string
		says  string
	}{
		"clients":                   {nil, client, ""},
		"clients, a little":         {nil, client, "PRI * HT"},
		"clients, a preface":        {nil, client, preface},
		"clients by TLS":            {[]Option{WithTLS(cert, key, "")}, client, ""},
		"clients by TLS, a little":  {[]Option{WithTLS(cert, key, "")}, client, "\x16\x03\x01"},
		"clients by gRPC alone":     {[]Option{WithSeparateHTTP()}, client, ""},
		"clients by gRPC and TLS":   {[]Option{WithSeparateHTTP(), WithTLS(cert, key, "")}, client, ""},
		"clients by HTTP":           {[]Option{WithSeparateHTTP()}, apart, ""},
		"clients by HTTP and TLS":   {[]Option{WithSeparateHTTP(), WithTLS(cert, key, "")}, apart, ""},
		"another member":            {nil, peer, ""},
		"another member, a request": {nil, peer, "GET /version HTTP/1.1\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), append(test.opts, WithFastTest(), WithDir(t.TempDir()), impatient)...)
			require.NoError(t, err)
			for _, end := range []func(*Server){(*Server).Stop, (*Server).Kill} {
				open(t, test.where(s), test.says)
				begin := time.Now()
				end(s)
				require.Less(t, time.Since(begin), soon)
				require.NoError(t, s.Restart(t.Context()))
			}
			open(t, test.where(s), test.says)
			begin := time.Now()
			require.NoError(t, s.Close())
			require.Less(t, time.Since(begin), soon)

			again, err := Start(t.Context(), WithFastTest(), WithDir(filepath.Dir(s.Dir())))
			require.NoError(t, err, "the folder is free")
			require.NoError(t, again.Close())
		})
	}
}

// A leader that connections hold up hands over all the same, and the cluster closes.
func TestSilentConnectionsInACluster(t *testing.T) {
	t.Parallel()
	c, err := StartCluster(t.Context(), 3, WithFastTest(), WithHeartbeat(100*time.Millisecond, time.Second), impatient)
	require.NoError(t, err)
	for _, m := range c.Members() {
		open(t, m.place.client.Host, "")
		open(t, m.place.peer.Host, "")
	}
	leader, err := c.Leader(t.Context())
	require.NoError(t, err)
	begin := time.Now()
	leader.Stop()
	require.Less(t, time.Since(begin), soon)
	_, err = c.Leader(t.Context())
	require.NoError(t, err)
	begin = time.Now()
	require.NoError(t, c.Close())
	require.Less(t, time.Since(begin), 2*soon)
	require.NoDirExists(t, filepath.Dir(leader.Dir()))
}

// An etcd that does not stop is told, and nobody takes its folder from it until it has.
func TestAnEtcdThatDoesNotStop(t *testing.T) {
	t.Parallel()
	stuck := stuckHandler{stuck: new(atomic.Bool), release: make(chan struct{})}
	s, err := Start(t.Context(), WithFastTest(), WithLogger(slog.New(stuck)), impatient, func(o *options) error {
		o.stopTime = 100 * time.Millisecond
		return nil
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(filepath.Dir(s.Dir()))) })
	stuck.stuck.Store(true)
	err = s.Close()
	require.ErrorContains(t, err, "etcd in "+s.Dir()+" has not stopped within 300ms")
	require.DirExists(t, s.Dir())
	require.False(t, s.Running())
	locks := slices.Contains([]string{"linux", "darwin", "freebsd"}, runtime.GOOS)
	if locks {
		_, err = lockFolder(ended(t), s.Dir())
		require.ErrorIs(t, err, ErrInUse)
	}
	close(stuck.release)
	if locks {
		require.Eventually(t, func() bool {
			lock, err := lockFolder(ended(t), s.Dir())
			return err == nil && lock.Close() == nil
		}, soon, 10*time.Millisecond)
	}
	require.NoError(t, s.Close())
}

func impatient(o *options) error {
	o.closeTime = 200 * time.Millisecond
	return nil
}

// open connects, says what it is to say, and returns when the server has accepted that: it accepts in turn.
func open(t *testing.T, address, says string) {
	t.Helper()
	for _, text := range []string{says, "GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = conn.Write([]byte(text))
		require.NoError(t, err)
		if text != says {
			_, _ = conn.Read(make([]byte, 1)) // an answer, or the end of the connection
		}
	}
}

func ended(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// stuckHandler is a log of which nobody reads any more, from a moment on.
type stuckHandler struct {
	stuck   *atomic.Bool
	release chan struct{}
}

func (h stuckHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h stuckHandler) Handle(context.Context, slog.Record) error {
	if h.stuck.Load() {
		<-h.release
	}
	return nil
}

func (h stuckHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h stuckHandler) WithGroup(string) slog.Handler { return h }
