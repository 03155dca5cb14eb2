package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Ten thousand jobs are filtered, sorted and scrolled, and only what is to be seen is in the page.
func TestTenThousandJobs(t *testing.T) {
	t.Parallel()
	s := newScene(t, 10_000, "")
	tab := look(t)
	tab.open(s.shop("jobs"))
	tab.sees("#total", "10,000 jobs")

	value[bool](tab, `(document.querySelector("#list").scrollTop = 1e9, true)`)
	tab.sees("#rows a", "stock-count")
	require.Less(t, value[int](tab, `document.querySelectorAll("#rows tr").length`), 100, "rows that nobody sees are in the page")

	tab.types("#match", "orders")
	tab.sees("#total", "2 jobs found")
	tab.sees("#rows a", "orders-settle")
	tab.until(`location.search === "?match=orders"`)
	tab.until(`document.querySelector('[data-job="orders-settle"] .strip').getAttribute("aria-label") === "last runs: 17 ok, 1 failed, 1 interrupted, 1 running"`)

	tab.types("#match", "batch-0*")
	tab.sees("#total", "jobs found")
	tab.click("#head button", "Items")
	tab.sees("#rows tr:first-child .items", "1")
	tab.click("#head button", "Items")
	tab.sees("#rows tr:first-child .items", "16")
	require.Equal(t, "descending", value[string](tab, `document.querySelector("#head th.items").ariaSort`))
}

// A list shows the newest that it has heard of each job, in whichever order answers and frames come, and each row once, also
// when rows have moved from one page to the next between two answers. Who clears a choice of all jobs has chosen none.
func TestAListThatChanges(t *testing.T) {
	t.Parallel()
	s := newScene(t, 300, "")
	release, choose := make(chan bool), make(chan bool)
	var frames feed
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		switch {
		case strings.HasSuffix(r.URL.Path, "/events"):
			_, _ = io.ReadAll(r.Body) // to its end, as else nobody would see the page go
			w.Header().Set("Content-Type", "text/event-stream")
			for n := 0; ; {
				all, more := frames.all()
				for ; n < len(all); n++ {
					_, _ = fmt.Fprintf(w, "event: jobs\ndata: %s\n\n", all[n])
					w.(http.Flusher).Flush()
				}
				select {
				case <-more:
				case <-r.Context().Done():
					return true
				}
			}
		case query.Get("limit") == "500":
			held(r, choose)
		case query.Get("offset") == "0":
			held(r, release)
		case query.Get("offset") == "100": // it is read later than the first page, and five jobs have come before the others meanwhile
			query.Set("offset", "95")
			r.URL.RawQuery = query.Encode()
		}
		return false
	})
	tab := look(t)
	const row, at = `[data-job="batch-00005"] .status`, `"as_of":"2026-03-01T10:00:00Z"`
	frames.tell(`{"revision":2,` + at + `,"rows":[{"job":"batch-00005","status":"PAUSED","items":1,"instances":1,"recorded":true,"revision":2}]}`)
	tab.open(s.shop("jobs"))
	tab.live()
	close(release)
	tab.sees(row, "Paused")
	frames.tell(`{"revision":3,` + at + `,"rows":[],"gone":["batch-00005"]}`)
	tab.sees("tr.gone", "batch-00005")
	frames.tell(`{"revision":4,` + at + `,"rows":[{"job":"batch-00005","status":"OK","items":1,"instances":1,"recorded":true,"revision":4}]}`)
	tab.sees(row, "OK")
	tab.lacks("tr.gone")

	tab.click("#all", "")
	tab.click(`input[aria-label="Select batch-00005"]`, "")
	tab.sees("#bulk", "1 selected")
	tab.click("#bulk button", "Clear")
	close(choose)
	tab.until(`performance.getEntriesByType("resource").some(e => e.name.includes("limit=500") && e.responseEnd > 0)`)
	tab.settled()
	tab.lacks("#bulk")

	const rows, jobs = `document.querySelectorAll("#rows tr[data-job]").length`, `new Set([...document.querySelectorAll("#rows tr[data-job]")].map(e => e.dataset.job)).size`
	value[bool](tab, `(document.querySelector("#list").scrollTop = 95 * document.querySelector("#rows tr[data-job]").offsetHeight, true)`)
	tab.until(rows + " === 5 + " + jobs)
	tab.types("#match", "orders")
	tab.sees("#total", "2 jobs found")
	require.Equal(t, 2, value[int](tab, rows))
}

