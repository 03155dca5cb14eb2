package etcd_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

func TestServerTime(t *testing.T) {
	t.Parallel()
	r := open(t, sharedServer(t).Endpoints())
	requireServerTime(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.ServerTime(ctx)
	require.ErrorIs(t, err, registry.ErrUnavailable)
}

// requireServerTime requires that a store on this machine has this machine's time. It tells it in whole seconds.
func requireServerTime(t *testing.T, r *etcd.Registry) {
	t.Helper()
	before := time.Now()
	now, err := r.ServerTime(t.Context())
	require.NoError(t, err)
	require.WithinRange(t, now, before.Add(-2*time.Second), time.Now().Add(2*time.Second))
	require.Equal(t, now, now.Round(0), "without a monotonic reading")
}

func TestServerTimeWhereHTTPIsElsewhere(t *testing.T) {
	t.Parallel()
	server := startServer(t, etcdserver.WithSeparateHTTP())
	r := open(t, server.Endpoints())
	_, err := r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnsupported)
}

// listens has a port of this machine answer each connection in its own way, and returns its address.
func listens(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				answer(conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	return l.Addr().String()
}

// hears waits for a request.
func hears(conn net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(conn)) }

// Only what answers, and not by HTTP, cannot tell its time. A connection that ends before there is an answer may be that of a
// load balancer, or of a member that starts anew.
func TestServerTimeWhereNoAnswerComes(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate alone
	server.Close()
	config := &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}
	secured := func(answer func(*tls.Conn)) func(net.Conn) {
		return func(conn net.Conn) {
			if over := tls.Server(conn, config); over.Handshake() == nil {
				answer(over)
			}
		}
	}
	answers := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			hears(conn)
			_, _ = io.WriteString(conn, text)
		}
	}
	for name, test := range map[string]struct {
		answer func(net.Conn)
		tls    bool
		want   error
	}{
		"closed at once":     {func(net.Conn) {}, false, registry.ErrUnavailable},
		"closed when asked":  {hears, false, registry.ErrUnavailable},
		"cut off":            {answers("HTT"), false, registry.ErrUnavailable},
		"cut off later":      {answers("HTTP/1.1 200 O"), false, registry.ErrUnavailable},
		"without its header": {answers("HTTP/1.1 200 OK\r\nDa"), false, registry.ErrUnavailable},
		"reset": {func(conn net.Conn) {
			hears(conn)
			_ = conn.(*net.TCPConn).SetLinger(0)
		}, false, registry.ErrUnavailable},
		"without a date":               {answers("HTTP/1.1 200 OK\r\n\r\n"), false, registry.ErrUnsupported},
		"frames of gRPC":               {answers("\x00\x00\x06\x04\x00"), false, registry.ErrUnsupported},
		"something short":              {answers("?"), false, registry.ErrUnsupported},
		"closed over TLS":              {secured(func(conn *tls.Conn) { _ = conn.Close() }), true, registry.ErrUnsupported},
		"closed over TLS when asked":   {secured(func(conn *tls.Conn) { hears(conn); _ = conn.Close() }), true, registry.ErrUnsupported},
		"TLS is cut off":               {secured(func(conn *tls.Conn) { hears(conn) }), true, registry.ErrUnavailable},
		"TLS is cut off, not to begin": {func(net.Conn) {}, true, registry.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme, pool := "http://", x509.NewCertPool()
			if test.tls {
				scheme = "https://"
				pool.AddCert(server.Certificate())
			}
			r := asks(t, func(c *etcd.Config) { c.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12} }, scheme+listens(t, test.answer))
			_, err := r.ServerTime(t.Context())
			require.ErrorIs(t, err, test.want)
			require.Equal(t, test.want == registry.ErrUnsupported, errors.Is(err, registry.ErrUnsupported), err) //nolint:errorlint // which of the two is wanted
		})
	}
}

// Where nothing is said over TLS, no authorities are needed.
func TestServerTimeInTheOpenNeedsNoAuthorities(t *testing.T) {
	t.Parallel()
	member := httptest.NewServer(http.NotFoundHandler())
	defer member.Close()
	_, err := asks(t, func(c *etcd.Config) {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		c.RootCAs = func() (*x509.CertPool, error) { return nil, errors.New("no such file") }
	}, member.URL).ServerTime(t.Context())
	require.NoError(t, err)
}

// As long as one of several members has not answered, it may be the one that tells its time.
func TestServerTimeWhereOneOfTwoDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, mute := listens(t, hears), listens(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "\x00\x00\x06\x04\x00") })
	_, err := asks(t, nil, "http://"+mute, "http://"+silent).ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnavailable)
	_, err = asks(t, nil, "http://"+mute, "http://"+mute).ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnsupported)
}

func TestServerTimeOfAnotherMember(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	away, good := newAddress(t, server), server.Endpoints()[0]
	r := open(t, server.Endpoints(), func(c *etcd.Config) { c.Endpoints = []string{away.endpoint(), good[len("http://"):]} })
	require.NoError(t, away.Close())
	away.breakAll()
	_, err := r.ServerTime(t.Context())
	require.NoError(t, err, "an endpoint without a scheme is asked as well, after the one that is down")

	only := startServer(t)
	r = open(t, only.Endpoints())
	only.Stop()
	_, err = r.ServerTime(t.Context())
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.NoError(t, only.Restart(t.Context()))
}

// membersAt returns a registry whose members' clocks are ahead by so much. They tell of nothing else.
func membersAt(t *testing.T, ahead ...time.Duration) *etcd.Registry {
	t.Helper()
	var endpoints []string
	for _, by := range ahead {
		member := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
		}))
		t.Cleanup(member.Close)
		endpoints = append(endpoints, member.URL)
	}
	return asks(t, nil, endpoints...)
}

// asks returns a registry that asks these addresses for their time, and is used for nothing else.
func asks(t *testing.T, set func(*etcd.Config), endpoints ...string) *etcd.Registry {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	cfg := etcd.Config{Namespace: "times", RequestTimeout: time.Minute}
	if set != nil {
		set(&cfg)
	}
	r, err := etcd.New(client, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	return r
}

// One member whose clock is wrong does not decide what time it is, wherever it stands in the list.
func TestTheServerTimeIsTheMiddleOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ahead []time.Duration
		want  time.Duration
	}{
		"the first is behind":    {[]time.Duration{-time.Hour, 0, 0}, 0},
		"the second is ahead":    {[]time.Duration{0, time.Hour, 0}, 0},
		"the third is behind":    {[]time.Duration{0, time.Minute, -time.Hour}, 0},
		"two of five":            {[]time.Duration{time.Hour, 0, 0, time.Hour, 0}, 0},
		"one of two is behind":   {[]time.Duration{-time.Minute, 0}, 0},
		"one of two is ahead":    {[]time.Duration{0, time.Minute}, time.Minute}, // nobody can tell them apart
		"there is but one":       {[]time.Duration{time.Minute}, time.Minute},
		"all are ahead somewhat": {[]time.Duration{9 * time.Minute, 10 * time.Minute, 11 * time.Minute}, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := membersAt(t, test.ahead...)
			now, err := r.ServerTime(t.Context())
			require.NoError(t, err)
			require.WithinDuration(t, time.Now().Add(test.want), now, 5*time.Second)
		})
	}
}

// A member that does not answer is waited for no longer than one request may take, and the others' times count.
func TestTheServerTimeWithoutAMemberThatHangs(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	t.Cleanup(func() {
		close(hung)
		silent.Close()
	})
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.Endpoints, c.RequestTimeout = append(c.Endpoints, silent.URL), 3*time.Second
	})
	requireServerTime(t, r)
}
