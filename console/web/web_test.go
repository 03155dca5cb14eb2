package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/web"
)

// newPages returns pages for somebody who may see the namespaces shop and "a b".
func newPages(t *testing.T, prefix string) *web.Pages {
	t.Helper()
	pages, err := web.New(web.Config{Prefix: prefix, Who: func(*http.Request) web.Who {
		return web.Who{Name: "<anna>", How: "session", Namespaces: []string{"shop", "a b"}}
	}})
	require.NoError(t, err)
	return pages
}

func get(t *testing.T, h http.Handler, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

func TestPages(t *testing.T) {
	t.Parallel()
	pages := newPages(t, "/cron")
	for path, want := range map[string]string{
		"/ns/shop/":                         "<title>Overview · shop",
		"/ns/a%20b/":                        "<title>Overview · a b",
		"/ns/shop/jobs":                     "<title>Jobs",
		"/ns/shop/jobs/orders":              "<h1>orders</h1>",
		"/ns/shop/jobs/%3Cb%3E/settings":    "<title>Settings of &lt;b&gt;",
		"/ns/shop/servers":                  "<h1>Servers and instances</h1>",
		"/ns/shop/history?job=%3Cscript%3E": "<h1>History</h1>",
		"/ns/shop/log":                      "<h1>Failovers and misfires</h1>",
		"/ns/shop/audit":                    "<h1>Audit</h1>",
		"/ns/shop/transfer":                 "<h1>Export and import</h1>",
		"/ns/shop/help":                     "<h1>Help</h1>",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r := get(t, pages, path)
			require.Equal(t, http.StatusOK, r.StatusCode)
			require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
			html := bodyOf(t, r)
			require.Contains(t, html, want)
			require.Contains(t, html, `<base href="/cron/">`)
			require.Contains(t, html, "&lt;anna&gt;")
			require.NotContains(t, html, "<script>")
			require.NotRegexp(t, `\s(on[a-z]+|style)=`, html, "something inline, which the policy forbids")
			policy := r.Header.Get("Content-Security-Policy")
			require.Contains(t, policy, "default-src 'none'")
			require.NotContains(t, policy, "unsafe")
		})
	}
}

// The settings of a job lead to its page, whatever its name.
func TestTheWayBackToAJob(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a%3Fb", "a%23b", "%2541", "a%20b", "orders"} {
		require.Contains(t, bodyOf(t, get(t, newPages(t, ""), "/ns/shop/jobs/"+name+"/settings")), `<a href="ns/shop/jobs/`+name+`">`)
	}
}

func TestUnknownPages(t *testing.T) {
	t.Parallel()
	pages := newPages(t, "")
	for _, path := range []string{"/ns/other/", "/ns/other/jobs", "/ns/shop/nothing", "/ns/shop/jobs/a/b/c", "/assets", "/x"} {
		r := get(t, pages, path)
		require.Equal(t, http.StatusNotFound, r.StatusCode, path)
		require.Contains(t, bodyOf(t, r), "There is no such page", path)
	}
	require.Equal(t, http.StatusNotFound, get(t, pages, "/assets/app.000000000000.js").StatusCode)
}

func TestTheRootLeadsToANamespace(t *testing.T) {
	t.Parallel()
	pages := newPages(t, "/cron")
	require.Equal(t, "/cron/ns/shop/", get(t, pages, "/").Header.Get("Location"))
	require.Equal(t, "/cron/ns/a%20b/", get(t, pages, "/ns/a%20b").Header.Get("Location"))

	nobody, err := web.New(web.Config{Who: func(*http.Request) web.Who { return web.Who{} }})
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, get(t, nobody, "/").StatusCode)
}

var loaded = regexp.MustCompile(`(?:href|src|data-worker)="(assets/[^"]+)"`)

// What a page loads is there, may be kept for ever, and fits into 41 KB in all.
func TestAssets(t *testing.T) {
	t.Parallel()
	pages := newPages(t, "")
	addresses := loaded.FindAllStringSubmatch(bodyOf(t, get(t, pages, "/ns/shop/")), -1)
	require.Len(t, addresses, 4, "script, stream, style and icon")
	bytes := 0
	for _, a := range addresses {
		path := "/" + a[1]
		require.True(t, web.Public(path))
		r := get(t, pages, path, "Accept-Encoding", "gzip")
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
		require.Contains(t, r.Header.Get("Cache-Control"), "immutable")
		bytes += len(bodyOf(t, r))

		plain := get(t, pages, path)
		require.Empty(t, plain.Header.Get("Content-Encoding"))
		require.NotContains(t, bodyOf(t, plain), "eval(")
	}
	require.LessOrEqual(t, bytes, 41_200, "the bundle is too large")
	require.False(t, web.Public("/ns/shop/"))
}

func TestLoginPage(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		login web.Login
		want  []string
		lacks string
	}{
		"password":  {web.Login{Password: true, Next: `/ns/shop/"`}, []string{`name="password"`, `value="/ns/shop/&#34;"`}, "OpenID"},
		"wrong":     {web.Login{Password: true, Failed: true, Name: "<b>"}, []string{"do not match", `value="&lt;b&gt;"`}, "<b>"},
		"too often": {web.Login{Password: true, Wait: 8 * time.Second}, []string{"Try again in 8s"}, "do not match"},
		"provider":  {web.Login{OIDC: true, Next: "/a b", Problem: "you have no role"}, []string{"oidc/login?next=%2fa%20b", "you have no role"}, "password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			newPages(t, "/cron").WriteLogin(w, row.login)
			html := w.Body.String()
			require.Contains(t, html, `<base href="/cron/">`)
			for _, want := range row.want {
				require.Contains(t, html, want)
			}
			require.NotContains(t, html[strings.Index(html, "<h1>"):], row.lacks)
		})
	}
}

func TestFaultyConfig(t *testing.T) {
	t.Parallel()
	who := func(*http.Request) web.Who { return web.Who{} }
	for _, c := range []web.Config{{}, {Prefix: "cron", Who: who}, {Prefix: "/cron/", Who: who}, {Prefix: "//cron", Who: who}} {
		_, err := web.New(c)
		require.ErrorContains(t, err, "web: ", "%v", c.Prefix)
	}
}