// feed is what a stream tells. One that takes another's place begins anew, as some of it may not have come.
type feed struct {
	mu     sync.Mutex
	frames []string
	more   chan struct{} // closed when there are more
}

func (f *feed) tell(frame string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = append(f.frames, frame)
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// all returns what there is, and what tells of more.
func (f *feed) all() ([]string, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.more == nil {
		f.more = make(chan struct{})
	}
	return f.frames, f.more
}

// Several jobs are disabled at once. Before, the dialog tells which of them would stay as they are, and nothing is done.
func TestBulkDisable(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs"))
	for _, name := range []string{"invoices", "orders-mail", "orders-settle"} {
		selector := fmt.Sprintf(`input[aria-label="Select %s"]`, name)
		tab.until(fmt.Sprintf("document.querySelector(%s)", quote(selector)))
		tab.click(selector, "")
	}
	tab.sees("#bulk", "3 selected")
	tab.click("#bulk button", "Disable")
	tab.sees("dialog .plan", "2 jobs: orders-mail, orders-settle")
	tab.sees("dialog .plan", "it is disabled already, by otto")
	tab.picture("dialog-bulk")
	require.Empty(t, s.done(), "a dry run has done something")

	tab.types(`dialog input[name="reason"]`, "stocktaking")
	tab.click("dialog footer button", "Disable 3 jobs")
	tab.lacks("dialog")
	tab.sees(`[data-job="orders-settle"] .status`, "Disabled")
	require.Len(t, s.done(), 1)
	tab.lacks("#bulk")
	tab.hears("Disable 3 jobs: 2 jobs done, 1 stayed as it was.")
	tab.lacks("#notes .bad")

	// Those that the server did not come to stay selected.
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/bulk") || r.URL.Query().Has("dry-run") {
			return false
		}
		answer(w, 202, object{"jobs": []object{{"job": "orders-mail", "outcome": object{"plan": object{}}}, {"job": "orders-settle", "problem": object{"title": "unavailable", "status": 503, "detail": "there was no time for it"}}}})
		return true
	})
	for _, name := range []string{"orders-mail", "orders-settle"} {
		tab.click(fmt.Sprintf(`input[aria-label="Select %s"]`, name), "")
	}
	tab.click("#bulk button", "Enable")
	tab.sees("dialog .plan", "2 jobs")
	tab.click("dialog footer button", "Enable 2 jobs")
	tab.sees("#notes .bad", "1 job was refused or not reached. orders-settle: there was no time for it")
	tab.sees("#bulk", "1 selected")
	require.True(t, value[bool](tab, `document.querySelector('input[aria-label="Select orders-settle"]').checked`))
}

// A dialog that is cancelled has done nothing, by mouse or by key.
func TestCancel(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.click("#deeds button", "Disable")
	tab.sees("dialog .plan", "item 2")
	tab.accessible("dialog")
	tab.picture("dialog-disable")
	tab.press(kb.Escape)
	tab.lacks("dialog")
	tab.click("#deeds button", "Trigger")
	tab.sees("dialog .plan", "item 2")
	tab.picture("dialog-trigger")
	tab.click("dialog button", "Cancel")
	tab.lacks("dialog")
	require.Empty(t, s.done())
}

