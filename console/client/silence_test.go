package client

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// network is one of pipes, which lives in a bubble: it brings connections to a server, and may swallow what they carry.
type network struct {
	to     chan net.Conn
	closed chan struct{}
	dialed atomic.Int32
	dead   atomic.Int32 // the connections up to this one bring nothing any more, and do not say so
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.to:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { close(n.closed); return nil }
func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	n.to <- theirs
	return &swallowing{Conn: ours, of: n, number: n.dialed.Add(1)}, nil
}

type swallowing struct {
	net.Conn
	of     *network
	number int32
}

func (s *swallowing) Write(p []byte) (int, error) {
	if s.number <= s.of.dead.Load() {
		return len(p), nil
	}
	return s.Conn.Write(p)
}

// inBubble has a test talk to a server, in virtual time.
func inBubble(t *testing.T, scheme string, answer http.HandlerFunc, test func(t *testing.T, n *Namespace, wire *network)) {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.EnableHTTP2 = true
	certified.StartTLS()
	ours, theirs := certified.Client().Transport.(*http.Transport).TLSClientConfig, certified.TLS
	certified.Close()
	synctest.Test(t, func(t *testing.T) {
		wire := &network{to: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: answer, TLSConfig: theirs.Clone(), ReadHeaderTimeout: time.Hour}
		served := make(chan error, 1)
		go func() {
			if scheme == "https" {
				served <- server.ServeTLS(wire, "", "")
				return
			}
			served <- server.Serve(wire)
		}()
		n, err := Open(Config{URL: scheme + "://example.com", Namespace: "shop", TLS: &tls.Config{RootCAs: ours.RootCAs, MinVersion: tls.VersionTLS12}})
		require.NoError(t, err)
		n.http.Transport.(*http.Transport).DialContext = wire.dial
		defer func() {
			require.NoError(t, n.Close(context.Background()))
			require.NoError(t, server.Close())
			require.ErrorIs(t, <-served, http.ErrServerClosed)
		}()
		test(t, n, wire)
	})
}

const noNodes = `{"nodes":[],"revision":7}`

// Connections that a balancer or a firewall has dropped without a word cost a read some time, and are not used any more.
func TestDeadConnectionsAreLeft(t *testing.T) {
	t.Parallel()
	for scheme, within := range map[string]time.Duration{"https": silence, "http": answerTime + 2*time.Second} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			inBubble(t, scheme, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Second)
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(noNodes))
			}, func(t *testing.T, n *Namespace, wire *network) {
				t.Helper()
				list := func() {
					began := time.Now()
					_, revision, err := n.List(t.Context(), registry.Root)
					assert.NoError(t, err)
					assert.Equal(t, registry.Revision(7), revision)
					assert.LessOrEqual(t, time.Since(began), within)
				}
				for _, atOnce := range []int{3, 1, 1} {
					var lists sync.WaitGroup
					for range atOnce {
						lists.Go(list)
					}
					lists.Wait()
					wire.dead.Store(wire.dialed.Load())
				}
			})
		})
	}
}

// A read that is given up in silence takes the next one no longer to the connection on which nobody answers.
func TestADeadConnectionOfShortReads(t *testing.T) {
	t.Parallel()
	inBubble(t, "https", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(noNodes))
	}, func(t *testing.T, n *Namespace, wire *network) {
		t.Helper()
		failed := 0
		for began := time.Now(); time.Since(began) < 5*time.Minute; time.Sleep(time.Second) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // as who watches a list asks whether anybody is there
			_, _, err := n.List(ctx, registry.Root)
			cancel()
			if err != nil {
				failed++
			}
			wire.dead.Store(1)
		}
		require.LessOrEqual(t, failed, 7)
		require.Equal(t, int32(2), wire.dialed.Load())
	})
}

// An answer that breaks off in its middle, in silence, is waited for within bounds; one that comes slowly is taken.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			var slowly atomic.Bool
			answer := func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for n, part := range strings.SplitAfter(noNodes, ",") {
					_, _ = w.Write([]byte(part + strings.Repeat(" ", 8192)))
					w.(http.Flusher).Flush()
					if n == 0 && !slowly.Load() {
						<-r.Context().Done()
						return
					}
					time.Sleep(silence - time.Second)
				}
			}
			inBubble(t, scheme, answer, func(t *testing.T, n *Namespace, _ *network) {
				t.Helper()
				began := time.Now()
				_, _, err := n.List(t.Context(), registry.Root)
				require.EqualError(t, err, "server: the answer broke off: nothing more of it came for 30s")
				require.Equal(t, silence, time.Since(began))
				slowly.Store(true)
				_, _, err = n.List(t.Context(), registry.Root)
				require.NoError(t, err)

				slowly.Store(false)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, _, err = n.List(ctx, registry.Root)
				require.EqualError(t, err, "server: context deadline exceeded")
			})
		})
	}
}

// Who waits for what is newer asks again when the answer breaks off.
func TestHalfOfWhatIsNewer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inBubble(t, "http", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		half := noNodes
		if asked.Add(1) == 1 {
			half = noNodes[:9]
		}
		_, _ = w.Write([]byte(half))
		w.(http.Flusher).Flush()
		if half != noNodes {
			<-r.Context().Done()
		}
	}, func(t *testing.T, n *Namespace, _ *network) {
		t.Helper()
		began := time.Now()
		_, revision, err := n.Newer(t.Context(), 6)
		require.NoError(t, err)
		require.Equal(t, registry.Revision(7), revision)
		require.Less(t, time.Since(began), silence+time.Second)
	})
}
