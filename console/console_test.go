package console_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console"
	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// site is a console that serves a namespace in memory.
type site struct {
	url    string
	reg    *memory.Registry
	cancel context.CancelFunc
	served chan error

	mu      sync.Mutex
	awaited map[string]chan struct{} // closed when the server reads a request that holds the text
}

// arrives returns what is closed when the server has read a request for a path.
func (s *site) arrives(path string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	arrived := make(chan struct{})
	s.awaited = map[string]chan struct{}{path: arrived}
	return arrived
}

// hearing is a listener that tells a site what the server reads.
type hearing struct {
	net.Listener
	site *site
}

func (h hearing) Accept() (net.Conn, error) {
	conn, err := h.Listener.Accept()
	return heard{conn, h.site}, err
}

type heard struct {
	net.Conn
	site *site
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	h.site.mu.Lock()
	defer h.site.mu.Unlock()
	for text, arrived := range h.site.awaited {
		if bytes.Contains(p[:n], []byte(text)) {
			delete(h.site.awaited, text)
			close(arrived)
		}
	}
	return n, err
}

// start serves until the test ends.
func start(t *testing.T, who access.Config) *site {
	t.Helper()
	s := &site{reg: memory.NewServer().Open("shop", memory.WithTTL(time.Minute)), served: make(chan error, 1)}
	_, err := s.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put("/orders/config", `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":1}`),
	}})
	require.NoError(t, err)
	server, err := console.New(t.Context(), console.Config{Namespaces: []console.Namespace{{Name: "shop", Registry: s.reg}}, Access: who})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() { s.served <- server.Serve(ctx, hearing{listener, s}, nil) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-s.served)
		require.NoError(t, s.reg.Close(context.Background()))
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// receive returns what comes within a minute.
func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(time.Minute):
		require.Fail(t, "nothing came within a minute")
	}
	return value
}

// get returns what stands at a path.
func (s *site) get(t *testing.T, path string) (status int, body string, header http.Header) {
	t.Helper()
	return s.getAs(t, path, "")
}

// getAs is get with a token.
func (s *site) getAs(t *testing.T, path, token string) (status int, body string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := plain.Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text), response.Header
}

// The parts lie where they are to lie, with and without a prefix that a proxy leaves on or takes off.
func TestPartsTogether(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"plain": "", "below a prefix": "/cron"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, access.Config{Prefix: prefix})
			ways := []string{prefix}
			if prefix != "" {
				ways = append(ways, "")
				status, _, header := s.get(t, prefix)
				require.Equal(t, http.StatusPermanentRedirect, status)
				require.Equal(t, prefix+"/", header.Get("Location"))
			}
			for _, at := range ways {
				status, _, header := s.get(t, at+"/")
				require.Equal(t, http.StatusSeeOther, status)
				require.Equal(t, prefix+"/ns/shop/", header.Get("Location"))
				status, body, header := s.get(t, at+"/ns/shop/")
				require.Equal(t, http.StatusOK, status)
				require.Contains(t, body, `<base href="`+prefix+`/"`)
				require.Contains(t, header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
				status, body, _ = s.get(t, at+"/api/v1/namespaces/shop/jobs")
				require.Equal(t, http.StatusOK, status)
				require.Contains(t, body, `"job":"orders"`)
				for _, path := range []string{"/live", "/ready"} {
					status, body, _ = s.get(t, at+path)
					require.Equal(t, http.StatusOK, status)
					require.Equal(t, "ok\n", body)
				}
				status, _, _ = s.get(t, at+"/api/v2/x")
				require.Equal(t, http.StatusNotFound, status)
			}
		})
	}
}