// What was shown of each job goes with an operation on all jobs of a server, and with a file.
func TestWhatWasShownOfSeveralJobsIsSent(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	tab.open(s.shop("servers"))
	tab.sees("#all-servers tbody", "10.0.0.1")
	tab.click(`button[aria-label="Disable 10.0.0.1"]`, "")
	tab.sees("dialog .plan", "1 job stays as it is")
	tab.click("dialog footer button", "Disable")
	tab.lacks("dialog")
	tab.open(s.shop("transfer"))
	tab.sees("#import", "Show what would change")
	tab.types("#import textarea", "new-job: {}")
	tab.click("#import button", "Show what would change")
	tab.sees("dialog .plan", "+ new-job")
	tab.click("dialog footer button", "Import")
	tab.lacks("dialog")
	require.Equal(t, []string{
		"POST /servers/10.0.0.1/disable [orders-settle][changes config job moves state verb warnings]",
		"POST /import new-job: {}[orders-settle][changes config job moves state verb warnings]", // what is compared, and no more
	}, s.done())
}

// Of a backfill that takes longer than an answer the page asks, under one key, for what is left. One that a fire has stopped
// goes on when somebody says so.
func TestBackfill(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	s.set(&s.failing, true)
	tab := look(t)
	tab.backfills(s)
	tab.sees("#ack", "item 1 failed (exit 3). Nothing more is run: 2 fires left")
	require.Len(t, s.done(), 1)
	tab.click("#ack button", "Go on with the rest")
	tab.hears("all past fires have run")
	tab.lacks("#ack")
	done := s.done()
	require.Len(t, done, 3)
	key := strings.Fields(done[0])[2]
	for i, fires := range []string{
		"[2026-03-01T10:00:00Z 2026-03-01T10:05:00Z 2026-03-01T10:10:00Z]",
		"[2026-03-01T10:05:00Z 2026-03-01T10:10:00Z]",
		"[2026-03-01T10:10:00Z]",
	} {
		require.Equal(t, "POST /jobs/orders-settle/backfill "+key+" "+fires, done[i])
	}
}

// backfills begins one of three fires.
func (t *tab) backfills(s *scene) {
	t.tb.Helper()
	t.open(s.shop("jobs/orders-settle"))
	t.sees("#items", "Running")
	t.choosesFires("2026-03-01T11:00")
	t.sees("dialog .plan", "3 fires run, one after another")
	t.sees("dialog .plan .lines.warn", "1 of the 3 fires may have run already, those up to ")
	t.click("dialog footer button", "Run them")
}

// choosesFires opens the dialog of a backfill, if it is not open, and chooses the end of its range.
func (t *tab) choosesFires(end string) {
	t.tb.Helper()
	value[bool](t, `(document.querySelector("dialog[open]") ?? [...document.querySelectorAll("button")].find(b => b.textContent === "Run past fires…").click(), true)`) // in a menu
	t.until(`document.querySelectorAll("dialog input[type=datetime-local]").length === 2`)
	value[bool](t, `(document.querySelectorAll("dialog input[type=datetime-local]").forEach((e, i) => {
		e.value = ["2026-03-01T10:00", `+quote(end)+`][i];
		e.dispatchEvent(new Event("change"));
	}), true)`)
}

// No backfill runs fires of a range that was chosen before: not while the fires of another one are looked up, not when those
// are too many, and not when an answer comes late. An answer that is none, or of which a part is lost, is no success.
func TestWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	late := make(chan bool)
	var torn, foreign atomic.Bool
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		switch to := r.URL.Query().Get("to"); {
		case strings.HasPrefix(to, "2026-04"):
			held(r, late)
		case strings.HasPrefix(to, "2026-09"):
			answer(w, 422, object{"title": "not allowed", "status": 422, "detail": "there are more than 1000 fires", "cause": "invalid"})
			return true
		case strings.HasSuffix(r.URL.Path, "/disable") && foreign.Load():
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, "<html>Log in at the proxy")
			return true
		case strings.HasSuffix(r.URL.Path, "/disable") && torn.Load():
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(w, `{"plan":{"verb"`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		return false
	})
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.sees("#items", "Running")
	idle := `document.querySelector("dialog footer button[type=submit]").ariaDisabled === "true" && !document.querySelector("dialog [aria-busy]")`
	tab.choosesFires("2026-03-01T11:00")
	tab.sees("dialog .plan", "3 fires run")
	tab.choosesFires("2026-04-01T11:00")
	tab.sees("dialog .plan", "Nothing runs")
	tab.until(idle)
	tab.choosesFires("2026-09-01T11:00")
	tab.sees("dialog fieldset", "more than 1000 fires")
	close(late)
	tab.until(`performance.getEntriesByType("resource").some(e => e.name.includes("to=2026-04") && e.responseEnd > 0)`)
	tab.settled()
	tab.sees("dialog fieldset", "more than 1000 fires")
	tab.until(idle)
	tab.click("dialog button", "Cancel")

	torn.Store(true)
	tab.click("#deeds button", "Disable")
	tab.sees("dialog .refusal", "the answer was cut off")
	tab.until(idle)
	foreign.Store(true)
	tab.click("dialog button", "Look again")
	tab.sees("dialog .refusal", "no answer of the console")
	tab.until(idle)
	foreign.Store(false)
	torn.Store(false)
	tab.click("dialog button", "Look again")
	tab.sees("dialog .plan", "item 2")
	torn.Store(true)
	tab.click("dialog footer button", "Disable")
	tab.sees("dialog .refusal", "what was asked for may have been done")
	require.Empty(t, value[string](tab, `document.querySelector("#notes").textContent`))
}

