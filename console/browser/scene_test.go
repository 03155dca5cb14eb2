package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/web"
)

// object is a JSON object.
type object = map[string]any

// scene is a server with made-up jobs, in which everything that pages show is there at once.
type scene struct {
	url string
	// prefix is what stands before all paths, as with a proxy.
	prefix string

	mu         sync.Mutex
	jobs       []object
	asked      []string // the operations: method, path and body
	config     string
	revision   int
	silent     bool // the stream is refused
	mute       bool // who asks for the stream gets no answer
	again      bool // what happened in a job comes a second time, with something new
	away       bool // the registry does not answer the server
	streams    map[chan struct{}]bool
	role       string
	expired    bool   // the session has ended
	failing    bool   // the next fire of a backfill fails
	slow       bool   // the next fire of a backfill goes on, when its request is answered
	forgot     bool   // the job does not know its backfill any more
	committed  string // the key of the last commit of settings
	unanswered bool   // what comes of the next one is not known
	loses      bool   // the answer to the next request for a backfill is lost
	filled     string // the fire up to which the backfill has come

	lateAsked chan bool                                     // tells that a late cron expression is asked for
	late      chan bool                                     // which has its answer when this is closed
	hook      func(http.ResponseWriter, *http.Request) bool // answers a request in place of the scene, or tells that it does not
}

const (
	first  = "10.0.0.1@-@7001-a"
	second = "10.0.0.2@-@7002-b"
	third  = "10.0.0.3@-@7003-c"
)

// newScene starts a server with n jobs.
func newScene(tb testing.TB, n int, prefix string) *scene {
	tb.Helper()
	s := &scene{prefix: prefix, jobs: madeUpJobs(n), revision: 48190, streams: make(map[chan struct{}]bool), role: "admin", lateAsked: make(chan bool, 9), late: make(chan bool)}
	s.config = `{"jobName":"orders-settle","jobClass":"OrdersSettle","jobType":"SIMPLE","cron":"0 0/5 * * * ?","shardingTotalCount":20,` +
		`"shardingItemParameters":"","jobParameter":"","failover":true,"misfire":true,"description":"Settles the orders of the day","timeZone":"Europe/Berlin"}`
	pages, err := web.New(web.Config{Prefix: prefix, Who: func(*http.Request) web.Who {
		return web.Who{Name: "anna", How: "session", Namespaces: []string{"shop", "warehouse"}}
	}})
	require.NoError(tb, err)
	api := http.NewServeMux()
	s.routes(api)
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		hook := s.hook
		s.mu.Unlock()
		if hook == nil || !hook(w, r) {
			api.ServeHTTP(w, r)
		}
	})
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		pages.WriteLogin(w, web.Login{Password: true, OIDC: true, Failed: r.URL.Query().Has("failed"), Name: r.URL.Query().Get("failed")})
	})
	mux.Handle("/", pages)
	server := httptest.NewServer(http.StripPrefix(prefix, mux))
	s.url = server.URL + prefix
	tb.Cleanup(func() { s.cut(); server.CloseClientConnections(); server.Close() })
	return s
}

