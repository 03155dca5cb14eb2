package zkcompat_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/ports"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// open returns a handle on the test's own namespace of the shared server.
func open(t *testing.T, change ...func(*zkcompat.Config)) *zkcompat.Registry {
	t.Helper()
	config := configOf(sharedServer(t), namespaceOf(t))
	for _, c := range change {
		c(&config)
	}
	r, err := zkcompat.Open(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	return r
}

// namespaces of tests, one for each run of a test, and how many there were.
var (
	namespaces sync.Map
	runs       atomic.Int64
)

func namespaceOf(t *testing.T) string {
	t.Helper()
	fresh := fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), runs.Add(1))
	name, _ := namespaces.LoadOrStore(t, fresh)
	return name.(string)
}

// java returns a plain client of the server, as another program has one.
func java(t *testing.T) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(sharedServer(t).Addresses(), steadyTTL, zk.WithLogInfo(false))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

func TestConfigFaultsNameFieldValueAndWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config zkcompat.Config
		want   []string
	}{
		"empty":      {zkcompat.Config{}, []string{"Servers is empty", "Namespace is empty"}},
		"server":     {zkcompat.Config{Servers: []string{"a:1", "a:1,b:2"}, Namespace: "n"}, []string{`Servers[1] is "a:1,b:2"`, "one host:port"}},
		"chroot":     {zkcompat.Config{Servers: []string{"zk1:2181/apps"}, Namespace: "n"}, []string{`Servers[0] is "zk1:2181/apps"`, "before the namespace"}},
		"IPv6":       {zkcompat.Config{Servers: []string{"[::1]:2181", "[::1]", "::1"}, Namespace: "n"}, []string{`Servers[1] is "[::1]"`, `Servers[2] is "::1"`, "[::1]:2181"}},
		"port":       {zkcompat.Config{Servers: []string{"localhost:"}, Namespace: "n"}, []string{`Servers[0] is "localhost:"`, "a port after the colon"}},
		"namespace":  {zkcompat.Config{Servers: []string{"a"}, Namespace: "/n"}, []string{`namespace "/n"`, "empty segment"}},
		"reserved":   {zkcompat.Config{Servers: []string{"a"}, Namespace: "zookeeper/x"}, []string{`"zookeeper/x"`, "own nodes"}},
		"session":    {zkcompat.Config{Servers: []string{"a"}, Namespace: "n", SessionTimeout: time.Millisecond}, []string{"SessionTimeout is 1ms", "at least 200ms"}},
		"connection": {zkcompat.Config{Servers: []string{"a"}, Namespace: "n", ConnectionTimeout: -1}, []string{"ConnectionTimeout is -1ns", "0 or more"}},
		"dial":       {zkcompat.Config{Servers: []string{"a"}, Namespace: "n", DialTimeout: -1}, []string{"DialTimeout is -1ns", "0 or more"}},
		"digest":     {zkcompat.Config{Servers: []string{"a"}, Namespace: "n", Digest: "secret"}, []string{"Digest has no colon", "user:password"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := zkcompat.Open(t.Context(), tt.config)
			require.ErrorIs(t, err, registry.ErrInvalid)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestNoServerIsSaidWithItsAddress(t *testing.T) {
	t.Parallel()
	nobody, err := ports.Claim(1)
	require.NoError(t, err)
	address := "127.0.0.1:" + nobody[0]
	_, err = zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: []string{address}, Namespace: "n", ConnectionTimeout: 2 * time.Second,
	})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, address)
	require.ErrorContains(t, err, "refused")
}

func TestAServerThatSaysNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	_, err = zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: []string{silent.Addr().String()}, Namespace: "n",
		ConnectionTimeout: 5 * time.Second, DialTimeout: time.Second,
	})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, "no answer to the greeting")
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := zkcompat.Open(ctx, configOf(sharedServer(t), namespaceOf(t)))
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, " before the context ended (context canceled): ")
}

// deaf is a connection on which one kind of request gets lost.
type deaf struct {
	net.Conn
	kind uint32
	lost func()
}

func (c deaf) Write(request []byte) (int, error) {
	if binary.BigEndian.Uint32(request[8:]) == c.kind {
		c.lost()
		return len(request), nil
	}
	return c.Conn.Write(request)
}

// The server may be there and answer everything but the last that Open asks.
func TestOpenEndsWithItsContextWhateverItWaitsFor(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]uint32{"a watch": opAddWatch, "the end of one": opRemoveWatches} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			config := configOf(sharedServer(t), namespaceOf(t))
			config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return deaf{conn, kind, cancel}, nil
			}
			opened := make(chan error, 1)
			go func() {
				_, err := zkcompat.Open(ctx, config)
				opened <- err
			}()
			select {
			case err := <-opened:
				require.ErrorIs(t, err, registry.ErrUnavailable)
				require.ErrorIs(t, err, context.Canceled)
			case <-time.After(20 * time.Second):
				t.Fatal("Open waits")
			}
		})
	}
}

