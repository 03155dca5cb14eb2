package browser

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/job"
)

// everyPage lists all pages, and what is there once a page is complete.
var everyPage = []struct{ name, path, selector, text string }{
	{"overview", "ns/shop/", "#needs", "orders-mail"},
	{"jobs", "ns/shop/jobs?sort=-name", "#rows", "orders-settle"},
	{"job", "ns/shop/jobs/orders-settle", "#items", "Running"},
	{"crowd", "ns/shop/jobs/batch-00010", "#items", "Running"},
	{"settings", "ns/shop/jobs/orders-settle/settings", "#cron-words", "every 5 minutes"},
	{"servers", "ns/shop/servers", "#all-instances", "10.0.0.2"},
	{"history", "ns/shop/history", "#found", "executions found"},
	{"round", "ns/shop/history?round=round-1&job=orders-settle", "#found", "Round of orders-settle"},
	{"log", "ns/shop/log", "#found", "ran again on"},
	{"audit", "ns/shop/audit", "#found", "more often before Christmas"},
	{"transfer", "ns/shop/transfer", "#forms", "Download"},
	{"help", "ns/shop/help", "main", "Keyboard"},
	{"login", "login", "form", "Log in"},
	{"loginfailed", "login?failed=anna", "form", "Log in"},
	{"missing", "nowhere", "main", "no such page"},
}

// Every page has no violation that axe-core knows, in light and in dark, wide and narrow.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	s := newScene(t, 300, "")
	for _, p := range everyPage {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			tab := look(t)
			tab.dark(false)
			tab.open(s.url + "/" + p.path)
			tab.sees(p.selector, p.text)
			for _, look := range []struct {
				name  string
				width int64
				dark  bool
			}{{"light-1280", 1280, false}, {"dark-1280", 1280, true}, {"light-390", 390, false}, {"dark-390", 390, true}} {
				tab.size(look.width, map[bool]int64{true: 900, false: 844}[look.width > 1000])
				tab.dark(look.dark)
				tab.settled()
				tab.picture(p.name + "-" + look.name)
				if look.dark == (look.width < 1000) { // each page light and dark, wide and narrow, in two goes
					tab.accessible(look.name)
				}
				require.LessOrEqual(t, value[int](tab, "document.documentElement.scrollWidth"), int(look.width), "the page is wider than the window")
				require.Empty(t, value[string](tab, `[...document.querySelectorAll(".scroll:has(table)")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.ariaLabel).join()`), "tables of which a part is out of sight")
			}
		})
	}
}

// A page goes on by itself if a first answer fails, or if each takes longer than the page waits until it asks again. What it
// says where there is nothing is true.
func TestAServerThatIsSlowToAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, "")
	var known, answers atomic.Bool
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		switch name := path.Base(r.URL.Path); name {
		case "me", "servers":
			if name == "me" && known.Swap(true) || name == "servers" && answers.Load() {
				return false
			}
			answer(w, 503, object{"title": "unavailable", "status": 503, "detail": "the server stops"})
			return true
		case "executions":
			select {
			case <-time.After(6 * time.Second):
			case <-r.Context().Done():
			}
			answer(w, 200, object{"executions": []object{}, "total": 0, "recorded": "store"})
			return true
		case "operations":
			answer(w, 200, object{"operations": []object{}, "outside": []object{}})
			return true
		}
		return false
	})
	servers, log := look(t), look(t)
	servers.open(s.shop("servers"))
	log.open(s.shop("log?job=orders"))
	servers.sees("#unread", "the server stops")
	answers.Store(true)
	servers.sees("#all-servers", "10.0.0.9")
	servers.sees("#all-servers button", "Disable")
	servers.lacks("#unread .bad")
	servers.open(s.shop("audit?job=orders"))
	servers.sees("#found", "No operation of orders is recorded.")
	servers.open(s.shop(""))
	servers.sees("#needs", "Nothing needs you. 2 jobs run as they should. 1 job is disabled.")
	servers.sees("#runs", "in the last full minute, or more")
	log.sees("#found", "No failover and no misfire is recorded of orders.")
}

// What executions wrote is read when somebody opens it, and no earlier. It is text; of much the end is shown.
func TestOutputsOfExecutions(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("history"))
	tab.sees("#found summary", "Output, 6 KiB")
	require.Empty(t, s.done())
	toggle := func(i int) {
		value[bool](tab, fmt.Sprintf(`(document.querySelectorAll(".output summary")[%d].scrollIntoView({ block: "center" }), document.querySelectorAll(".output summary")[%d].click(), true)`, i, i))
	}
	toggle(0)
	tab.sees(".output pre", "no such table: <script>")
	tab.settled()
	tab.picture("output-1280")
	tab.accessible("with an output")
	tab.size(390, 844)
	tab.settled()
	value[bool](tab, `(document.querySelector(".output").scrollIntoView({ block: "center", inline: "center" }), true)`)
	tab.settled()
	tab.picture("output-390")
	tab.accessible("with an output, narrow")
	tab.size(1280, 900)
	toggle(0)
	toggle(0)
	toggle(1)
	tab.sees(".output", "Only the end is shown")
	require.Less(t, value[int](tab, `document.querySelectorAll(".output")[1].querySelector("pre").textContent.length`), 200_000)
	tab.click(".output button", "Show all 292 KiB")
	tab.until(`document.querySelectorAll(".output")[1].querySelector("pre").textContent.length === 13000 * 23`)
	require.Zero(t, value[int](tab, `document.querySelectorAll(".output pre *").length`))
	toggle(2)
	tab.sees(".output .bad", "no output of the execution is kept")
	require.Equal(t, []string{
		"GET /jobs/orders-settle/outputs/2 ", "GET /jobs/orders-settle/outputs/5 ", "GET /jobs/orders-settle/outputs/12 ",
	}, s.done(), "each is read once")
}