// Where somebody is asked who they are, nothing but the login, what it loads and the probes is for everybody; a token
// opens what it grants, and the client carries it.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	token, stored := access.NewToken()
	users := filepath.Join(t.TempDir(), "users.yaml")
	require.NoError(t, os.WriteFile(users, []byte("tokens: {deploy: {sha256: "+stored+", end: 2099-01-01T00:00:00Z, grants: [{role: operator, namespace: shop}]}}\n"), 0o600))
	s := start(t, access.Config{UsersFile: users})
	status, _, _ := s.get(t, "/api/v1/me")
	require.Equal(t, http.StatusUnauthorized, status)
	status, _, header := s.get(t, "/ns/shop/")
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, header.Get("Location"), "/login")
	status, body, _ := s.get(t, "/login")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "password")
	status, _, _ = s.get(t, "/ready")
	require.Equal(t, http.StatusOK, status)

	shop, err := client.Open(client.Config{URL: s.url, Namespace: "shop", Token: token, Agent: "elasticron v9"})
	require.NoError(t, err)
	defer func() { require.NoError(t, shop.Close(context.Background())) }()
	result, err := shop.DisableJob(t.Context(), "orders", operate.Options{Reason: "locked"})
	require.NoError(t, err)
	require.NotZero(t, result.Revision)
	var operations []operate.Operation
	require.EventuallyWithT(t, func(c *assert.CollectT) { // the copy of the server may be late
		ns, err := operate.ReadNamespace(t.Context(), shop, time.Now())
		require.NoError(c, err)
		operations = ns.Operations("orders")
		require.NotEmpty(c, operations)
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, "deploy", operations[0].Who)
	require.Equal(t, "elasticron v9, by token", operations[0].How)
	_, err = shop.Remove(t.Context(), "orders", operate.Options{})
	require.ErrorContains(t, err, "you may not administer job orders")
	_, _, err = shop.WithSecrets().List(t.Context(), registry.Root)
	require.ErrorContains(t, err, "you may not administer")
}

// A removal whose answer was lost does not remove the job that somebody has created since, not even by force.
func TestALostRemovalSparesTheNextJob(t *testing.T) {
	t.Parallel()
	s := start(t, access.Config{})
	config, err := s.reg.Get(t.Context(), "/orders/config")
	require.NoError(t, err)
	at, err := url.Parse(s.url)
	require.NoError(t, err)
	removals := 0
	behind := httputil.NewSingleHostReverseProxy(at)
	behind.ModifyResponse = func(r *http.Response) error {
		if !strings.HasSuffix(r.Request.URL.Path, "/remove") {
			return nil
		}
		if removals++; removals > 1 {
			return nil
		}
		_, err := s.reg.Get(r.Request.Context(), config.Path)
		assert.ErrorIs(t, err, registry.ErrNotFound, "it was removed")
		_, err = s.reg.Commit(r.Request.Context(), registry.Txn{Then: []registry.Write{registry.Put(config.Path, config.Value)}})
		assert.NoError(t, err)
		panic(http.ErrAbortHandler)
	}
	front := httptest.NewServer(behind)
	defer front.Close()
	shop, err := client.Open(client.Config{URL: front.URL, Namespace: "shop"})
	require.NoError(t, err)
	defer func() { require.NoError(t, shop.Close(context.Background())) }()
	_, err = shop.Remove(t.Context(), "orders", operate.Options{Force: true})
	cause, _ := operate.IsRefused(err)
	require.Equal(t, operate.CauseOvertaken, cause, "%v", err)
	require.Equal(t, 2, removals)
	_, err = s.reg.Get(t.Context(), config.Path)
	require.NoError(t, err)
	require.NoError(t, func() error { _, err := shop.Remove(t.Context(), "orders", operate.Options{}); return err }())
}