// Items are typed one character after another while dry runs are asked for. A refusal disturbs nobody who types, and who
// consents to one consents to no other. Who follows a trigger asks again after an outage, and hears of it if there is no
// answer.
func TestATriggerThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	refuse := make(chan bool)
	var mu sync.Mutex
	var asked []string
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		var body struct {
			Items []int
			Force bool
		}
		if !strings.HasSuffix(r.URL.Path, "/trigger") || json.NewDecoder(r.Body).Decode(&body) != nil || len(body.Items) != 3 {
			return false
		}
		line := fmt.Sprint(body.Items, map[bool]string{true: " force"}[body.Force])
		if r.URL.Query().Has("again") {
			line += " again"
		}
		if r.URL.Query().Has("dry-run") {
			line = "dry " + line
		}
		mu.Lock()
		before := slices.Contains(asked, line)
		asked = append(asked, line)
		mu.Unlock()
		refused := func(status int, detail string) bool {
			answer(w, status, object{"title": "no", "status": status, "detail": detail, "cause": "busy", "forcible": strings.Contains(detail, "goes on")})
			return true
		}
		switch {
		case line == "dry [3 4 5]":
			held(r, refuse)
			return refused(409, "a trigger goes on")
		case line == "[3 4 5] force" && !before:
			return refused(412, "it has changed since it was shown")
		case line == "[3 4 5] again" && !before:
			return refused(503, "the registry does not answer")
		case line == "[3 4 5] again":
			return refused(409, "the job does not know the id")
		}
		return false
	})
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.click("#deeds button", "Trigger")
	tab.sees("dialog .plan", "item 2")
	tab.types("dialog fieldset input", "3-5")
	require.Equal(t, "3-5", value[string](tab, `document.querySelector("dialog fieldset input").value`))
	tab.types(`dialog input[name="reason"]`, "a customer asked")
	close(refuse)
	tab.sees("dialog .refusal", "a trigger goes on")
	require.Equal(t, "a customer asked", value[string](tab, "document.activeElement.value"))

	const consent = "dialog .plan ~ .check input"
	for _, said := range []string{"it has changed", ""} {
		tab.click(consent, "")
		tab.sees("dialog .plan", "item 2")
		tab.click("dialog footer button", "Trigger")
		if said != "" {
			tab.sees("dialog .refusal", said)
			tab.click("dialog button", "Look again")
			tab.sees("dialog .refusal", "a trigger goes on")
		}
	}
	tab.sees("#notes .bad", "is not known: the job does not know the id")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{
		"dry [3 4 5]", "dry [3 4 5] force", "[3 4 5] force", "dry [3 4 5]", "dry [3 4 5] force", "[3 4 5] force", "[3 4 5] again", "[3 4 5] again",
	}, asked)
}