// A server that accepts a connection and says nothing is left for the next one, also if the first word is for TLS, which
// is exchanged when the client says its first.
func TestAServerThatSaysNothingOfTLSIsGivenUp(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	var dialed atomic.Int64
	r := open(t, func(c *zkcompat.Config) {
		c.DialTimeout, c.ConnectionTimeout = time.Second, 30*time.Second
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dialed.Add(1) > 1 {
				return new(net.Dialer).DialContext(ctx, network, address)
			}
			conn, err := new(net.Dialer).DialContext(ctx, network, silent.Addr().String())
			if err != nil {
				return nil, err
			}
			return tls.Client(conn, &tls.Config{ServerName: "zookeeper", MinVersion: tls.VersionTLS12}), nil
		}
	})
	put(t, r, registry.Put("/a", ""))
}

// severed is a connection that breaks when it is to send the last request that is left.
type severed struct {
	net.Conn
	left *atomic.Int64
}

func (c *severed) Write(request []byte) (int, error) {
	if c.left.Add(-1) == 0 {
		return 0, errors.Join(io.ErrClosedPipe, c.Close())
	}
	return c.Conn.Write(request)
}

func TestOpenOutlivesAConnectionThatBreaks(t *testing.T) {
	t.Parallel()
	requests := int64(1)
	for broke := true; broke; requests++ {
		var left atomic.Int64
		left.Store(requests)
		r := open(t, func(c *zkcompat.Config) {
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &severed{Conn: conn, left: &left}, nil
			}
		})
		broke = left.Swap(0) <= 0
		require.NoError(t, r.Close(t.Context()))
	}
	require.Greater(t, requests, int64(5), "a greeting, the namespace, a proof, a read and a watch are more requests")
}

func TestDigestProtectsEveryNode(t *testing.T) {
	t.Parallel()
	mine := open(t, steadily, func(c *zkcompat.Config) { c.Digest = "ours:right" })
	session, err := mine.Session(t.Context())
	require.NoError(t, err)
	_, err = mine.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put("/deep/down/plain", "1"), registry.PutOwned("/owned", "", session),
	}})
	require.NoError(t, err)
	require.NoError(t, mine.Latch(t.Context(), "/deep/latch", func(context.Context) error { return nil }))
	view, err := mine.View(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Equal(t, 2, view.Snapshot().Len())

	plain := java(t)
	for _, path := range []string{"", "/deep", "/deep/down", "/deep/down/plain", "/owned", "/deep/latch"} {
		acl, _, err := plain.GetACL("/" + namespaceOf(t) + path)
		if err != nil {
			require.ErrorIs(t, err, zk.ErrNoAuth, path) // newer servers hide the list itself
			continue
		}
		require.Len(t, acl, 1, path)
		require.Equal(t, "digest", acl[0].Scheme, path)
		require.Equal(t, int32(zk.PermAll), acl[0].Perms, path)
	}
	again := open(t, steadily, func(c *zkcompat.Config) { c.Digest = "ours:right" })
	n, err := again.Get(t.Context(), "/deep/down/plain")
	require.NoError(t, err)
	require.Equal(t, "1", n.Value)
}

// Who only reads leaves nothing behind that would keep others out: neither a wrong digest, nor none.
func TestWhoOnlyReadsMakesNoNamespace(t *testing.T) {
	t.Parallel()
	top, plain := namespaceOf(t), java(t)
	inner := func(digest string) func(*zkcompat.Config) {
		return func(c *zkcompat.Config) { c.Namespace, c.Digest = top+"/inner", digest }
	}
	wrong := open(t, steadily, inner("ours:mistyped"))
	for _, r := range []*zkcompat.Registry{wrong, open(t, steadily, inner(""))} {
		_, err := r.Get(t.Context(), "/orders/config")
		require.ErrorIs(t, err, registry.ErrNotFound)
		names, err := r.Children(t.Context(), registry.Root)
		require.NoError(t, err)
		require.Empty(t, names)
		found, _, err := r.List(t.Context(), registry.Root)
		require.NoError(t, err)
		require.Empty(t, found)
		now, err := r.ServerTime(t.Context())
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), now, time.Minute)
		_, err = r.Commit(t.Context(), registry.Txn{
			If: []registry.Condition{registry.Present("/orders/config")}, Then: []registry.Write{registry.Put("/orders/a", "")},
		})
		require.ErrorIs(t, err, registry.ErrConflict)
		_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/orders/a")}})
		require.NoError(t, err)
	}
	_, err := wrong.View(t.Context(), registry.Root)
	require.NoError(t, err)
	there, _, err := plain.Exists("/" + top)
	require.NoError(t, err)
	require.False(t, there)

	right := open(t, steadily, inner("ours:right"))
	put(t, right, registry.Put("/orders/config", "1"))
	_, err = wrong.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/bills/config", "1")}})
	require.ErrorIs(t, err, registry.ErrDenied)
	now, err := right.ServerTime(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), now, time.Minute)
	require.NoError(t, open(t, steadily, inner("ours:right")).Latch(t.Context(), "/orders/latch", func(context.Context) error { return nil }))
}