// A stop ends streams at once, and does not wait for them.
func TestAStopEndsStreams(t *testing.T) {
	t.Parallel()
	s := start(t, access.Config{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/namespaces/shop/events?topic=overview", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "event: overview") {
	}
	require.Equal(t, "event: overview", lines.Text())
	s.cancel()
	for lines.Scan() {
	}
	err = <-s.served
	s.served <- err
	require.NoError(t, err)
}

// Nor does it wait for who asks for what is newer, which may take twice as long as a stop waits.
func TestAStopAnswersWhoWaits(t *testing.T) {
	t.Parallel()
	s := start(t, access.Config{})
	_, _, header := s.get(t, "/api/v1/namespaces/shop/nodes")
	after := strings.Trim(header.Get("ETag"), `"`)
	require.NotEmpty(t, after)
	path := "/api/v1/namespaces/shop/nodes?after=" + after
	arrived := s.arrives(path)
	answered := make(chan string, 1)
	go func() {
		response, err := http.Get(s.url + path)
		if err != nil {
			answered <- err.Error()
			return
		}
		_ = response.Body.Close()
		answered <- response.Status
	}()
	receive(t, arrived)
	select {
	case status := <-answered:
		require.Fail(t, "it does not wait", status)
	case <-time.After(500 * time.Millisecond):
	}
	s.cancel()
	stopped := time.Now()
	require.Equal(t, "304 Not Modified", receive(t, answered))
	err := <-s.served
	s.served <- err
	require.NoError(t, err)
	require.Less(t, time.Since(stopped), console.StopTime)
}

func TestNobodyIsAskedOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	server, err := console.New(t.Context(), console.Config{Namespaces: []console.Namespace{{Name: "shop", Registry: reg}}})
	require.NoError(t, err)
	err = server.Serve(t.Context(), elsewhere{}, nil)
	require.ErrorIs(t, err, console.ErrInvalidOption)
	require.ErrorContains(t, err, "listens on loopback only")
	server.Close()
}

// elsewhere is a listener that others reach.
type elsewhere struct{ net.Listener }

func (elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }
func (elsewhere) Close() error   { return nil }

func TestSettings(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	shop := console.Namespace{Name: "shop", Registry: reg}
	for want, c := range map[string]console.Config{
		"Namespaces is empty": {}, `"shop" is given twice`: {Namespaces: []console.Namespace{shop, shop}},
		"without a slash":           {Namespaces: []console.Namespace{{Name: "a/b", Registry: reg}}},
		"registry of namespace":     {Namespaces: []console.Namespace{{Name: "a"}}},
		"are the server's own":      {Namespaces: []console.Namespace{shop}, Access: access.Config{Public: func(string) bool { return true }}},
		"must begin with one slash": {Namespaces: []console.Namespace{shop}, Access: access.Config{Prefix: "cron"}},
		"no such file":              {Namespaces: []console.Namespace{shop}, Access: access.Config{UsersFile: "/no/users.yaml"}},
	} {
		_, err := console.New(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
}

// What the server says of itself is for who may see all its namespaces. Programs that may not are told so, and not sent to
// a login page, which they would take for an answer.
func TestMetrics(t *testing.T) {
	t.Parallel()
	open := start(t, access.Config{})
	open.get(t, "/api/v1/namespaces/shop/jobs")
	status, body, header := open.get(t, "/metrics")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, header.Get("Content-Type"), "text/plain")
	for _, line := range []string{
		`elasticron_console_connected{registry_namespace="shop"} 1`, `elasticron_console_jobs{registry_namespace="shop"} 1`, "elasticron_console_streams 0",
		`elasticron_console_requests_total{part="api",status="2xx"} 1`, "process_open_fds ", "go_goroutines ",
	} {
		require.Contains(t, body, line)
	}

	seesShop, ofShop := access.NewToken()
	seesOther, ofOther := access.NewToken()
	users := filepath.Join(t.TempDir(), "users.yaml")
	hash, err := access.HashPassword("correct horse")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(users, []byte("users: {anna: {password: '"+hash+"', grants: [{role: viewer, namespace: shop}]}}\n"+
		"tokens:\n  prometheus: {sha256: "+ofShop+", end: 2099-01-01T00:00:00Z, grants: [{role: viewer, namespace: shop}]}\n"+
		"  other: {sha256: "+ofOther+", end: 2099-01-01T00:00:00Z, grants: [{role: admin, namespace: bank}]}\n"), 0o600))
	s := start(t, access.Config{UsersFile: users})
	for token, want := range map[string]int{"": http.StatusUnauthorized, "x": http.StatusUnauthorized, seesOther: http.StatusForbidden, seesShop: http.StatusOK} {
		status, body, _ := s.getAs(t, "/metrics", token)
		require.Equal(t, want, status)
		require.Equal(t, want == http.StatusOK, strings.Contains(body, "elasticron_console_connected"))
	}
	for _, password := range []string{"wrong", "correct horse"} {
		form := strings.NewReader(url.Values{"name": {"anna"}, "password": {password}}.Encode())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/login", form)
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := plain.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		for _, method := range []string{http.MethodGet, http.MethodGet, http.MethodPost} { // the last one logs out
			path := map[string]string{http.MethodGet: "/api/v1/me", http.MethodPost: "/logout"}[method]
			again, err := http.NewRequestWithContext(t.Context(), method, s.url+path, nil)
			require.NoError(t, err)
			for _, c := range answer.Cookies() {
				again.AddCookie(c)
			}
			if method == http.MethodPost {
				_, body, _ := s.getAs(t, "/metrics", seesShop)
				require.Contains(t, body, fmt.Sprintf("elasticron_console_sessions %d", min(len(answer.Cookies()), 1)))
			}
			got, err := plain.Do(again)
			require.NoError(t, err)
			require.NoError(t, got.Body.Close())
		}
	}
	_, body, _ = s.getAs(t, "/metrics", seesShop)
	for _, line := range []string{
		`elasticron_console_logins_total{outcome="failed"} 1`, `elasticron_console_logins_total{outcome="ok"} 1`, "elasticron_console_sessions 0",
	} {
		require.Contains(t, body, line)
	}
}

