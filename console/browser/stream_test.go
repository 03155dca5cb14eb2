package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// While the server is away the page says of when it is, and goes on by itself afterwards.
func TestCutOff(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.live()
	tab.lacks("#banner")

	s.silence(true)
	tab.sees("#banner", "not connected")
	tab.until(`document.documentElement.classList.contains("stale")`)
	tab.until(`document.querySelectorAll(".gap").length > 0`)
	tab.picture("cut-off")

	s.silence(false)
	tab.lacks("#banner")
	tab.until(`document.querySelector("#live").textContent === "live"`)
}

// Whoever comes back to a page that has let go of the stream sees that it is old, until the server answers again. That
// the registry answers again, while nobody followed, the page learns from any sign of life.
func TestWhoComesBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.live()
	tab.lacks("#banner")
	leave := func() { value[bool](tab, `dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`) }
	comeBack := func() { value[bool](tab, `dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`) }

	s.set(&s.away, true)
	tab.sees("#banner", "no connection to the registry")
	leave()
	s.set(&s.away, false)
	comeBack()
	tab.lacks("#banner")

	leave()
	s.set(&s.mute, true)
	comeBack()
	tab.sees("#banner", "no connection to the server")
	tab.until(`document.documentElement.classList.contains("stale")`)
	s.set(&s.mute, false) // for those who ask anew: the page gives up on the connection that says nothing
	tab.lacks("#banner")
}

// Who was cut off in the middle of a batch gets its frames once more, and shows what happened once.
func TestAFrameThatComesAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	s.set(&s.again, true)
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.sees("#log", second+" leads")
	require.Equal(t, 6, value[int](tab, `document.querySelectorAll("#log li").length`))
}

// When the session ends, the page leads to the login, and from there back: also if it ends after the stream, as when a server
// is started anew.
func TestTheSessionEnds(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "/cron")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.live()
	s.silence(true)
	tab.sees("#banner", "not connected")
	s.set(&s.expired, true)
	tab.sees("button", "Log in")
	require.Equal(t, "/cron/ns/shop/jobs/orders-settle", value[string](tab, `new URLSearchParams(location.search).get("next")`))
}

// A frame that takes longer than a silence may last is no silence, wherever it is cut into parts.
func TestAFrameThatTakesItsTime(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	var streams atomic.Int32
	var stood atomic.Bool // the machine, for longer than a page waits for a sign of life
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			return false
		}
		_, _ = io.ReadAll(r.Body) // to its end, as else nobody would see the page go
		streams.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		overview, _ := json.Marshal(s.overview(time.Now()))
		for _, part := range []string{":\n", "retry: 1000\n\nevent: overview\ndata: " + string(overview[:99]), string(overview[99:]) + "\n", "\n: the end of a part\n\n"} {
			written := time.Now()
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
			select {
			case <-time.After(5 * time.Second):
			case <-r.Context().Done():
			}
			if time.Since(written) > 8*time.Second {
				stood.Store(true)
			}
			if r.Context().Err() != nil {
				return true
			}
		}
		<-r.Context().Done()
		return true
	})
	for again := true; again; again = stood.Swap(false) {
		streams.Store(0)
		tab := look(t)
		tab.open(s.shop(""))
		tab.sees("#needs", "orders-mail")
		if !stood.Load() {
			tab.lacks("#banner")
			require.Equal(t, int32(1), streams.Load(), "the stream is opened anew")
		}
		tab.open("about:blank")
	}
}

// Who may not read a job any more is told so on its page, and their other pages stay live.
func TestAJobThatMayNotBeReadAnyMore(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	all := look(t)
	all.open(s.shop(""))
	all.sees("#needs", "orders-mail")
	one := all.beside()
	one.open(s.shop("jobs/orders-settle"))
	one.live()
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(r.URL.Path+string(body), "orders-settle") {
			answer(w, 403, object{"title": "forbidden", "status": 403, "detail": "you may not read job orders-settle", "cause": "forbidden"})
			return true
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return false
	})
	s.cut()
	one.sees("#state", "you may not read job orders-settle")
	one.lacks("#live-parts")
	one.lacks("#banner")
	all.lacks("#banner")
	all.live()
	require.Eventually(t, func() bool { return s.open() == 1 }, patience, 20*time.Millisecond, "the others have no stream")
}

