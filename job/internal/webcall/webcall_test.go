package webcall_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/internal/webcall"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, limits webcall.Limits, address string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	_, err = webcall.New(limits).Do(t.Context(), req)
	return err
}

// The read timeout is that of each request of a chain of redirects.
func TestTheReadTimeoutOfRedirects(t *testing.T) {
	t.Parallel()
	const read = 8 * time.Second // a busy machine delays an answer by some of the rest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(read * 5 / 8)
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/again", http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	for name, connect := range map[string]time.Duration{"with a bound to connect": 2 * time.Second, "without": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := webcall.Limits{Connect: connect, Read: read, Redirects: 1, Bytes: 10}
			standstill.Retry(t, 250*time.Millisecond, func() error { return get(t, limits, server.URL) })
		})
	}
}

// slowly is a guard that takes a while for each connection, as a network may.
type slowly time.Duration

func (slowly) Allow(*url.URL) error { return nil }

func (s slowly) Dial(string, string, syscall.RawConn) error {
	time.Sleep(time.Duration(s))
	return nil
}

// What is left of the time to connect is not added to the time for the answer.
func TestTheTimeToConnectIsNotForTheAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	begin := time.Now()
	limits := webcall.Limits{Connect: time.Minute, Read: 100 * time.Millisecond, Bytes: 10}
	err := get(t, limits, server.URL)
	require.ErrorIs(t, err, webcall.ErrReadTimeout)
	require.Equal(t, 1, strings.Count(err.Error(), webcall.ErrReadTimeout.Error()), "said once: %s", err)
	require.Less(t, time.Since(begin), 30*time.Second)
}

// Without a bound to connect, connecting takes nothing from the time for the answer, which is bounded all the same.
func TestTheReadTimeoutBeginsWithTheConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/mute":
			<-r.Context().Done()
		case "/away":
			http.Redirect(w, r, "/mute", http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	limits := webcall.Limits{Read: time.Second, Redirects: 1, Bytes: 10, Guard: slowly(1500 * time.Millisecond)}
	standstill.Retry(t, limits.Read/2, func() error { return get(t, limits, server.URL) })
	require.ErrorIs(t, get(t, limits, server.URL+"/mute"), webcall.ErrReadTimeout)
	require.ErrorIs(t, get(t, limits, server.URL+"/away"), webcall.ErrReadTimeout)
}

// Who answers that the connection goes on in another protocol gets no more of it: neither a timeout nor the end of a context
// would end a read of such a connection.
func TestAServerThatSwitchesProtocols(t *testing.T) {
	t.Parallel()
	left := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			defer conn.Close()
			_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nsome of x")
		}
		if err == nil {
			_, err = conn.Read(make([]byte, 1)) // until the client goes
		}
		left <- err
	}))
	t.Cleanup(server.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	require.NoError(t, err)
	var output strings.Builder
	answer, err := webcall.New(webcall.Limits{Bytes: 100, Tail: 100}).DoTo(t.Context(), req, &output)
	require.ErrorIs(t, err, webcall.ErrSwitches)
	require.Equal(t, http.StatusSwitchingProtocols, answer.Status)
	require.Equal(t, "HTTP/1.1 101 Switching Protocols\n\n", output.String())
	require.ErrorIs(t, <-left, io.EOF, "the connection is closed")
}

// careless is a guard that does not come to an answer about a connection.
type careless func() error

func (careless) Allow(*url.URL) error                         { return nil }
func (c careless) Dial(string, string, syscall.RawConn) error { return c() }

// A guard is asked on a goroutine of net/http. Its panic is an error of the call all the same.
func TestAGuardThatPanics(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	var caught *job.PanicError
	require.ErrorAs(t, get(t, webcall.Limits{Guard: careless(func() error { panic("no rules") })}, server.URL), &caught)
	require.Equal(t, "no rules", caught.Value)
	require.ErrorIs(t, get(t, webcall.Limits{Guard: careless(func() error { runtime.Goexit(); return nil })}, server.URL), job.ErrGoexit)
}

// guard allows every address.
type guard struct{}

func (guard) Allow(*url.URL) error                      { return nil }
func (guard) Dial(_, _ string, _ syscall.RawConn) error { return nil }

// A host that its server may read otherwise than the guard is not asked for, whatever the guard says.
func TestTheHostOfAHeader(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	caller := webcall.New(webcall.Limits{Guard: guard{}})
	for host, may := range map[string]bool{
		"shop": true, "shop.internal:8080": true, "a_b-c.SHOP": true, "10.0.0.7": true, "[::1]:80": true, "[fd00::7]": true,
		"admin.internal:80.shop.internal": false, "shop:": false, "shop:123456": false, "shop/x": false, "me@shop": false, "a b": false, "shöp": false,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		req.Host = host
		if _, err = caller.Do(t.Context(), req); may {
			require.NoError(t, err, host)
		} else {
			require.ErrorIs(t, err, webcall.ErrForbidden, host)
		}
	}
}