// A job remembers some operations only. What a backfill has begun and the job has forgotten since does not run a second time
// unless somebody says so.
func TestABackfillThatIsForgotten(t *testing.T) {
	t.Parallel()
	const all, rest = "[2026-03-01T10:00:00Z 2026-03-01T10:05:00Z 2026-03-01T10:10:00Z]", "[2026-03-01T10:05:00Z 2026-03-01T10:10:00Z]"
	for name, row := range map[string]struct {
		slow, loses, forgot bool
		want                []string
	}{
		"under way":                            {true, false, false, []string{"POST " + all, "POST " + all + " again"}},
		"under way, and forgotten":             {true, false, true, []string{"POST " + all, "POST " + all + " again", "POST " + rest}},
		"a lost answer":                        {false, true, false, []string{"POST " + all, "POST " + rest, "GET", "POST " + rest + " again"}},
		"a lost answer, and forgotten with it": {false, true, true, []string{"POST " + all, "POST " + rest, "GET", "POST [2026-03-01T10:10:00Z]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, 5, "")
			s.set(&s.failing, row.loses) // so that the page drives, and not the dialog
			s.set(&s.slow, row.slow)
			s.set(&s.forgot, row.forgot)
			tab := look(t)
			tab.backfills(s)
			if row.loses {
				tab.sees("#ack", "item 1 failed")
				s.set(&s.loses, true)
				tab.click("#ack button", "Go on with the rest")
			}
			if row.forgot {
				tab.sees("#ack", "is not known, as the job has forgotten it")
				tab.settled()
				tab.picture("backfill-forgotten")
				tab.click("#ack button", "Go on behind it")
			}
			tab.hears("all past fires have run")
			var done []string
			for _, line := range s.done() {
				words := strings.Fields(line)
				if words[0] == "GET" {
					done = append(done, "GET")
					continue
				}
				done = append(done, words[0]+" "+strings.Join(words[3:], " "))
			}
			require.GreaterOrEqual(t, len(done), len(row.want))
			require.Equal(t, row.want, done[:len(row.want)])
		})
	}
}

// Of a new job only the name must be given. What is under way is not called off by closing the dialog: it says what came of it,
// also if it was closed by force.
func TestCreate(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	created, texts := make(chan bool), make(chan string, 99)
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/jobs") {
			return false
		}
		var body struct{ Text string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		texts <- body.Text
		if !r.URL.Query().Has("dry-run") {
			held(r, created)
			answer(w, 409, object{"title": "exists", "status": 409, "detail": "there is such a job", "cause": "exists"})
			return true
		}
		answer(w, 200, object{"plan": object{"verb": "create", "job": "reports", "state": 1, "config": 0, "changes": []object{}}})
		return true
	})
	tab := look(t)
	tab.open(s.shop("jobs"))
	tab.click("button", "Create")
	tab.sees("dialog .plan", "Give the job a name")
	tab.lacks("dialog .refusal")
	tab.types("dialog .deed-field", "reports")
	tab.until(`document.querySelector("dialog footer button[type=submit]").ariaDisabled !== "true"`)
	text := <-texts
	for !strings.Contains(text, `"reports"`) { // of a dry run in the middle of the typing
		text = <-texts
	}
	require.JSONEq(t, `{"jobName":"reports","jobClass":"reports","jobType":"SIMPLE","cron":"0 0 * * * ?","shardingTotalCount":1}`, text)
	tab.click("dialog footer button", "Create the job")
	tab.sees("dialog footer", "Doing it")
	tab.press(kb.Escape)
	tab.until(`document.querySelector("dialog.deed[open] .cancel").ariaDisabled === "true"`)
	// A dialog hears a moment later that it is closed: here never, as the answer may come before that.
	value[bool](tab, `(addEventListener("close", (event) => event.stopImmediatePropagation(), { capture: true, once: true }), document.querySelector("dialog.deed").close(), true)`)
	tab.lacks("dialog.deed")
	close(created)
	tab.sees("#notes .bad", "there is such a job")
}