// Eight tabs of a browser share one stream, as HTTP/1.1 allows six connections.
func TestEightTabs(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tabs := []*tab{look(t)}
	for range 7 {
		tabs = append(tabs, tabs[0].beside())
	}
	for _, tab := range tabs {
		tab.open(s.shop("jobs/orders-settle"))
	}
	for _, tab := range tabs {
		tab.live()
		tab.sees("#items", "Running")
	}
	require.Eventually(t, func() bool { return s.open() == 1 }, patience, 20*time.Millisecond, "the tabs hold several streams")
}

// Behind a proxy that serves the console below a path, everything works.
func TestPrefix(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "/ops/cron")
	tab := look(t)
	tab.open(s.url + "/")
	tab.live()
	tab.click("#needs a", "orders-mail")
	tab.sees("h1", "orders-mail")
	tab.sees("#items", "Running")
	tab.click("nav a", "Servers")
	tab.sees("#all-servers", "10.0.0.9")
	require.Contains(t, value[string](tab, "location.pathname"), "/ops/cron/ns/shop/servers")
}

// The worker that has the stream of all tabs lives in the process of one of them. If that dies, the others say that they are
// not live, and begin another.
func TestTheWorkerDies(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	one := look(t)
	other := one.beside()
	one.open(s.shop(""))
	one.live()
	other.open(s.shop("jobs/orders-settle"))
	other.live()
	value[bool](other, `!(window.stale = 0) && !new MutationObserver(() => {
		if (document.documentElement.classList.contains("stale")) window.stale++;
	}).observe(document.documentElement, { attributes: true })`)
	ctx, cancel := context.WithTimeout(one.ctx, 5*time.Second)
	defer cancel()
	// Nobody is left to answer.
	_ = chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.Crash, cdp.Empty{})
		return err
	}))
	other.until("window.stale > 0")
	other.until(`document.querySelector("#live").textContent === "live"`)
	other.lacks("#banner")
	require.Eventually(t, func() bool { return s.open() == 1 }, patience, 20*time.Millisecond, "the stream of the dead worker is open")
}

// A page whose stream is refused says why, also if it has never been live, and goes on when it is not any more.
func TestARefusedStream(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	var full atomic.Bool
	full.Store(true)
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if !full.Load() || !strings.HasSuffix(r.URL.Path, "/events") {
			return false
		}
		answer(w, 429, object{"title": "Too Many Requests", "status": 429, "cause": "too many", "detail": "you have 20 streams already: close a page"})
		return true
	})
	tab := look(t)
	tab.open(s.shop(""))
	tab.sees("#banner", "Not connected: you have 20 streams already: close a page.")
	full.Store(false)
	tab.lacks("#banner")
	tab.live()
	full.Store(true)
	s.cut()
	tab.sees("#banner", "not connected: you have 20 streams already")
}

// A stream that never says anything, as behind a proxy that keeps it to itself, is told of, too.
func TestAStreamThatIsHeldBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	s.set(&s.mute, true)
	tab := look(t)
	tab.open(s.shop(""))
	tab.sees("#banner", "Not connected: no connection to the server, or a proxy holds back what it says.")
}

// A stream has so many topics, and no more: of more pages, those that were seen last are live, and the others say that they are
// not.
func TestMorePagesThanAStreamHasTopics(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop(""))
	tab.live()
	value[bool](tab, `!!(window.ports = Array.from({ length: 65 }, (_, i) => {
		const { port } = new SharedWorker(document.documentElement.dataset.worker, { name: "elasticron" });
		port.onmessage = ({ data }) => {
			if (data.kind !== "state") return;
			port.says = data.live ? "live" : data.why;
			port.told = (port.told ?? 0) + 1;
		};
		port.postMessage({ kind: "want", want: { url: new URL("api/v1/namespaces/shop/events", document.baseURI).href, topics: ["job/" + i], window: [] } });
		return port;
	}))`)
	tab.sees("#banner", "not connected: more pages are looked at than can be live.")
	tab.until(`window.ports.map((p) => p.says).join() === "more pages are looked at than can be live" + ",live".repeat(64)`)
	value[bool](tab, `(window.ports[0].told = 0) === 0`)
	tab.until(`window.ports[0].told >= 3`) // silence would be the end of the worker, and those that are left would push in
	value[bool](tab, `!window.ports.forEach((p) => p.postMessage({ kind: "want", want: null })) && document.dispatchEvent(new Event("visibilitychange"))`)
	tab.lacks("#banner")
}
