package browser

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// Behind a real reverse proxy with TLS, which leaves the prefix on or takes it off, somebody logs in, sees a run appear, and
// operates the job: cookies, links, the stream and the check of origins go through it.
func TestBehindAReverseProxy(t *testing.T) {
	t.Parallel()
	for name, takesOff := range map[string]bool{"the prefix stays": false, "the prefix goes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const prefix = "/ops/cron"
			h := newHall(t, 2, access.Config{
				Prefix: prefix, UsersFile: usersFile(t), Proxy: &access.Proxy{From: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
			})
			to, err := url.Parse(h.url)
			require.NoError(t, err)
			to.Path = ""
			mux := http.NewServeMux()
			var through http.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				r.SetXForwarded()
			}}
			if takesOff {
				through = http.StripPrefix(prefix, through)
			}
			mux.Handle(prefix+"/", through)
			proxy := httptest.NewTLSServer(mux)
			t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })

			tab := look(t)
			tab.open(proxy.URL + prefix + "/ns/shop/jobs/orders")
			tab.types(`input[name="name"]`, "anna")
			tab.types(`input[name="password"]`, password)
			tab.click("button", "Log in")
			tab.sees("h1", "orders")
			tab.live()
			require.Equal(t, prefix+"/ns/shop/jobs/orders", value[string](tab, "location.pathname"))
			value[bool](tab, "window.same = true")
			h.run(time.Now(), jobtree.Failure, "exit 3: behind a proxy", 1)
			tab.sees("#items", "exit 3: behind a proxy")
			tab.click("#deeds button", "Disable")
			tab.sees("dialog .plan", "disabled")
			tab.click("dialog footer button", "Disable")
			tab.sees("#state", "Disabled")
			require.True(t, value[bool](tab, "window.same"), "without a reload")
			tab.click("button", "Log out")
			tab.sees("button", "Log in")
			require.Equal(t, prefix+"/login", value[string](tab, "location.pathname"))
		})
	}
}