// The process lives as long as the copies of its namespaces are looked after, whether the registry answers or not. A copy
// that nobody looks after any more is no live one, and a new start helps.
func TestACopyThatStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("shop")
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		var log bytes.Buffer
		server, err := console.New(t.Context(), console.Config{
			Namespaces: []console.Namespace{{Name: "shop", Registry: reg}}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		require.NoError(t, err)
		defer server.Close()
		ask := func(path string) (int, string) {
			answer := httptest.NewRecorder()
			server.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil))
			return answer.Code, answer.Body.String()
		}
		for _, cut := range []bool{false, true} {
			if cut {
				reg.Cut()
			}
			time.Sleep(time.Hour)
			status, _ := ask("/live")
			require.Equal(t, http.StatusOK, status)
		}
		status, _ := ask("/ready")
		require.Equal(t, http.StatusServiceUnavailable, status)
		reg.Heal()
		server.Close() // which ends that, for want of another way to have it stand still
		time.Sleep(time.Minute)
		status, text := ask("/live")
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, "stands still\n", text, "anybody may ask, and is told no names")
		require.Contains(t, log.String(), `msg="a namespace stands still" namespace=shop since=1m`)
	})
}

// Two servers behind a proxy that sends each request to the other one, while others write: a namespace of several pages is
// read.
func TestPagesOfTwoServers(t *testing.T) {
	t.Parallel()
	store := memory.NewServer()
	reg := store.Open("shop", memory.WithTTL(time.Minute))
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	large := strings.Repeat("x", 64<<10)
	const nodes = 100
	for i := range nodes {
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(fmt.Sprintf("/large/sharding/%d/record", i), large)}})
		require.NoError(t, err)
	}
	var servers [2]http.Handler
	for i := range servers {
		its := store.Open("shop", memory.WithTTL(time.Minute))
		server, err := console.New(t.Context(), console.Config{Namespaces: []console.Namespace{{Name: "shop", Registry: its}}})
		require.NoError(t, err)
		defer func() {
			server.Close()
			require.NoError(t, its.Close(context.Background()))
		}()
		servers[i] = server.Handler()
	}
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := reg.Commit(r.Context(), registry.Txn{Then: []registry.Write{registry.Put("/other/config", strconv.Itoa(int(asked.Load())))}})
		assert.NoError(t, err)
		servers[asked.Add(1)%2].ServeHTTP(w, r)
	}))
	defer proxy.Close()
	n, err := client.Open(client.Config{URL: proxy.URL, Namespace: "shop"})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close(context.Background())) }()
	read, _, err := n.List(t.Context(), "/large")
	require.NoError(t, err)
	require.Len(t, read, nodes)
	require.LessOrEqual(t, asked.Load(), int32(8))
}
