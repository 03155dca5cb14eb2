package browser

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
			}
		})
	}
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