// hooked has requests answered by a function, or again as ever.
func (s *scene) hooked(hook func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

// held waits until a request may be answered.
func held(r *http.Request, until <-chan bool) {
	select {
	case <-until:
	case <-r.Context().Done():
	}
}

// shop is the address of a page of the namespace.
func (s *scene) shop(page string) string { return s.url + "/ns/shop/" + page }

func madeUpJobs(n int) []object {
	now := time.Now().UTC()
	jobs := make([]object, 0, n)
	add := func(name, status string, more object) {
		row := object{
			"job": name, "status": status, "items": 4, "running_items": 0, "waiting_items": 0, "overdue_items": 0, "disabled_items": 0,
			"instances": 3, "disabled": status == "DISABLED", "leader": first, "recorded": true, "revision": 48190, "cron": "0 0/5 * * * ?", "time_zone": "Europe/Berlin", "class": name, "type": "SIMPLE",
			"next": now.Add(2 * time.Minute).Format(time.RFC3339),
			"runs": "ssssssssssssissfsssr", "last": execution(name, 1, first, "success", now.Add(-80*time.Second), 1200*time.Millisecond, ""),
		}
		for key, value := range more {
			row[key] = value
		}
		jobs = append(jobs, row)
	}
	add("orders-settle", "OK", object{"items": 20, "running_items": 2, "description": "Settles the orders of the day"})
	add("orders-mail", "OK", object{
		"overdue_items": 2, "overdue_since": now.Add(-4 * time.Minute).Format(time.RFC3339),
		"reasons": []object{{"word": "OVERDUE", "text": "should have run and did not: items 0, 2"}},
		"last":    execution("orders-mail", 0, second, "failure", now.Add(-9*time.Minute), 90*time.Millisecond, "exit 3: no such table"),
	})
	add("invoices", "DISABLED", object{"disabled_items": 4, "next": nil, "reasons": []object{{"word": "JOB_DISABLED", "text": "the configuration has disabled = true"}}})
	add("stock-count", "CRASHED", object{"instances": 0, "leader": "", "next": nil, "last": nil, "reasons": []object{{"word": "NO_INSTANCE", "text": "no instance lives"}}})
	add(`<img src=x onerror=alert(1)>`, "OK", object{"description": `<script>document.title="broken"</script>`, "time_zone": `"><b>`})
	for i := len(jobs); i < n; i++ {
		add(fmt.Sprintf("batch-%05d", i), "OK", object{"instances": 1 + i%3, "items": 1 + i%16})
	}
	return jobs[:n]
}

func execution(job string, item int, instance, outcome string, begin time.Time, took time.Duration, fault string) object {
	e := object{
		"job": job, "item": item, "instance": instance, "source": "scheduled", "begin": begin.Format(time.RFC3339Nano),
		"fire": begin.Truncate(time.Second).Format(time.RFC3339), "outcome": outcome, "token": 48211, "round": "round-7c1",
	}
	if took > 0 {
		e["end"] = begin.Add(took).Format(time.RFC3339Nano)
	}
	if fault != "" {
		e["error"] = fault
	}
	return e
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	if status >= 400 {
		w.Header().Set("Content-Type", "application/problem+json")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the page has gone, or has it
}

func (s *scene) routes(mux *http.ServeMux) {
	const shop = "/api/v1/namespaces/shop"
	mux.HandleFunc("GET /api/v1/me", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.expired {
			answer(w, 401, object{"title": "unknown", "status": 401, "detail": "log in", "cause": "unknown"})
			return
		}
		answer(w, 200, object{"name": "anna", "how": "session", "roles": []string{s.role}, "namespaces": []string{"shop", "warehouse"}, "grants": []object{{"role": s.role, "namespace": "*", "jobs": "*"}}})
	})
	mux.HandleFunc("GET /api/v1/cron", s.cron)
	mux.HandleFunc("GET "+shop+"/jobs", s.list)
	mux.HandleFunc("GET "+shop+"/jobs/{job}", s.detail)
	mux.HandleFunc("GET "+shop+"/jobs/{job}/config", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, s.revision))
		answer(w, 200, object{"job": "orders-settle", "text": s.config, "revision": s.revision})
	})
	mux.HandleFunc("PUT "+shop+"/jobs/{job}/config", s.putConfig)
	mux.HandleFunc("GET "+shop+"/servers", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"revision": 1, "as_of": time.Now(), "connected": true, "servers": []object{
			{"server": "10.0.0.1", "status": "OK", "instances": []string{first}, "jobs": []string{"orders-settle", "orders-mail", "invoices", "stock-count", "batch-1"}},
			{"server": "10.0.0.2", "status": "OK", "instances": []string{second}, "jobs": []string{"orders-settle", "orders-mail"}, "disabled_jobs": []string{"orders-mail"}, "reasons": []object{{"word": "SERVERS_DISABLED", "text": "the server is disabled in 1 of its 2 jobs"}}},
			{"server": "10.0.0.9", "status": "CRASHED", "jobs": []string{"orders-mail"}, "reasons": []object{{"word": "NO_INSTANCE", "text": "no instance lives there"}}},
		}})
	})
	mux.HandleFunc("GET "+shop+"/instances", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"revision": 1, "as_of": time.Now(), "connected": true, "instances": []object{
			{"instance": first, "server": "10.0.0.1", "status": "OK", "java": false, "jobs": []string{"orders-settle", "orders-mail"}, "leads": []string{"orders-settle"}, "items": 12, "running_items": 2},
			{"instance": second, "server": "10.0.0.2", "status": "OK", "java": true, "jobs": []string{"orders-settle"}, "items": 12, "running_items": 0},
		}})
	})
	mux.HandleFunc("GET "+shop+"/executions", s.executions)
	mux.HandleFunc("GET "+shop+"/jobs/{job}/outputs/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.note(r, "")
		if r.PathValue("id") == "12" { // it was deleted since
			answer(w, 404, object{"title": "not found", "status": 404, "cause": "not found", "detail": "no output of the execution is kept"})
			return
		}
		text := strings.Repeat("settled 1 <b>order</b>\n", 13_000)
		if r.PathValue("id") == "2" {
			text = "settling 20 orders\nno such table: <script>alert(1)</script>\n"
		}
		answer(w, 200, object{"id": r.PathValue("id"), "job": r.PathValue("job"), "item": 0, "start": time.Now(), "bytes": len(text), "text": text})
	})
	mux.HandleFunc("GET "+shop+"/operations", func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now()
		answer(w, 200, object{"outside": []object{{"job": "invoices", "what": "settings", "revision": 47001}}, "operations": []object{
			{"job": "orders-settle", "id": "k3", "verb": "change settings", "who": "anna", "how": "console", "when": now.Add(-20 * time.Minute), "reason": "more often before Christmas", "changed": `cron "0 0/10 * * * ?" -> "0 0/5 * * * ?"`, "before": s.config, "rollsBack": true},
			{"job": "invoices", "id": "k2", "verb": "disable job", "who": "otto", "how": "cli", "when": now.Add(-26 * time.Hour), "reason": "wrong sums, see ticket 4711"},
			{"job": "orders-mail", "id": "k1", "verb": "disable server", "target": "server 10.0.0.2", "who": "anna", "how": "console", "when": now.Add(-50 * time.Hour)},
		}})
	})
	mux.HandleFunc("GET "+shop+"/operations/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.note(r, "")
		s.mu.Lock()
		defer s.mu.Unlock()
		all := []object{}
		if r.PathValue("id") == s.committed && s.committed != "" {
			all = append(all, object{"job": "orders-settle", "id": s.committed, "verb": "change settings", "who": "anna"})
		} else if !s.forgot {
			all = append(all, object{"job": "orders-settle", "id": r.PathValue("id"), "verb": "backfill", "target": "fire " + s.filled, "who": "anna"})
		}
		answer(w, 200, object{"operations": all, "outside": []object{}})
	})
	mux.HandleFunc("POST "+shop+"/events", s.events)
	mux.HandleFunc("POST "+shop+"/bulk", s.bulk)
	mux.HandleFunc("GET "+shop+"/jobs/{job}/fires", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"fires": []string{"2026-03-01T10:00:00Z", "2026-03-01T10:05:00Z", "2026-03-01T10:10:00Z"}, "zone": "UTC"})
	})
	mux.HandleFunc("POST "+shop+"/jobs/{job}/backfill", s.backfill)
	mux.HandleFunc("POST "+shop+"/", s.operation)
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 404, object{"title": "not found", "status": 404, "detail": "the scene has no " + r.URL.Path, "cause": "unknown"})
	})
}