// Whoever has no mouse goes to a job, triggers it and walks along its timeline.
func TestKeyboardOnly(t *testing.T) {
	t.Parallel()
	s := newScene(t, 300, "")
	tab := look(t)
	tab.open(s.shop(""))
	tab.sees("#needs", "orders-mail")
	tab.press(kb.Tab)
	require.Equal(t, "Skip to the content", value[string](tab, "document.activeElement.textContent"))

	tab.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	tab.until(`document.querySelector("#jump").open`)
	tab.press("settle")
	tab.until(`[...document.querySelectorAll("#jump .name")].map(e => e.textContent).join() === "orders-settle"`)
	tab.press(kb.Enter)

	tab.sees("#deeds button", "Trigger")
	tab.tabTo("Trigger…")
	tab.press(kb.Enter)
	tab.sees("dialog .plan", "item 2")
	tab.tabTo("Trigger")
	tab.press(kb.Enter)
	tab.hears("Trigger answered")
	require.Contains(t, s.done(), "POST /jobs/orders-settle/trigger ")

	for range 40 {
		if value[bool](tab, `document.activeElement.classList.contains("span")`) {
			break
		}
		tab.press(kb.Tab)
	}
	spoken := `document.activeElement.getAttribute("aria-label")`
	latest := value[string](tab, spoken)
	tab.press(kb.ArrowLeft)
	before := value[string](tab, spoken)
	require.NotEqual(t, latest, before)
	require.Regexp(t, `^item \d, ok, on 10\.0\.0\.\d@-@.*, fire .*, started .*, took .*, token 48211, round round-7c1$`, before)
	tab.sees(".tip", "48211")
	tab.picture("timeline-tip")
}

// tabTo presses Tab until the element with a text has the focus.
func (t *tab) tabTo(text string) {
	t.tb.Helper()
	for range 60 {
		if value[string](t, "document.activeElement.textContent") == text {
			return
		}
		t.press(kb.Tab)
	}
	require.Fail(t.tb, "the keyboard does not reach it", text)
}

// Names, descriptions and errors with markup in them are text.
func TestMarkupIsText(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	tab := look(t)
	name := "<img src=x onerror=alert(1)>"
	tab.open(s.shop("jobs"))
	tab.sees("#rows a", name)
	require.Zero(t, value[int](tab, `document.querySelectorAll("main img, main script, main b b").length`))
	tab.click("#rows a", name)
	tab.sees("h1", name)
	tab.sees("#items", "Running")
	require.Contains(t, value[string](tab, "document.title"), name)
	require.Zero(t, value[int](tab, `document.querySelectorAll("main img, main script").length`))
}

// Of an export the page says what the file lacks, or why there is none.
func TestWhatAnExportLacks(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	var none atomic.Bool
	s.hooked(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/export"):
			return false
		case none.Load():
			answer(w, 409, object{"title": "unusable", "status": 409, "cause": "unusable", "detail": "no job can be exported: job broken is left out"})
		default:
			w.Header().Set("Content-Type", "application/yaml")
			w.Header().Set("Elasticron-Left-Out", "1")
			_, _ = fmt.Fprint(w, "# job broken is left out: /broken/config: no JSON\norders: {}\n")
		}
		return true
	})
	tab := look(t)
	tab.open(s.shop("transfer"))
	tab.click("#export button", "Download")
	tab.sees("#notes", "The file lacks 1 job, which its first lines name: job broken is left out: /broken/config: no JSON")
	none.Store(true)
	tab.click("#export button", "Download")
	tab.sees("#notes", "Nothing was exported: no job can be exported: job broken is left out")
}

// Who may only look is offered nothing else.
func TestViewersSeeNoOperations(t *testing.T) {
	t.Parallel()
	s := newScene(t, 5, "")
	s.role = "viewer"
	tab := look(t)
	tab.open(s.shop("jobs/orders-settle"))
	tab.sees("#items", "Running")
	require.Zero(t, value[int](tab, `document.querySelectorAll("main .danger, main button.primary, main td.act button").length`))
	tab.open(s.shop("transfer"))
	tab.sees("#refused", "Only an admin")
	tab.lacks("#forms")
	tab.open(s.shop("jobs"))
	tab.sees("#rows a", "orders-settle")
	tab.lacks("#rows input")
}