// Who may create a namespace learns the server's time before it is there, without the right to delete anything beside it, and
// leaves nothing behind. An error says what is missing.
func TestServerTimeBelowWhereNothingMayBeDeleted(t *testing.T) {
	t.Parallel()
	top, plain := namespaceOf(t), java(t)
	for name, rights := range map[string]int32{"": zk.PermRead | zk.PermCreate, "-read": zk.PermRead} {
		_, err := plain.Create("/"+top+name, []byte{}, 0, zk.WorldACL(rights))
		require.NoError(t, err)
	}
	below := func(name string) func(*zkcompat.Config) {
		return func(c *zkcompat.Config) { c.Namespace = top + name + "/inner" }
	}
	r := open(t, steadily, below(""))
	for range 2 {
		now, err := r.ServerTime(t.Context())
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), now, time.Minute)
	}
	there, _, err := plain.Exists("/" + top + "/inner")
	require.NoError(t, err)
	require.False(t, there)
	require.NoError(t, r.Close(t.Context()))
	require.Eventually(t, func() bool {
		names, _, err := plain.Children("/" + top)
		return err == nil && len(names) == 0
	}, time.Minute, 10*time.Millisecond)

	_, err = open(t, steadily, below("-read")).ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrDenied)
	require.ErrorContains(t, err, `a client without a digest may not create one in "/`+top+`-read"`)
	require.NotContains(t, err.Error(), "another digest")
}

func TestWrongDigestIsDenied(t *testing.T) {
	t.Parallel()
	put(t, open(t, func(c *zkcompat.Config) { c.Digest = "ours:right" }), registry.Put("/a", ""))
	for _, digest := range []string{"", "ours:wrong"} {
		config := configOf(sharedServer(t), namespaceOf(t))
		config.Digest = digest
		_, err := zkcompat.Open(t.Context(), config)
		require.ErrorIs(t, err, registry.ErrDenied)
		require.ErrorContains(t, err, "belongs to another digest than Config.Digest")
		require.ErrorContains(t, err, namespaceOf(t))
		require.NotContains(t, err.Error(), "wrong")
	}
}

func TestNodesOfAnotherDigestAreDenied(t *testing.T) {
	t.Parallel()
	r := open(t)
	put(t, r, registry.Put("/before", ""))
	stranger := java(t)
	require.NoError(t, stranger.AddAuth("digest", []byte("they:secret")))
	_, err := stranger.Create("/"+namespaceOf(t)+"/theirs", []byte("x"), 0, zk.AuthACL(zk.PermAll))
	require.NoError(t, err)
	_, err = r.Get(t.Context(), "/theirs")
	require.ErrorContains(t, err, `a client without a digest lacks the permission to read "/`+namespaceOf(t)+`/theirs"`)
	require.ErrorIs(t, err, registry.ErrDenied)
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/theirs", "y")}})
	require.ErrorIs(t, err, registry.ErrDenied)
	_, err = r.View(t.Context(), registry.Root)
	require.ErrorIs(t, err, registry.ErrDenied)
	require.ErrorContains(t, err, "/"+namespaceOf(t)+"/theirs", "it is named, wherever the view begins")
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/ours", "y")}})
	require.NoError(t, err)
}

// What cannot be the name of a znode is refused with the reason; as a value it is like any other text.
func TestEmoji(t *testing.T) {
	t.Parallel()
	reg := open(t, func(c *zkcompat.Config) { c.Namespace = "emoji" })
	put := func(path string) error {
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(path, "\U0001F680")}})
		return err
	}
	err := put("/orders-\U0001F680/config")
	require.ErrorIs(t, err, registry.ErrInvalid)
	require.ErrorContains(t, err, "such as emoji, in a path")
	require.NoError(t, put("/orders/config"))
	found, err := reg.Get(t.Context(), "/orders/config")
	require.NoError(t, err)
	require.Equal(t, "\U0001F680", found.Value)
}