// Of an execution whose process was killed, a history has no end, and its page does not say that it runs.
func TestAnExecutionWithoutAnEnd(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-time.Hour)
	row := func(item int) history.Execution {
		return history.Execution{ID: fmt.Sprint(item), Round: "r", Job: "orders", TaskID: "t", Source: job.Scheduled, Item: item, Token: int64(1 + item), Start: at}
	}
	killed, fine := row(0), row(1)
	fine.Complete, fine.Success = at.Add(time.Second), true
	h := newHall(t, 2, access.Config{}, killed, fine)
	tab := look(t)
	tab.open(h.url + "/ns/shop/history?round=r&job=orders")
	tab.sees("#found tbody tr:nth-child(1)", "unknown")
	tab.sees("#found tbody tr:nth-child(2)", "ok")
	tab.sees(".round", "unknown")
}

// All pages of a history end where the first one begins, so that what runs meanwhile pushes no row from page to page.
func TestPagesOfAHistory(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	began := time.Now()
	tab.open(s.shop("history?job=orders-settle"))
	turn := func(to, page string) string {
		tab.click(".pager a", to)
		tab.until(fmt.Sprintf(`new URLSearchParams(location.search).get("page") === %q`, page))
		tab.sees(".pager", "page "+page+" of 3")
		require.Equal(t, "orders-settle", value[string](tab, `new URLSearchParams(location.search).get("job")`))
		return value[string](tab, `new URLSearchParams(location.search).get("until") ?? ""`)
	}
	until := turn("Older", "2")
	at, err := time.Parse(time.RFC3339Nano, until)
	require.NoError(t, err)
	require.WithinDuration(t, began, at, patience, "when the newest one began")
	require.Equal(t, until, turn("Older", "3"))
	require.Equal(t, until, turn("Newer", "2"))
	require.Equal(t, until, turn("Newer", "1"))
	require.Equal(t, until, turn("Older", "2"), "and not when what is newer began")
}

// settled waits for two frames, so that what depends on the size is drawn.
func (t *tab) settled() {
	t.tb.Helper()
	value[bool](t, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// accessible asks axe-core.
func (t *tab) accessible(what string) {
	t.tb.Helper()
	if !value[bool](t, "typeof axe !== 'undefined'") {
		value[bool](t, axe(t.tb)+"; true")
	}
	found := value[[]string](t, `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary)))`)
	if len(found) > 0 {
		t.tb.Errorf("%s: axe-core found:\n%s", what, strings.Join(found, "\n"))
	}
}

// What a page offers before the server has said who looks at it waits until something comes of it.
func TestNothingIsOfferedTooEarly(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	known, asked := make(chan bool), make(chan bool, 9)
	s.hooked(func(_ http.ResponseWriter, r *http.Request) bool {
		if path.Base(r.URL.Path) == "me" {
			asked <- true
			held(r, known)
		}
		return false
	})
	usable := `[...document.querySelectorAll("main :is(button, input, select, textarea)")].filter((e) => e.checkVisibility() && !e.closest("[inert]")).length`
	var tabs []*tab
	for _, page := range []string{"jobs", "jobs/orders-settle", "history", "transfer"} {
		tab := look(t)
		tab.open(s.shop(page))
		<-asked
		tab.until(`document.readyState === "complete"`)
		require.Zero(t, value[int](tab, usable), page)
		tab.until(`!document.querySelector("header [inert]")`)
		tabs = append(tabs, tab)
	}
	close(known)
	for _, tab := range tabs {
		tab.until(usable + " > 1 && !document.querySelector('[inert]')")
	}
}

// What is typed for an import is not left without a question, as if the session ends.
func TestAnImportIsNotLeft(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("transfer"))
	tab.sees("#import", "Show what would change")
	const leaves = `dispatchEvent(new Event("beforeunload", { cancelable: true }))`
	require.True(t, value[bool](tab, leaves))
	tab.types("#import textarea", "new-job: {}")
	require.False(t, value[bool](tab, leaves))
	tab.click("#import button", "Show what would change")
	tab.sees("dialog .plan", "+ new-job")
	tab.click("dialog footer button", "Import")
	tab.lacks("dialog")
	require.True(t, value[bool](tab, leaves), "it is done")
}