func (s *scene) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := r.URL.Query()
	var rows []object
	for _, row := range s.jobs {
		name, _ := row["job"].(string)
		if match := query.Get("match"); match != "" {
			if ok, _ := path.Match(match, name); !ok {
				continue
			}
		}
		if status := query.Get("status"); status != "" && !strings.Contains(fmt.Sprint(row["status"], row["reasons"]), status) {
			continue
		}
		rows = append(rows, row)
	}
	sort := query.Get("sort")
	slices.SortStableFunc(rows, func(a, b object) int {
		order := 0
		if key := strings.TrimPrefix(sort, "-"); key == "items" || key == "instances" {
			order = a[key].(int) - b[key].(int)
		} else {
			order = strings.Compare(a["job"].(string), b["job"].(string))
		}
		if strings.HasPrefix(sort, "-") {
			return -order
		}
		return order
	})
	offset, _ := strconv.Atoi(query.Get("offset"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	from := min(offset, len(rows))
	answer(w, 200, object{"jobs": append([]object{}, rows[from:min(from+limit, len(rows))]...), "total": len(rows), "offset": offset, "revision": 1, "as_of": time.Now(), "connected": true})
}

func (s *scene) row(name string) object {
	for _, row := range s.jobs {
		if row["job"] == name {
			return row
		}
	}
	return nil
}

func madeUpItems(job string, n int, now time.Time) []object {
	items := make([]object, n)
	for i := range items {
		it := object{
			"job": job, "item": i, "status": "PENDING", "owner": []string{first, second, third}[i%3], "failover": false,
			"counts": object{"success": 1210 + i, "failure": i % 4, "interrupted": 0, "lost": i / 7}, "last": execution(job, i, []string{first, second, third}[i%3], "success", now.Add(-90*time.Second), 2300*time.Millisecond, ""),
		}
		switch i {
		case 1:
			it["status"], it["last"] = "RUNNING", execution(job, i, second, "running", now.Add(-12*time.Second), 0, "")
		case 3:
			it["reasons"] = []object{{"word": "WAITING", "text": "a lost execution waits to be run again"}}
			it["last"] = execution(job, i, third, "lost", now.Add(-100*time.Second), 30*time.Second, "")
		case 4:
			it["status"], it["reasons"] = "DISABLED", []object{{"word": "ITEM_DISABLED", "text": "an operator disabled the item"}}
		case 5:
			it["last"] = execution(job, i, third, "failure", now.Add(-70*time.Second), 100*time.Millisecond, "exit 3: no such table: settlements_2026")
		}
		items[i] = it
	}
	return items
}

func (s *scene) detail(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("job")
	row := s.row(name)
	if row == nil {
		answer(w, 404, object{"title": "unknown job", "status": 404, "detail": fmt.Sprintf("there is no job %q", name), "cause": "unknown job"})
		return
	}
	now := time.Now().UTC()
	answer(w, 200, object{
		"job": row, "words": "every 5 minutes", "items": madeUpItems(name, row["items"].(int), now), "next_fires": []time.Time{now.Add(40 * time.Second)}, "revision": 1, "as_of": now, "connected": true,
		"instances": []object{
			{"instance": first, "server": "10.0.0.1", "enabled": true, "leader": true, "leaving": false, "java": false, "items": []int{0, 3}},
			{"instance": second, "server": "10.0.0.2", "enabled": true, "leader": false, "leaving": false, "java": true, "items": []int{1}},
			{"instance": third, "server": "10.0.0.3", "enabled": false, "leader": false, "leaving": false, "java": false, "items": []int{2}},
		},
		"servers": []object{{"server": "10.0.0.1", "disabled": false, "instances": []string{first}}, {"server": "10.0.0.2", "disabled": false, "instances": []string{second}}, {"server": "10.0.0.3", "disabled": true, "instances": []string{third}}},
	})
}

func (s *scene) cron(w http.ResponseWriter, r *http.Request) {
	expression := r.URL.Query().Get("expression")
	if expression == "0 late bad * * * ?" { // as a whole: who types slowly asks for less before
		s.lateAsked <- true
		held(r, s.late)
	}
	if strings.Contains(expression, "bad") {
		answer(w, 422, object{"title": "not allowed", "status": 422, "detail": `the field "bad" of the seconds must be 0 to 59`, "cause": "invalid", "position": 4})
		return
	}
	day := time.Date(2027, 3, 28, 0, 0, 0, 0, time.UTC)
	answer(w, 200, object{
		"cron": expression, "words": "every 5 minutes",
		"next_fires": []time.Time{day.Add(50 * time.Minute), day.Add(55 * time.Minute), day.Add(60 * time.Minute), day.Add(65 * time.Minute), day.Add(70 * time.Minute)},
		"changes":    []object{{"at": day.Add(time.Hour), "before": 3600, "after": 7200}},
	})
}

func (s *scene) putConfig(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct{ Text, Base, Reason string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	if r.Header.Get("If-Match") != fmt.Sprintf(`"%d"`, s.revision) {
		answer(w, 412, object{"title": "stale", "status": 412, "detail": "the configuration was changed since it was shown", "cause": "stale"})
		return
	}
	plan := object{"verb": "change settings", "job": "orders-settle", "state": 1, "config": s.revision, "changes": []object{{"what": "cron", "before": `"0 0/5 * * * ?"`, "after": `"0 0/2 * * * ?"`}}, "next": []time.Time{time.Now().Add(time.Minute)}}
	if r.URL.Query().Has("dry-run") {
		answer(w, 200, object{"plan": plan, "words": "every 2 minutes"})
		return
	}
	s.config = body.Text
	s.revision += 7
	s.committed = r.Header.Get("Idempotency-Key")
	if s.unanswered {
		s.unanswered = false
		answer(w, 503, object{"title": "Service Unavailable", "status": 503, "detail": "outcome unknown", "cause": "unknown outcome"})
		return
	}
	answer(w, 202, object{"plan": plan, "revision": s.revision})
}

// somebodyElseCommits changes what is stored.
func (s *scene) somebodyElseCommits(was, is string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config = strings.Replace(s.config, was, is, 1)
	s.revision += 3
}

func (s *scene) bulk(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Verb string
		Jobs []string
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	dry := r.URL.Query().Has("dry-run")
	s.note(r, fmt.Sprint(body))
	var all []object
	for _, name := range body.Jobs {
		s.mu.Lock()
		row := s.row(name)
		if row["status"] == "DISABLED" && body.Verb == "disable" {
			all = append(all, object{"job": name, "problem": object{"type": "about:blank", "title": "already so", "status": 409, "cause": "already so", "why": "it is disabled already, by otto"}})
		} else {
			all = append(all, object{"job": name, "outcome": object{"plan": object{"verb": body.Verb + " job", "job": name, "state": 1, "config": 1}}})
			if !dry && body.Verb == "disable" {
				row["status"], row["disabled"], row["next"] = "DISABLED", true, nil
			}
		}
		s.mu.Unlock()
	}
	status := 202
	if dry {
		status = 200
	}
	answer(w, status, object{"id": "bulk-1", "jobs": all})
}

// backfill runs one fire with each request.
func (s *scene) backfill(w http.ResponseWriter, r *http.Request) {
	var body struct{ Fires []string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	if r.URL.Query().Has("dry-run") || len(body.Fires) == 0 {
		planned := object{"id": "", "done": []object{}, "left": body.Fires}
		if len(body.Fires) > 0 {
			planned["may_have_run"] = object{"fires": 1, "last": body.Fires[0]}
		}
		answer(w, 200, planned)
		return
	}
	again := r.URL.Query().Has("again")
	line := fmt.Sprint(r.Header.Get("Idempotency-Key"), " ", body.Fires)
	if again {
		line += " again"
	}
	s.note(r, line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if again && s.forgot {
		answer(w, 409, object{"title": "overtaken", "status": 409, "cause": "overtaken", "detail": "the job does not know the id any more"})
		return
	}
	s.filled = body.Fires[0]
	if s.loses {
		s.loses = false
		answer(w, 502, object{"title": "bad gateway", "status": 502, "detail": "the proxy lost the answer"})
		return
	}
	if s.slow {
		s.slow = false
		answer(w, 202, object{"id": "", "done": []object{}, "left": body.Fires, "under_way": object{"plan": object{}, "progress": object{"done": false, "ready": 0, "of": 1, "text": "item 0 runs"}}})
		return
	}
	b := object{"id": r.Header.Get("Idempotency-Key"), "done": []object{{"id": "", "plan": object{}}}, "left": body.Fires[1:]}
	if s.failing {
		b["failed"], s.failing = "fire 2026-03-01T10:00:00Z: item 1 failed (exit 3)", false
	}
	answer(w, 202, b)
}

// operation answers all others.
func (s *scene) operation(w http.ResponseWriter, r *http.Request) {
	several := strings.HasSuffix(r.URL.Path, "/import") || strings.Contains(r.URL.Path, "/servers/")
	var asked struct {
		Text  string
		Shown object
	}
	_ = json.NewDecoder(r.Body).Decode(&asked)
	text := ""
	if several {
		text = fmt.Sprint(asked.Text, slices.Sorted(maps.Keys(asked.Shown)))
		for _, of := range asked.Shown {
			shown, _ := of.(object)
			text += fmt.Sprint(slices.Sorted(maps.Keys(shown)))
		}
	}
	s.note(r, text)
	plan := object{
		"verb": path.Base(r.URL.Path), "job": "orders-settle", "state": 1, "config": s.revision,
		"changes":  []object{{"what": "disabled", "before": "false", "after": "true"}},
		"moves":    []object{{"item": 2, "from": second, "to": first}},
		"warnings": []string{"item 1 runs at the moment, and goes on"}, "notes": []string{"items 1 and 7 run"},
	}
	body := object{"plan": plan}
	if !r.URL.Query().Has("dry-run") {
		body["operation"] = object{"job": "orders-settle", "id": "op-1", "verb": plan["verb"], "who": "anna", "when": time.Now()}
		body["progress"] = object{"done": true, "ready": 20, "of": 20, "text": "20 of 20 items ok", "items": []object{}}
	}
	if several {
		body = object{"jobs": []object{{"job": "orders-settle", "outcome": object{"plan": plan}}, {"job": "stock-count", "problem": object{"title": "unusable", "status": 409, "why": "it cannot be read"}}}}
	}
	if strings.HasSuffix(r.URL.Path, "/import") {
		body["differences"] = []string{"+ new-job", `~ orders-settle  cron  "0 0/5 * * * ?" -> "0 0/2 * * * ?"`}
	}
	answer(w, 200, body)
}

func (s *scene) note(r *http.Request, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/shop") + " " + body
	if r.URL.Query().Has("dry-run") {
		line = "dry " + line
	}
	s.asked = append(s.asked, line)
}

// done returns the operations that were not dry runs.
func (s *scene) done() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.asked {
		if !strings.HasPrefix(line, "dry ") {
			all = append(all, line)
		}
	}
	return all
}

func (s *scene) executions(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	now := time.Now().UTC()
	var all []object
	for i := range 40 {
		begin := now.Add(-time.Duration(i) * 47 * time.Second)
		if i >= 12 { // some are of another day, which is written beside the time
			begin = begin.AddDate(0, 0, -20)
		}
		e := object{
			"id": fmt.Sprint(i), "round": fmt.Sprintf("round-%d", i/4), "job": "orders-settle", "ip": fmt.Sprintf("10.0.0.%d", 1+i%3), "source": "scheduled", "item": i % 20, "token": 48000 + i,
			"fire": begin.Truncate(time.Minute), "start": begin, "complete": begin.Add(time.Duration(200+i*37) * time.Millisecond), "success": true, "running": false,
		}
		switch i % 10 {
		case 3:
			e["source"] = "failover"
		case 2:
			e["output"] = 6_200
		case 5:
			e["output"] = 310_000
			e["success"], e["error"] = false, "exit 3: no such table: settlements_2026\ngoroutine 71 [running]:\nmain.settle()"
		case 7:
			e["source"] = "misfire"
		case 0:
			if i == 0 {
				e["running"], e["success"] = true, false
				delete(e, "complete")
			}
		}
		if source := query.Get("source"); source != "" && e["source"] != source {
			continue
		}
		if round := query.Get("round"); round != "" && e["round"] != round {
			continue
		}
		all = append(all, e)
	}
	answer(w, 200, object{"executions": append([]object{}, all...), "total": len(all) * 3, "recorded": "store"})
}
