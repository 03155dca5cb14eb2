package httpjob_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/job/httpjob/callback"
)

var errNotOnTheList = errors.New("not on the list")

// guard allows requests to hosts, and connections to addresses that begin as dial says.
type guard struct {
	hosts string
	dial  string
}

func (g guard) Allow(address *url.URL) error {
	if !strings.Contains(g.hosts, address.Host) {
		return errNotOnTheList
	}
	return nil
}

func (g guard) Dial(_, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(address, g.dial) {
		return errNotOnTheList
	}
	return nil
}

func guarded(t *testing.T, j httpjob.Job, settings map[string]string) job.HandlerFunc {
	t.Helper()
	cfg := job.Config{Name: "warmup", Cron: "0 0 * * * ?", ShardingTotalCount: 3, Class: httpjob.Class, Props: settings}
	code, err := j.Configure(cfg)
	require.NoError(t, err)
	return code
}

// What may not be called is not, neither by a redirect nor by a name that leads elsewhere, and not tried again.
func TestAGuardedCall(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(secret.Close)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/away" {
			http.Redirect(w, r, secret.URL+"/metadata", http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	for name, test := range map[string]struct {
		guard  guard
		path   string
		host   string // that the header names
		passes bool
		calls  int32
	}{
		"allowed":                     {guard{host, "127.0.0.1:"}, "/", "", true, 1},
		"not on the list":             {guard{"example.org", "127.0.0.1:"}, "/", "", false, 0},
		"a redirect to another place": {guard{host, "127.0.0.1:"}, "/away", "", false, 1},
		"a name that leads elsewhere": {guard{host, "10."}, "/", "", false, 0},
		"another host at its address": {guard{host, "127.0.0.1:"}, "/", "admin.internal", false, 0},
		"its own name once more":      {guard{host, "127.0.0.1:"}, "/", "127.0.0.1", true, 1},
		"another that is allowed":     {guard{host + " shop:80", "127.0.0.1:"}, "/", "shop:80", true, 1},
	} {
		asked.Store(0)
		settings := map[string]string{
			"http.uri": server.URL + test.path, "http.method": "POST", "http.data": "x", "http.retries": "3", "http.retry.milliseconds": "1",
		}
		if test.host != "" {
			settings["http.header.Host"] = test.host
		}
		err := guarded(t, httpjob.Job{Guard: test.guard}, settings)(t.Context(), item)
		require.Equal(t, test.calls, asked.Load(), name)
		if test.passes {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, httpjob.ErrForbidden, name)
		require.ErrorIs(t, err, errNotOnTheList, name)
		require.NotContains(t, err.Error(), "admin.internal", "a header may be a secret")
	}
	require.Zero(t, reached.Load())
}

// Every request is signed with what it has: also one to which a redirect leads.
func TestASignedCall(t *testing.T) {
	t.Parallel()
	key := []byte("sixteen bytes or more")
	signer, err := callback.NewSigner([][]byte{key})
	require.NoError(t, err)
	verifier, err := callback.NewVerifier([][]byte{key})
	require.NoError(t, err)
	var paths []string
	server := httptest.NewServer(verifier.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		paths = append(paths, r.Method+" "+r.RequestURI+" "+string(body))
		require.Equal(t, "17", r.Header.Get(httpjob.TokenHeader))
		require.Equal(t, "2026-01-02T03:04:05Z", r.Header.Get(httpjob.FireHeader))
		require.Equal(t, "1", r.Header.Get(httpjob.ItemHeader))
		require.Equal(t, "warmup", r.Header.Get(httpjob.JobHeader))
		status, _ := strconv.Atoi(r.URL.Query().Get("status"))
		if status != 0 {
			http.Redirect(w, r, "/next.html?a=%20b", status)
		}
	})))
	t.Cleanup(server.Close)
	sc := item
	sc.Token, sc.Fire = 17, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, status := range []string{"307", "303"} {
		require.NoError(t, guarded(t, httpjob.Job{Sign: signer.Sign}, map[string]string{
			"http.uri": server.URL + "/first?status=" + status, "http.method": "POST", "http.data": "a.b",
		})(t.Context(), sc))
	}
	require.Equal(t, []string{
		"POST /first?status=307 a.b", "POST /next.html?a=%20b a.b", "POST /first?status=303 a.b", "GET /next.html?a=%20b ",
	}, paths)
}

// Another place to which a redirect leads gets neither the headers of the settings nor a signature, not even those of the
// first request; and it cannot have any address of the first place called with them.
func TestARedirectToAnotherPlace(t *testing.T) {
	t.Setenv("HTTPJOB_KEY", "swordfish")
	signer, err := callback.NewSigner([][]byte{[]byte("sixteen bytes or more")})
	require.NoError(t, err)
	var here string
	got := make(chan http.Header, 4)
	var there *httptest.Server
	there = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		require.Equal(t, there.Listener.Addr().String(), r.Host)
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
			return
		}
		http.Redirect(w, r, here+"/back", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(there.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		if r.URL.Path == "/" {
			http.Redirect(w, r, there.URL, http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(server.Close)
	here = server.URL
	require.NoError(t, guarded(t, httpjob.Job{Sign: signer.Sign}, map[string]string{
		"http.uri": here + "/?token=t", "http.method": "POST", "http.data": "{}", "http.content.type": "application/json",
		"http.header.X-Api-Key": "env:HTTPJOB_KEY", "http.header.X-Plain": "plain", "http.header.Host": "shop",
	})(t.Context(), item))
	require.Len(t, got, 4)
	first := <-got
	require.Equal(t, "swordfish", first.Get("X-Api-Key"))
	require.NotEmpty(t, first.Get(callback.Header))
	for range 3 {
		sent := <-got
		for _, name := range []string{"X-Api-Key", "X-Plain", callback.Header, "Referer"} {
			require.Empty(t, sent.Values(name), name)
		}
		require.Equal(t, "warmup", sent.Get(httpjob.JobHeader))
		require.Equal(t, item.JSON(), sent.Get(httpjob.ContextHeader))
		require.Equal(t, "application/json", sent.Get("Content-Type"))
	}
}
