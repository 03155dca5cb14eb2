package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/seed"
)

// Every route is described with its parameters, and everything that is described is a route.
func TestTheDescriptionHasEveryRoute(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	described := make(map[string][]string)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			names := []string{}
			for _, p := range operation.Parameters {
				if p.Value.In == openapi3.ParameterInQuery {
					names = append(names, p.Value.Name)
				}
			}
			slices.Sort(names)
			described[method+" "+path] = names
		}
	}
	routes := make(map[string][]string)
	for _, r := range (&API{}).routes() {
		routes[r.method+" "+r.path] = append([]string{}, slices.Sorted(slices.Values(r.parameters))...)
	}
	require.Equal(t, described, routes)
}

// A misspelt parameter is refused on every route, and nothing is done: least of all what only a plan was wanted of.
func TestUnknownParametersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, r := range (&API{}).routes() {
		said := w.askAt(t, anna, r.method, somewhere(r.path)+"?dryrun=true", nil).problem(t, http.StatusBadRequest)
		require.Equal(t, "dryrun", said.Field, r.path)
		require.Contains(t, said.Detail, "want ", r.path)
	}
	said := w.ask(t, anna, "POST", "/jobs/orders/remove?dry-run&dry%RUN", nil).problem(t, http.StatusBadRequest)
	require.Equal(t, "query", said.Field)
	said = w.ask(t, anna, "POST", "/jobs/orders/disable?dryRun=true", nil).problem(t, http.StatusBadRequest)
	require.Equal(t, "dryRun: it is no parameter here: want some of dry-run, wait, again", said.Detail)
	stored, err := w.reg.Get(t.Context(), jobtree.For("orders").Config())
	require.NoError(t, err)
	require.Contains(t, stored.Value, `"disabled":false`)
}

// somewhere is a path of a route, with things that there are.
func somewhere(path string) string {
	return strings.NewReplacer("{namespace}", "shop", "{job}", "orders", "{item}", "0", "{ip}", "10.0.0.1", "{instance}", first, "{id}", "x").Replace(path)
}

// All routes, asked by every role: what is not granted is forbidden, what is granted is never forbidden, and who is
// nobody gets nothing.
func TestRoutesAndRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	grant := func(role access.Role, namespace, jobs string) access.Identity {
		return access.Identity{Name: "x", How: access.ByToken, Grants: []access.Grant{{Role: role, Namespace: namespace, Jobs: jobs}}}
	}
	roles := map[string]access.Identity{
		"nobody": nobody, "somebody without grants": {Name: "x", How: access.ByToken},
		"admin of another namespace": grant(access.Admin, "bank", "*"), "admin of other jobs": grant(access.Admin, "shop", "mail*"),
		"viewer": grant(access.Viewer, "shop", "*"), "operator": grant(access.Operator, "shop", "*"), "admin": grant(access.Admin, "shop", "*"),
		"viewer of the job": grant(access.Viewer, "shop", "orders"), "operator of the job": grant(access.Operator, "shop", "ord*"), "admin of the job": grant(access.Admin, "*", "orders"),
	}
	enough := map[access.Action]map[access.Role]bool{
		access.Read:       {access.Viewer: true, access.Operator: true, access.Admin: true},
		access.Operate:    {access.Operator: true, access.Admin: true},
		access.Administer: {access.Admin: true},
	}
	for _, r := range (&API{}).routes() {
		if strings.HasSuffix(r.path, "/events") { // which package live refuses by topic, and does not end
			continue
		}
		for name, who := range roles {
			path := somewhere(r.path)
			body := any(nil)
			switch {
			case strings.HasSuffix(path, "/import"):
				body = "{"
			case strings.HasSuffix(path, "/bulk"):
				body = wire.Bulk{Verb: "reshard", Jobs: []string{"orders"}}
			case r.method == "POST" && strings.HasSuffix(path, "/jobs"):
				body = wire.NewJob{Job: "orders", Text: "{"}
			case r.method != "GET":
				body = map[string]any{}
			}
			if r.method != "GET" {
				path += "?dry-run"
			}
			got := w.askAt(t, who, r.method, path, body)
			var granted bool
			if len(who.Grants) > 0 {
				g := who.Grants[0]
				here := g.Namespace == "shop" || g.Namespace == "*"
				ofAll, ofJob := g.Jobs == "*", strings.HasPrefix(g.Jobs, "ord")
				switch r.scope {
				case visible:
					granted = here
				case oneJob, named:
					granted = here && (ofAll || ofJob) && enough[r.action][g.Role]
				default:
					granted = here && ofAll && enough[r.action][g.Role]
				}
			}
			what := r.method + " " + r.path + " by " + name
			switch {
			case who.Name == "":
				got.problem(t, http.StatusUnauthorized)
			case r.scope == anybody || granted:
				require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, got.status, what)
				require.Less(t, got.status, 500, what)
			default:
				require.Equal(t, http.StatusForbidden, got.status, what)
			}
		}
	}
}

// unreadable is a body that nobody may read.
type unreadable struct{ tb testing.TB }

func (u unreadable) Read([]byte) (int, error) {
	u.tb.Error("the body was read")
	return 0, io.EOF
}

// Who may do something to no job at all is refused before what they send is read.
func TestTheBodyOfWhoMayNotIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, r := range (&API{}).routes() {
		if r.method == "GET" || strings.HasSuffix(r.path, "/events") {
			continue
		}
		recorder := httptest.NewRecorder()
		w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(access.NewContext(t.Context(), vera), r.method, somewhere(r.path), unreadable{t}))
		require.Equal(t, http.StatusForbidden, recorder.Code, r.path)
	}
}

// What takes many times its bytes in memory is refused while it is read, and few long requests are read at once.
func TestLongRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	plans := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `,"%d":{}`, i)
		}
		return `{"verb":"disable","jobs":["mail"],"shown":{` + text.String()[1:] + `}}`
	}
	require.Equal(t, 200, w.ask(t, olaf, "POST", "/bulk?dry-run", plans(wire.MaxPlans)).status)
	p := w.ask(t, olaf, "POST", "/bulk?dry-run", plans(wire.MaxPlans+1)).problem(t, 400)
	require.Equal(t, "body: more than 50000 plans were shown", p.Detail)
	changes := `{"verb":"disable","jobs":["mail"],"shown":{"mail":{"changes":[null` + strings.Repeat(",null", maxValues) + `]}}}`
	p = w.ask(t, olaf, "POST", "/bulk?dry-run", changes).problem(t, 400)
	require.Equal(t, "body: it has more than 1048576 values", p.Detail)

	for range mostOfOne {
		_, err := w.api.bodies.take(t.Context(), olaf.Name)
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(access.NewContext(t.Context(), olaf))
	cancel()
	for _, body := range []io.Reader{strings.NewReader(strings.Repeat(" ", maxBody+1)), io.NopCloser(unreadable{t})} {
		recorder := httptest.NewRecorder()
		w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, "POST", somewhere("/namespaces/{namespace}/bulk"), body))
		require.Equal(t, statusBrokenOff, recorder.Code)
	}
	short := wire.Bulk{Verb: "disable", Jobs: []string{"mail"}}
	require.Equal(t, 200, w.ask(t, olaf, "POST", "/bulk?dry-run", short).status, "a short one waits for nobody")
}

// Whoever sends slowly, as many requests as they may, keeps nobody but themselves from sending long ones.
func TestSlowBodiesKeepNobodyElseOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ask := func(ctx context.Context, who access.Identity, path string, body io.Reader) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(access.NewContext(ctx, who), "POST", "/namespaces/shop"+path, body))
		return recorder
	}
	var slow sync.WaitGroup
	var ends []func()
	for range mostLarge - 1 {
		body, write := io.Pipe()
		slow.Go(func() { require.Equal(t, 200, ask(t.Context(), mailer, "/bulk?dry-run", body).Code) })
		_, err := io.WriteString(write, `{"verb":"disable",`) // it is being read
		require.NoError(t, err)
		ends = append(ends, func() {
			_, err := io.WriteString(write, `"jobs":["mail"]}`)
			require.NoError(t, errors.Join(err, write.Close()))
		})
	}
	file := "new:\n  config: {cron: '@daily', shardingTotalCount: 1}\n" + strings.Repeat("# x\n", maxBody/4)
	got := ask(t.Context(), anna, "/import?dry-run", strings.NewReader(file))
	require.Equal(t, 200, got.Code, got.Body)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, statusBrokenOff, ask(gone, mailer, "/bulk?dry-run", io.NopCloser(unreadable{t})).Code)
	for _, end := range ends {
		end()
	}
	slow.Wait()
	require.Empty(t, w.api.bodies.own, "users are forgotten")
	require.Less(t, mostOfOne, mostLarge, "nobody has all turns")
}

// A file takes many times its bytes in memory, and so has a bound of values, and its faults one of their own.
func TestImportsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for name, text := range map[string]string{
		"list":    "a: [" + strings.Repeat("0,", maxNodes/2) + "0]",
		"lists":   "a: [" + strings.Repeat("[],", maxNodes/2) + "0]",
		"names":   "a: {" + strings.Repeat("0,", maxNodes/2) + "0}",
		"mapping": strings.Repeat("0:\n", maxNodes/2+1),
		"items":   "a:\n" + strings.Repeat("-\n", maxNodes+1),
		"keys":    strings.Repeat("?\n", maxNodes/2+1),
	} {
		p := w.ask(t, anna, "POST", "/import?dry-run", text).problem(t, 400)
		require.Equal(t, "body: it has more than 1200000 values: import it in parts", p.Detail, name)
	}

	wrong := strings.Repeat("0: {}\n", fewNodes)
	p := w.ask(t, anna, "POST", "/import?dry-run", wrong).problem(t, 422)
	require.Contains(t, p.Detail, "line 100: invalid seed: /0 says nothing\ninvalid seed: there are 19900 more faults")
	p = w.ask(t, anna, "POST", "/import?dry-run", strings.Repeat("ü", maxBody)+": {}").problem(t, 422)
	require.LessOrEqual(t, len(p.Detail), maxFault)

	leave, err := w.api.files.take(t.Context(), "zoe")
	require.NoError(t, err)
	require.Equal(t, 200, w.ask(t, anna, "POST", "/import?dry-run", "new: {config: {cron: '@daily', shardingTotalCount: 1}}").status, "a small one waits for nobody")
	gone, cancel := context.WithCancel(access.NewContext(t.Context(), anna))
	cancel()
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(gone, "POST", "/namespaces/shop/import?dry-run", strings.NewReader(wrong)))
	require.Equal(t, statusBrokenOff, recorder.Code)
	leave()
}

// A file of as many jobs as a request may have room for is within the bounds, however it is written.
func TestNodesOfFilesThatPeopleKeep(t *testing.T) {
	t.Parallel()
	for _, job := range []string{
		"orders-%06d:\n  config:\n    cron: 0 0/5 * * * ?\n    shardingTotalCount: 1\n    misfire: false\n",
		"orders-%06d: {config: {cron: '0 0/5 * * * ?', shardingTotalCount: 2, shardingItemParameters: '0=a,1=b', failover: true}}\n",
		`orders-%06d: {config: '{"cron":"0 0/5 * * * ?","shardingTotalCount":2,"shardingItemParameters":"0=a,1=b","failover":true}'}` + "\n",
		"orders-%06d:\n  config:\n    cron: '@daily'\n    shardingTotalCount: 200\n    shardingItemParameters: " + strings.Repeat("99=a,", 200) + "\n",
	} {
		var text strings.Builder
		for i := 0; text.Len() < maxImport; i++ {
			fmt.Fprintf(&text, job, i)
		}
		require.LessOrEqual(t, nodesOf(text.String()), maxNodes, job)
	}
}

// A GET changes nothing, whoever asks for whatever.
func TestAGetChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before, revision, err := w.reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	for _, r := range (&API{}).routes() {
		if strings.HasSuffix(r.path, "/events") {
			continue
		}
		w.askAt(t, anna, "GET", somewhere(r.path)+"?from=2025-01-01T00:00:00Z&to=2025-01-01T00:05:00Z&expression=@daily&force=true&reason=x", nil)
		head := httptest.NewRequestWithContext(access.NewContext(t.Context(), anna), "HEAD", somewhere(r.path), nil)
		w.api.ServeHTTP(httptest.NewRecorder(), head)
	}
	after, now, err := w.reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, revision, now)
}

func TestListsOfJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	names := func(who access.Identity, query string) (names []string, page wire.JobPage) {
		t.Helper()
		got := w.ask(t, who, "GET", "/jobs"+query, nil)
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		var rows struct {
			Jobs []operate.JobRow
		}
		got.into(t, &rows)
		got.into(t, &page)
		for _, r := range rows.Jobs {
			names = append(names, r.Job)
		}
		return names, page
	}
	for query, want := range map[string][]string{
		"":                                 {"broken", "mail", "nightly", "orders"},
		"?match=*l*":                       {"mail", "nightly"},
		"?status=disabled":                 {"nightly"},
		"?status=PAUSED&status=disabled":   {"broken", "nightly"},
		"?status=paused,disabled":          {"broken", "nightly"},
		"?sort=-name":                      {"orders", "nightly", "mail", "broken"},
		"?sort=-instances&limit=3":         {"orders", "nightly", "mail"},
		"?sort=items&limit=1":              {"broken"},
		"?limit=2&offset=1":                {"mail", "nightly"},
		"?offset=99":                       nil,
		"?sort=next&match=[mo]*":           {"orders", "mail"},
		"?sort=last&limit=2&match=[^b]*":   {"mail", "orders"},
		"?sort=status&match=[bn]*&limit=9": {"nightly", "broken"},
	} {
		got, page := names(vera, query)
		if query == "?sort=next&match=[mo]*" || strings.HasPrefix(query, "?sort=last") || strings.HasPrefix(query, "?sort=status") {
			require.ElementsMatch(t, want, got, query) // they may be equal in it
		} else {
			require.Equal(t, want, got, query)
		}
		require.NotZero(t, page.Revision)
		require.True(t, page.Connected)
	}
	got, page := names(mailer, "")
	require.Equal(t, []string{"mail"}, got, "of the others they know nothing")
	require.Equal(t, 1, page.Total)
	for _, query := range []string{"?match=[", "?sort=size", "?limit=0", "?limit=501", "?offset=-1", "?status=nonsense", "?status=paused,running"} {
		p := w.ask(t, vera, "GET", "/jobs"+query, nil).problem(t, http.StatusBadRequest)
		require.Contains(t, query, p.Field)
		require.Contains(t, p.Detail, p.Field+": ")
		if p.Field == "status" {
			require.Contains(t, p.Detail, "PAUSED")
		}
	}

	// What each row is held against is bounded, and only as many rows are looked at as who asks may read and waits for.
	long := "*[" + strings.Repeat("z", maxPattern) + "]"
	require.Equal(t, "match", w.ask(t, vera, "GET", "/jobs?match="+long, nil).problem(t, http.StatusBadRequest).Field)
	require.Equal(t, "match", w.ask(t, anna, "GET", "/export?match="+long, nil).problem(t, http.StatusBadRequest).Field)
	require.Equal(t, "match", w.ask(t, olaf, "POST", "/bulk?dry-run", wire.Bulk{Verb: "disable", Match: long}).problem(t, http.StatusBadRequest).Field)
	words := strings.Repeat("paused,", len(operate.WordsOfJobs())+1)
	require.Equal(t, "status", w.ask(t, vera, "GET", "/jobs?status="+words, nil).problem(t, http.StatusBadRequest).Field)
	ctx, cancel := context.WithCancel(access.NewContext(t.Context(), vera))
	cancel()
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, "GET", somewhere("/namespaces/{namespace}/jobs"), nil))
	require.Equal(t, statusBrokenOff, recorder.Code)
}

func TestOneJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var d wire.JobDetail
	w.ask(t, vera, "GET", "/jobs/orders", nil).into(t, &d)
	require.Equal(t, "orders", d.Job.Job)
	require.Equal(t, "every minute.", strings.ToLower(d.Words))
	require.Len(t, d.Items, 2)
	require.Len(t, d.NextFires, 5)
	require.Len(t, d.Instances, 2)
	require.Equal(t, wire.JobInstance{Instance: first, Server: "10.0.0.1", Enabled: true, Leader: true, Items: []int{0}}, d.Instances[0])
	require.Equal(t, "***", d.Settings["shardingItemParameters"])
	w.ask(t, vera, "GET", "/jobs/mail", nil).into(t, &d)
	require.Contains(t, d.Servers, wire.JobServer{Server: "10.0.0.9", Disabled: true, Instances: []string{}})
	require.Equal(t, "exit 3", d.Job.Last.Error)
	w.ask(t, vera, "GET", "/jobs/broken", nil).into(t, &d)
	require.Contains(t, d.Job.Reasons[0].Word, "PAUSED")
	w.ask(t, vera, "GET", "/jobs/none", nil).problem(t, http.StatusNotFound)
	w.ask(t, vera, "GET", "/jobs/orders%2Fconfig", nil).problem(t, http.StatusBadRequest)
	for _, topics := range []string{"", "?topic=nothing", "?topic=job/mail"} {
		w.ask(t, access.Identity{Name: "x", How: access.ByToken, Grants: []access.Grant{{Role: access.Viewer, Namespace: "shop", Jobs: "o*"}}}, "GET", "/events"+topics, nil)
	}

	var servers wire.ServerList
	w.ask(t, vera, "GET", "/servers", nil).into(t, &servers)
	require.Len(t, servers.Servers, 3)
	var instances wire.InstanceList
	w.ask(t, vera, "GET", "/instances", nil).into(t, &instances)
	require.Len(t, instances.Instances, 2)
	var me wire.Me
	w.askAt(t, mailer, "GET", "/me", nil).into(t, &me)
	require.Equal(t, wire.Me{Name: "mailer", How: "token", Roles: []string{"operator"}, Namespaces: []string{"shop"}, Grants: []wire.Grant{{Role: "operator", Namespace: "shop", Jobs: "mail*"}}}, me)
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var full, masked wire.Config
	got := w.ask(t, anna, "GET", "/jobs/mail/config", nil)
	got.into(t, &full)
	tag := got.header.Get("ETag")
	require.Equal(t, `"`+full.Revision.String()+`"`, tag)
	require.Contains(t, full.Text, "geheim")
	require.Equal(t, http.StatusNotModified, w.ask(t, anna, "GET", "/jobs/mail/config", nil, "If-None-Match: "+tag).status)
	hidden := w.ask(t, olaf, "GET", "/jobs/mail/config", nil)
	hidden.into(t, &masked)
	require.True(t, masked.Hidden)
	require.NotContains(t, string(hidden.body), "geheim")
	require.Empty(t, full.Files)
	var owned wire.Config
	w.ask(t, vera, "GET", "/jobs/nightly/config", nil).into(t, &owned)
	require.Equal(t, "shop-files", owned.Files)

	changed := strings.Replace(full.Text, "0 0/2 ", "0 0/5 ", 1)
	put := func(body wire.NewConfig, query string, headers ...string) answer {
		t.Helper()
		return w.ask(t, anna, "PUT", "/jobs/mail/config"+query, body, headers...)
	}
	put(wire.NewConfig{Text: changed}, "").problem(t, http.StatusPreconditionRequired)
	for _, tag := range []string{"7", `"x"`, `""`, `"-1"`, `W/"7"`, "*"} {
		p := put(wire.NewConfig{Text: changed}, "", "If-Match: "+tag).problem(t, http.StatusBadRequest)
		require.Equal(t, "If-Match", p.Field)
	}
	var out wire.Outcome
	dry := put(wire.NewConfig{Text: changed}, "?dry-run", "If-Match: "+tag)
	require.Equal(t, http.StatusOK, dry.status, string(dry.body))
	dry.into(t, &out)
	require.Nil(t, out.Operation)
	require.Len(t, out.Plan.Next, 5)
	require.NotEmpty(t, out.Plan.Changes)
	shownPlan := out.Plan

	done := put(wire.NewConfig{Text: changed, Asked: wire.Asked{Shown: &shownPlan, Reason: "less mail"}}, "", "If-Match: "+tag, "Idempotency-Key: CHANGE1")
	require.Equal(t, http.StatusAccepted, done.status, string(done.body))
	done.into(t, &out)
	require.Equal(t, "CHANGE1", out.Operation.ID)
	require.Equal(t, "anna", out.Operation.Who)

	stale := put(wire.NewConfig{Text: strings.Replace(full.Text, "0 0/2 ", "0 0/7 ", 1), Base: full.Text}, "", "If-Match: "+tag).problem(t, http.StatusPreconditionFailed)
	require.Equal(t, "stale", stale.Cause)
	require.Equal(t, []operate.Change{{What: "cron", Before: `"0 0/2 * * * ?"`, After: `"0 0/5 * * * ?"`}}, stale.Diff)
	require.Contains(t, stale.Why, "by anna")

	tag = w.ask(t, anna, "GET", "/jobs/mail/config", nil).header.Get("ETag")
	require.Equal(t, `"`+out.Revision.String()+`"`, tag, "who writes here reads it here")
	invalid := put(wire.NewConfig{Text: strings.Replace(full.Text, "0 0/2 ", "0 61 ", 1)}, "", "If-Match: "+tag).problem(t, http.StatusUnprocessableEntity)
	require.Equal(t, "invalid", invalid.Cause)
	require.Contains(t, invalid.Detail, "61")

	back := w.ask(t, anna, "POST", "/jobs/mail/rollback", wire.RollBack{To: "CHANGE1"})
	require.Equal(t, http.StatusAccepted, back.status, string(back.body))
	w.ask(t, anna, "POST", "/jobs/mail/rollback", wire.RollBack{To: "NONE"}).problem(t, http.StatusNotFound)
	w.ask(t, anna, "POST", "/jobs/mail/rollback", wire.RollBack{}).problem(t, http.StatusBadRequest)
	w.ask(t, anna, "GET", "/jobs/mail/config", nil).into(t, &full)
	require.Contains(t, full.Text, "0 0/2 ")
}

// Asked for again under the same key, an operation is found to be done; under another one it is refused.
func TestAnOperationIsDoneOnceForItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	disable := func(key string) answer {
		return w.ask(t, olaf, "POST", "/jobs/orders/disable", wire.Asked{Reason: "locked"}, "Idempotency-Key: "+key, "User-Agent: elasticron v9")
	}
	var out wire.Outcome
	got := disable("K1")
	require.Equal(t, http.StatusAccepted, got.status, string(got.body))
	got.into(t, &out)
	require.False(t, out.Repeated)
	require.NotZero(t, out.Revision)
	disable("K1").into(t, &out)
	require.True(t, out.Repeated)
	p := disable("K2").problem(t, http.StatusConflict)
	require.Equal(t, "already so", p.Cause)
	require.Contains(t, p.Why, "by olaf with elasticron v9, by session")
	p = w.ask(t, olaf, "POST", "/jobs/orders/enable", nil, "Idempotency-Key: K1").problem(t, http.StatusConflict)
	require.Equal(t, "used", p.Cause)
	w.ask(t, olaf, "POST", "/jobs/orders/enable", nil, "Idempotency-Key: no spaces").problem(t, http.StatusUnprocessableEntity)

	var list wire.OperationList
	w.ask(t, vera, "GET", "/operations/K1", nil).into(t, &list)
	require.Len(t, list.Operations, 1)
	require.Equal(t, "locked", list.Operations[0].Reason)
	put := registry.Put(jobtree.For("orders").ItemDisabled(1), "")
	revision, err := w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{put}})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		w.ask(t, vera, "GET", "/operations?job=orders", nil).into(t, &list)
		return len(list.Outside) == 1 && list.Outside[0] == operate.OutsideChange{Job: "orders", What: "item 1", Revision: revision}
	}, time.Minute, 10*time.Millisecond)
	w.ask(t, mailer, "GET", "/operations", nil).into(t, &list)
	require.Empty(t, list.Operations)
	w.ask(t, mailer, "GET", "/operations?job=orders", nil).problem(t, http.StatusForbidden)
}

// What is asked for again only to learn what it came to is not done a second time, however much came between.
func TestAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const disable = "/jobs/orders/disable"
	w.ask(t, olaf, "POST", disable+"?again", nil).problem(t, http.StatusBadRequest)
	require.Equal(t, "overtaken", w.ask(t, olaf, "POST", disable+"?again", nil, "Idempotency-Key: K1").problem(t, http.StatusConflict).Cause, "it never was done")
	require.Equal(t, http.StatusAccepted, w.ask(t, olaf, "POST", disable, nil, "Idempotency-Key: K1").status)
	var out wire.Outcome
	got := w.ask(t, olaf, "POST", disable+"?again&wait=10ms", nil, "Idempotency-Key: K1")
	require.Less(t, got.status, 300, string(got.body))
	got.into(t, &out)
	require.True(t, out.Repeated)
	for i := range jobtree.MaxOperations + 1 { // the last one enables
		path := []string{"/jobs/orders/enable", disable}[i%2]
		got := w.ask(t, olaf, "POST", path, nil)
		require.Equal(t, http.StatusAccepted, got.status, string(got.body))
	}
	p := w.ask(t, olaf, "POST", disable+"?again=true&wait=10ms", nil, "Idempotency-Key: K1").problem(t, http.StatusConflict)
	require.Equal(t, "overtaken", p.Cause)
	var refusal *operate.Refusal
	require.ErrorAs(t, p.Err(), &refusal)
	node, err := w.reg.Get(t.Context(), jobtree.For("orders").Operated())
	require.NoError(t, err)
	require.NotContains(t, node.Value, "K1")
	fires := wire.BackfillRequest{Fires: []time.Time{time.Date(2025, 3, 1, 2, 0, 0, 0, time.UTC)}}
	p = w.ask(t, olaf, "POST", "/jobs/orders/backfill?again&wait=20s", fires, "Idempotency-Key: FILL").problem(t, http.StatusConflict)
	require.Equal(t, "overtaken", p.Cause)
}

func TestOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	do := func(path string, body any, status int) answer {
		t.Helper()
		got := w.ask(t, olaf, "POST", path, body)
		require.Equal(t, status, got.status, "%s: %s", path, got.body)
		return got
	}
	do("/jobs/orders/items/1/disable", nil, 202)
	do("/jobs/orders/items/1/disable", nil, 409)
	do("/jobs/orders/items/1/enable?dry-run", nil, 200)
	do("/jobs/orders/items/1/enable", wire.Asked{Reason: "again"}, 202)
	do("/jobs/orders/items/9/enable", nil, 404)
	do("/jobs/orders/items/01/enable", nil, 400)
	do("/jobs/orders/items/1/give-up", nil, 409)
	do("/jobs/orders/reshard", nil, 202)
	do("/jobs/mail/tidy", wire.Servers{Servers: []string{"10.0.0.9"}}, 202)
	do("/jobs/none/disable", nil, 404)
	do("/jobs/broken/disable", nil, 409)

	var out wire.Outcome
	do("/jobs/orders/trigger", wire.Trigger{Items: []int{0}, Parameter: "day=1", Within: "2h"}, 202).into(t, &out)
	require.NotZero(t, out.Revision)
	require.NotContains(t, out.Plan.String()+out.Plan.Changes[0].String(), "day=1", "a parameter may be secret")
	p := w.ask(t, olaf, "POST", "/jobs/orders/trigger", nil).problem(t, http.StatusConflict)
	require.Equal(t, "pending", p.Cause)
	require.NotEmpty(t, p.Do)
	require.True(t, p.Replaceable)
	do("/jobs/orders/trigger", wire.Trigger{Replace: true}, 202).into(t, &out)
	w.ask(t, olaf, "POST", "/jobs/orders/trigger?wait=20ms", wire.Trigger{Replace: true}, "Idempotency-Key: "+out.ID).into(t, &out)
	require.True(t, out.Repeated)
	require.NotEmpty(t, out.Unconfirmed, "nobody runs it here")
	require.Equal(t, 2, out.Progress.Of)
	do("/jobs/orders/trigger", wire.Trigger{Within: "soon"}, 400)
	none := map[string]any{"items": []int{}, "fires": []string{"2025-03-01T02:00:00Z"}}
	require.Equal(t, "items", do("/jobs/orders/backfill?dry-run", none, 400).problem(t, 400).Field, "an empty list is not all items")
	delete(none, "fires")
	none["replace"] = true
	require.Equal(t, "items", do("/jobs/orders/trigger?dry-run", none, 400).problem(t, 400).Field)
	none["verb"], none["match"] = "trigger", "*"
	require.Equal(t, "items", do("/bulk?dry-run", none, 400).problem(t, 400).Field)
	do("/jobs/orders/trigger?wait=1h", nil, 400)
	do("/jobs/orders/trigger?dry-run=maybe", nil, 400)

	var one wire.Outcome
	do("/servers/10.0.0.1/disable?job=orders", nil, 202).into(t, &one)
	require.Equal(t, "server 10.0.0.1", one.Plan.Target)
	var many wire.Outcomes
	do("/servers/10.0.0.1/disable?dry-run", nil, 200).into(t, &many)
	require.Len(t, many.Jobs, 3)
	do("/servers/10.0.0.1/disable", nil, 202).into(t, &many)
	do("/servers/10.0.0.1/enable", nil, 202).into(t, &many)
	require.Len(t, many.Jobs, 3)
	for _, j := range many.Jobs {
		require.Nil(t, j.Problem, j.Job)
		require.NotNil(t, j.Outcome)
	}
	do("/servers/10.9.9.9/disable", nil, 404)
	do("/instances/"+second+"/shutdown?job=mail", nil, 202)
	do("/instances/"+second+"/shutdown?wait=10ms", nil, 202).into(t, &many)
	require.Len(t, many.Jobs, 3)

	do("/bulk?dry-run", wire.Bulk{Verb: "disable", Match: "[mo]*"}, 200).into(t, &many)
	require.Len(t, many.Jobs, 2)
	do("/bulk", wire.Bulk{Verb: "disable", Jobs: []string{"mail", "nightly", "none"}, AskedOfMany: wire.AskedOfMany{Reason: "audit"}}, 202).into(t, &many)
	require.NotNil(t, many.Jobs[0].Outcome)
	require.Equal(t, "already so", many.Jobs[1].Problem.Cause)
	require.Equal(t, 404, many.Jobs[2].Problem.Status)
	do("/bulk", wire.Bulk{Verb: "dance", Match: "*"}, 400)
	do("/bulk", wire.Bulk{Verb: "disable"}, 400)
	do("/bulk", wire.Bulk{Verb: "disable", Match: "["}, 422)
	do("/bulk", wire.Bulk{Verb: "disable", Match: "zz*"}, 404)
	do("/bulk?wait=1s", wire.Bulk{Verb: "disable", Match: "*"}, 400)
	w.ask(t, mailer, "POST", "/bulk", wire.Bulk{Verb: "enable", Jobs: []string{"mail", "orders"}}).problem(t, http.StatusForbidden)
	w.ask(t, mailer, "POST", "/bulk?dry-run", wire.Bulk{Verb: "enable", Match: "*"}).into(t, &many)
	require.Len(t, many.Jobs, 1, "of the others they know nothing")
}

// plansOf are what a dry run has shown, by job.
func plansOf(jobs []wire.JobOutcome) map[string]*operate.Plan {
	shown := make(map[string]*operate.Plan)
	for _, j := range jobs {
		if j.Outcome != nil {
			shown[j.Job] = &j.Outcome.Plan
		}
	}
	return shown
}

// What somebody saw of a server's jobs, of several jobs and of a file is what is done.
func TestManyJobsAsTheyWereShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var many wire.Outcomes
	w.ask(t, olaf, "POST", "/servers/10.0.0.1/disable?dry-run", nil).into(t, &many)
	shown := plansOf(many.Jobs)
	require.Len(t, shown, 3)
	require.Equal(t, 202, w.ask(t, olaf, "POST", "/servers/10.0.0.1/disable?job=mail", nil).status)
	require.Equal(t, 202, w.ask(t, olaf, "POST", "/jobs/nightly/enable", nil).status)
	delete(shown, "orders")
	w.ask(t, olaf, "POST", "/servers/10.0.0.1/disable", wire.AskedOfMany{Shown: shown}).into(t, &many)
	causes := make(map[string]string)
	for _, j := range many.Jobs {
		causes[j.Job] = ""
		if j.Problem != nil {
			causes[j.Job] = j.Problem.Cause
			require.Equal(t, 412, j.Problem.Status)
			require.NotEmpty(t, j.Problem.Diff)
		}
	}
	require.Equal(t, map[string]string{"mail": "", "nightly": "stale", "orders": "stale"}, causes)
	w.ask(t, olaf, "POST", "/servers/10.0.0.1/disable", wire.Asked{Shown: &operate.Plan{}}).problem(t, 400)

	w.ask(t, olaf, "POST", "/bulk?dry-run", wire.Bulk{Verb: "disable", Jobs: []string{"mail"}}).into(t, &many)
	ask := wire.Bulk{Verb: "disable", Jobs: []string{"mail", "orders"}, AskedOfMany: wire.AskedOfMany{Shown: plansOf(many.Jobs)}}
	w.ask(t, olaf, "POST", "/bulk", ask).into(t, &many)
	require.Nil(t, many.Jobs[0].Problem)
	require.Equal(t, "stale", many.Jobs[1].Problem.Cause)

	var in wire.Import
	file := wire.ImportRequest{Text: "fresh: {config: {cron: '@daily', shardingTotalCount: 1}}\nother: {config: {cron: '@daily', shardingTotalCount: 1}}\n"}
	w.ask(t, anna, "POST", "/import?dry-run", file).into(t, &in)
	file.Shown, file.Reason = plansOf(in.Jobs), "as agreed"
	require.Len(t, file.Shown, 2)
	taken := wire.NewJob{Job: "fresh", Text: `{"jobName":"fresh","jobClass":"fresh","jobType":"SIMPLE","cron":"@weekly","shardingTotalCount":1}`}
	require.Equal(t, 202, w.ask(t, anna, "POST", "/jobs", taken).status)
	w.ask(t, anna, "POST", "/import", file).into(t, &in)
	require.Equal(t, "fresh", in.Jobs[0].Job)
	require.Equal(t, "stale", in.Jobs[0].Problem.Cause)
	require.Nil(t, in.Jobs[1].Problem)
	require.Equal(t, "as agreed", in.Jobs[1].Outcome.Operation.Reason)
	w.ask(t, anna, "POST", "/import", wire.ImportRequest{Text: strings.Repeat("# x\n", maxImport/4+1)}).problem(t, 413)
}

// Whoever creates a job and waits hears the same of one with disabled items as of any other.
func TestAJobIsCreatedWithMarksAndFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	many := make([]int, 150) // more than one transaction takes
	for n := range many {
		many[n] = n
	}
	for name, items := range map[string][]int{"plain": nil, "marked": {1}, "marked-often": many} {
		text := fmt.Sprintf(`{"jobName":%q,"jobClass":"fresh","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":200}`, name)
		var out wire.Outcome
		got := w.ask(t, anna, "POST", "/jobs?wait=2s", wire.NewJob{Job: name, Text: text, Items: items})
		require.Equal(t, http.StatusAccepted, got.status)
		got.into(t, &out)
		require.Equal(t, "no instance takes part yet", out.Progress.Text, "%s: %s", name, out.Unconfirmed)
	}
}

func TestCreateAndRemove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	text := `{"jobName":"fresh","jobClass":"fresh","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":2}`
	fresh := wire.NewJob{Job: "fresh", Text: text, Servers: map[string]bool{"10.0.0.7": true}, Items: []int{1}}
	require.Equal(t, 200, w.ask(t, anna, "POST", "/jobs?dry-run", fresh).status)
	got := w.ask(t, anna, "POST", "/jobs", fresh)
	require.Equal(t, 202, got.status, string(got.body))
	for path, want := range map[string]string{"/fresh/config": text, "/fresh/servers/10.0.0.7": "DISABLED", "/fresh/sharding/1/disabled": ""} {
		n, err := w.reg.Get(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, want, n.Value)
	}
	require.Equal(t, "exists", w.ask(t, anna, "POST", "/jobs", fresh).problem(t, 409).Cause)
	w.ask(t, anna, "POST", "/jobs", wire.NewJob{Job: "a/b", Text: text}).problem(t, 400)
	w.ask(t, anna, "POST", "/jobs", wire.NewJob{Job: "other", Text: text}).problem(t, 422)
	other := wire.NewJob{Job: "other", Text: strings.Replace(text, "fresh", "other", 1), Servers: map[string]bool{"a/b": true}}
	require.Contains(t, w.ask(t, anna, "POST", "/jobs?dry-run", other).problem(t, 422).Detail, `"a/b" is no address of a server`)
	restricted := access.Identity{Name: "x", How: access.ByToken, Grants: []access.Grant{{Role: access.Admin, Namespace: "shop", Jobs: "mail*"}}}
	w.ask(t, restricted, "POST", "/jobs", wire.NewJob{Job: "orders2", Text: text}).problem(t, 403)

	require.Equal(t, "alive", w.ask(t, anna, "POST", "/jobs/orders/remove", nil).problem(t, 409).Cause)
	var out wire.Outcome
	w.ask(t, anna, "POST", "/jobs/fresh/remove?dry-run", nil).into(t, &out)
	got = w.ask(t, anna, "POST", "/jobs/fresh/remove", wire.Asked{Shown: &out.Plan})
	require.Equal(t, 200, got.status, string(got.body))
	_, err := w.reg.Get(t.Context(), "/fresh/config")
	require.ErrorIs(t, err, registry.ErrNotFound)
	w.ask(t, anna, "GET", "/jobs/fresh", nil).problem(t, 404)
}

func TestBackfillGoesOnWithItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var fires wire.FireList
	w.ask(t, olaf, "GET", "/jobs/orders/fires?from=2025-03-01T02:00:00Z&to=2025-03-01T02:02:00Z", nil).into(t, &fires)
	require.Len(t, fires.Fires, 3)
	w.ask(t, olaf, "GET", "/jobs/orders/fires?from=2025-03-01T02:00:00Z", nil).problem(t, 400)
	w.ask(t, olaf, "GET", "/jobs/orders/fires?from=yesterday&to=x", nil).problem(t, 400)
	w.ask(t, olaf, "GET", "/jobs/orders/fires?from=2025-03-01T02:00:00Z&to=2026-03-01T02:02:00Z", nil).problem(t, 422)
	body := wire.BackfillRequest{Fires: fires.Fires}
	var planned wire.Backfill
	w.ask(t, olaf, "POST", "/jobs/orders/backfill?dry-run", body).into(t, &planned)
	require.Equal(t, 3, planned.MayHaveRun.Fires, "the job has come to later ones")
	require.True(t, planned.MayHaveRun.Last.After(fires.Fires[2]))
	w.ask(t, olaf, "POST", "/jobs/orders/backfill", wire.BackfillRequest{Fires: fires.Fires, MayHaveRun: new(operate.MayHaveRun)}).problem(t, 412)
	body.MayHaveRun = &planned.MayHaveRun
	for range 2 {
		var b wire.Backfill
		got := w.ask(t, olaf, "POST", "/jobs/orders/backfill?wait=3s", body, "Idempotency-Key: FILL")
		require.Equal(t, 202, got.status, string(got.body))
		got.into(t, &b)
		require.NotEmpty(t, b.Unconfirmed, "nobody runs it here")
		require.Len(t, b.Left, 3)
		require.NotZero(t, b.MayHaveRun)
	}
	triggered := w.ask(t, olaf, "POST", "/jobs/orders/backfill", wire.BackfillRequest{Fires: []time.Time{time.Now().Add(time.Hour)}})
	triggered.problem(t, 422)
	w.ask(t, olaf, "POST", "/jobs/orders/backfill", wire.BackfillRequest{}).problem(t, 422)
}

func TestFilesOfJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	all := w.ask(t, anna, "GET", "/export", nil)
	require.Equal(t, 200, all.status)
	require.Equal(t, "1", all.header.Get(wire.HeaderLeftOut))
	require.Regexp(t, `^# job broken is left out: /broken/config`, string(all.body))
	require.Contains(t, string(all.body), "\norders:\n")
	_, err := seed.ParseYAML(all.body)
	require.NoError(t, err)
	require.Contains(t, w.ask(t, anna, "GET", "/export?job=broken", nil).problem(t, 409).Detail, "job broken is left out")
	got := w.ask(t, anna, "GET", "/export?job=mail&job=orders", nil)
	require.Equal(t, 200, got.status, string(got.body))
	require.Contains(t, string(got.body), "geheim", "a file is to be stored again as it was")
	w.ask(t, anna, "GET", "/export?job=none", nil).problem(t, 404)
	w.ask(t, anna, "GET", "/export?match=[", nil).problem(t, 400)

	file := strings.Replace(string(got.body), "0 0/2 ", "0 0/3 ", 1) + "\nfresh: {config: {cron: '@daily', shardingTotalCount: 1}}\n"
	var in wire.Import
	dry := w.ask(t, anna, "POST", "/import?dry-run", file)
	require.Equal(t, 200, dry.status, string(dry.body))
	dry.into(t, &in)
	require.Len(t, in.Jobs, 3)
	require.Len(t, in.Differences, 2)
	done := w.ask(t, anna, "POST", "/import?reason=more", file)
	require.Equal(t, 202, done.status, string(done.body))
	done.into(t, &in)
	for _, j := range in.Jobs {
		require.Nil(t, j.Problem, "%s: %+v", j.Job, j.Problem)
	}
	w.ask(t, anna, "POST", "/import?dry-run", file).into(t, &in)
	require.Empty(t, in.Differences)
	w.ask(t, anna, "POST", "/import", "orders: {config: {cron: 7 7}}").problem(t, 422)
	w.ask(t, anna, "POST", "/import", strings.Repeat("# x\n", maxImport/4+1)).problem(t, 413)
}

// An import tells what it does, and of the operations that the jobs know.
func TestAnImportTellsWhatItDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	file := strings.Replace(string(w.ask(t, anna, "GET", "/export?job=nightly", nil).body), "disabled: true", "disabled: false", 1)
	require.Contains(t, file, "disabled: false")
	var in wire.Import
	imports := func(status int, path, file string) *wire.Outcome {
		got := w.ask(t, anna, "POST", path, file, "Idempotency-Key: K")
		require.Equal(t, status, got.status, string(got.body))
		got.into(t, &in)
		require.Len(t, in.Jobs, 1)
		require.Nil(t, in.Jobs[0].Problem)
		return in.Jobs[0].Outcome
	}
	for _, path := range []string{"/import?dry-run", "/import"} {
		o := imports(200, path, file)
		require.Empty(t, in.Differences, "whether a job is disabled stays as it is")
		require.Equal(t, []string{"the job stays disabled: settings do not change that"}, o.Plan.Warnings)
		require.True(t, o.Repeated)
		require.Nil(t, o.Operation, "nothing was done")
		require.Equal(t, "K", o.ID)
		require.NotZero(t, o.When)
	}
	require.Nil(t, imports(202, "/import", file+"  servers: {10.0.0.7: DISABLED}\n").Operation, "that of the server has an id of its own")
	o := imports(202, "/import?reason=later", strings.Replace(file, "0 30 2", "0 30 3", 1))
	var audit wire.OperationList
	w.ask(t, anna, "GET", "/operations/K", nil).into(t, &audit)
	require.Len(t, audit.Operations, 1)
	require.Equal(t, "later", o.Operation.Reason)
	require.Equal(t, audit.Operations[0].When, o.Operation.When)
}

// What is said of jobs that are left out is read as nothing else, whatever they are called.
func TestWhatAnExportLeavesOutIsNoJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	name := "x\u2028payroll: {config: {cron: '@daily', shardingTotalCount: 1}}\u2029# "
	revision, err := w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/"+name+"/config", "{")}})
	require.NoError(t, err)
	w.api.namespaces["shop"].wrote(revision)
	all := w.ask(t, anna, "GET", "/export", nil)
	require.Equal(t, "2", all.header.Get(wire.HeaderLeftOut))
	file, err := seed.ParseYAML(all.body)
	require.NoError(t, err, string(all.body))
	for path := range file.Nodes() {
		require.NotContains(t, path, "payroll")
	}
}

// Of a job that has moved, everything says where it is, and nothing takes the note of it for its configuration.
func TestAJobWhoseHomeIsElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	note := jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "two"})
	revision, err := w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(jobtree.For("gone").Config(), note)}})
	require.NoError(t, err)
	w.api.namespaces["shop"].wrote(revision)
	for _, path := range []string{"/jobs/gone", "/jobs/gone/config", "/export?job=gone"} {
		require.Equal(t, `there is no job "gone" here: its home is registry "two"`, w.ask(t, anna, "GET", path, nil).problem(t, 404).Detail)
	}
	all := w.ask(t, anna, "GET", "/export?match=[go]*", nil)
	require.Equal(t, 200, all.status)
	require.Empty(t, all.header.Get(wire.HeaderLeftOut))
}

// A file is applied to what is stored, whatever the copy shows.
func TestAFileIsAppliedToWhatIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	file := string(w.ask(t, anna, "GET", "/export?job=orders", nil).body)
	newer := memory.NewServer().Open("shop", memory.WithTTL(time.Hour))
	t.Cleanup(func() { require.NoError(t, newer.Close(context.Background())) })
	stored, err := w.reg.Get(t.Context(), "/orders/config")
	require.NoError(t, err)
	changed := registry.Put(stored.Path, strings.Replace(stored.Value, "0 * ", "0 0/7 ", 1))
	_, err = newer.Commit(t.Context(), registry.Txn{Then: []registry.Write{changed}})
	require.NoError(t, err)
	w.api.namespaces["shop"].Store = newer
	var in wire.Import
	w.ask(t, anna, "POST", "/import", file).into(t, &in)
	require.Len(t, in.Jobs, 1)
	require.Nil(t, in.Jobs[0].Problem, "%+v", in.Jobs[0].Problem)
	require.False(t, in.Jobs[0].Outcome.Repeated, "the copy lacks what has changed")
	got, err := newer.Get(t.Context(), stored.Path)
	require.NoError(t, err)
	require.NotEqual(t, changed.Value, got.Value)
}

// While the registry does not answer, what was is not given for what is stored.
func TestAnOutageIsTold(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	w := serve(t, server.Open("shop", memory.WithTTL(time.Hour)), nil)
	_, err := w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/config", `{"jobName":"orders","cron":"@daily","shardingTotalCount":1}`)}})
	require.NoError(t, err)
	var all wire.NodeList
	require.Eventually(t, func() bool {
		w.ask(t, anna, "GET", "/nodes", nil).into(t, &all)
		return len(all.Nodes) == 1
	}, time.Minute, time.Millisecond)
	server.Stop()
	t.Cleanup(server.Start) // so that the server can end
	require.Eventually(t, func() bool { return !w.api.namespaces["shop"].Hub.Picture().Connected }, time.Minute, 10*time.Millisecond)
	for _, asked := range []answer{
		w.ask(t, anna, "GET", "/nodes", nil), w.ask(t, anna, "GET", "/export", nil), w.ask(t, anna, "POST", "/import", "orders: {config: {cron: '@daily', shardingTotalCount: 1}}"),
	} {
		p := asked.problem(t, 503)
		require.Equal(t, wire.CauseUnavailable, p.Cause)
		require.Contains(t, p.Detail, "what was stored at "+time.Now().UTC().Format("2006-"))
	}
	require.Equal(t, 200, w.ask(t, anna, "GET", "/jobs", nil).status, "it says itself that it is not connected")
	asked := make(chan answer, 1)
	go func() { asked <- w.ask(t, vera, "GET", "/nodes?after="+all.Revision.String(), nil) }()
	server.Start()
	_, err = w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/sharding/0/disabled", "")}})
	require.NoError(t, err)
	require.Equal(t, 200, (<-asked).status, "who follows goes on")
}

func TestCronExpressions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.api.now = func() time.Time { return time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC) }
	var c wire.Cron
	w.askAt(t, vera, "GET", "/cron?expression=0+30+2+*+*+?&zone=Europe/Berlin&count=3", nil).into(t, &c)
	require.Len(t, c.NextFires, 3)
	for i := range c.Changes {
		c.Changes[i].At = c.Changes[i].At.UTC()
	}
	require.Equal(t, []wire.ClockChange{
		{At: time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), Before: 3600, After: 7200},
		{At: time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC), Before: 7200, After: 3600},
	}, c.Changes)
	require.NotEmpty(t, c.Words)
	p := w.askAt(t, vera, "GET", "/cron?expression=0+61+*+*+*+?", nil).problem(t, 422)
	require.Equal(t, 1, *p.Position)
	require.Equal(t, "minute", p.Target)
	for _, query := range []string{"", "?expression=@daily&zone=Mars", "?expression=@daily&count=0", "?expression=@daily&daylight-saving=never", "?expression=" + strings.Repeat("x", 1001)} {
		w.askAt(t, vera, "GET", "/cron"+query, nil).problem(t, 400)
	}
	require.Equal(t, 200, w.askAt(t, vera, "GET", "/openapi.yaml", nil).status)
}

// What programs read is what is stored, but for secrets, which only who may administer the job gets.
func TestNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var all, own, masked wire.NodeList
	w.ask(t, anna, "GET", "/nodes?secrets", nil).into(t, &all)
	stored, revision, err := w.reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Equal(t, revision, all.Revision)
	for i, n := range stored {
		require.Equal(t, n, all.Nodes[i].Node())
	}
	w.ask(t, mailer, "GET", "/nodes", nil).into(t, &own)
	for _, n := range own.Nodes {
		require.True(t, strings.HasPrefix(n.Path, "/mail/"), n.Path)
		require.NotContains(t, n.Value, "geheim")
	}
	require.NotEmpty(t, own.Nodes)
	w.ask(t, vera, "GET", "/nodes?path=/orders", nil).into(t, &masked)
	require.Contains(t, masked.Nodes[0].Value, `"0=***,1=***"`)
	w.ask(t, vera, "GET", "/nodes?secrets=true", nil).problem(t, 403)
	w.ask(t, vera, "GET", "/nodes?path=orders", nil).problem(t, 400)
	w.ask(t, vera, "GET", "/nodes?after=x", nil).problem(t, 400)

	newer := make(chan answer, 1)
	go func() { newer <- w.ask(t, vera, "GET", "/nodes?path=/orders&after="+revision.String(), nil) }()
	_, err = w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/sharding/0/disabled", "")}})
	require.NoError(t, err)
	(<-newer).into(t, &masked)
	require.Greater(t, masked.Revision, revision)
}

// A namespace of any size is read in pages of a bounded one, all of one state, whatever changes meanwhile.
func TestPagesOfNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const large = 64 << 10
	var writes []registry.Write
	for i := range 3 * maxTree / large {
		writes = append(writes, registry.Put(fmt.Sprintf("/large/sharding/%d/record", i), strings.Repeat("x", large)))
	}
	for part := range slices.Chunk(writes, 8) {
		revision, err := w.reg.Commit(t.Context(), registry.Txn{Then: part})
		require.NoError(t, err)
		w.api.namespaces["shop"].wrote(revision)
	}
	stored, revision, err := w.reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	read := func(who access.Identity, between func()) (nodes []registry.Node, pages int) {
		for query := "/nodes?path=/"; ; {
			got := w.ask(t, who, "GET", query, nil)
			require.Equal(t, http.StatusOK, got.status, string(got.body))
			require.Less(t, len(got.body), maxTree*3/2)
			var page wire.NodeList
			got.into(t, &page)
			pages++
			for _, n := range page.Nodes {
				nodes = append(nodes, n.Node())
			}
			if page.Next == "" {
				return nodes, pages
			}
			require.Equal(t, revision, page.Revision)
			query = "/nodes?revision=" + page.Revision.String() + "&behind=" + url.QueryEscape(page.Next)
			between()
		}
	}
	nodes, pages := read(vera, func() {
		at, err := w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/large/sharding/0/record", "y"), registry.Put("/zebra/config", "z")}})
		require.NoError(t, err)
		w.api.namespaces["shop"].wrote(at)
		w.ask(t, vera, "GET", "/nodes?path=/zebra", nil)
	})
	require.Equal(t, 4, pages)
	require.Len(t, nodes, len(stored))
	for i := range nodes {
		require.Equal(t, stored[i].Path, nodes[i].Path)
		require.Equal(t, stored[i].Revision, nodes[i].Revision, nodes[i].Path)
	}
	_, pages = read(mailer, func() {})
	require.Equal(t, 1, pages, "what they may not read has no pages")

	gone := w.ask(t, vera, "GET", "/nodes?revision=1&behind=/a", nil).problem(t, http.StatusGone)
	require.ErrorIs(t, gone.Err(), wire.ErrForgotten)
	var rest wire.NodeList
	before := w.api.namespaces["shop"].Hub.Picture().State.Revision()
	w.ask(t, vera, "GET", fmt.Sprintf("/nodes?revision=%d&behind=/yak", before), nil).into(t, &rest)
	require.Len(t, rest.Nodes, 1, "another server gave the page before, of the state that is the present one")
	require.Equal(t, before, rest.Revision)
	for _, query := range []string{"revision=7", "behind=/a", "revision=7&behind=/a&after=3", "revision=x&behind=/a"} {
		w.ask(t, vera, "GET", "/nodes?"+query, nil).problem(t, http.StatusBadRequest)
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, body := range []string{"{", "[]", `{"reason":7}`, `{"unknown":1}`, `{} {}`, `"x"`} {
		p := w.ask(t, olaf, "POST", "/jobs/orders/disable", body).problem(t, 400)
		require.Equal(t, "body", p.Field)
	}
	w.ask(t, olaf, "POST", "/jobs/orders/disable", `{"reason":"`+strings.Repeat("x", maxBody)+`"}`).problem(t, 413)
	w.ask(t, olaf, "POST", "/jobs/orders/disable", wire.Asked{Reason: strings.Repeat("x", 1001)}).problem(t, 422)
	w.askAt(t, olaf, "GET", "/nothing", nil).problem(t, 404)
	got := w.ask(t, olaf, "DELETE", "/jobs/orders", nil)
	got.problem(t, 405)
	require.Equal(t, "GET", got.header.Get("Allow"))
	other := access.Identity{Name: "x", How: access.ByToken, Grants: []access.Grant{{Role: access.Admin, Namespace: "*"}}}
	w.askAt(t, other, "GET", "/namespaces/none/jobs", nil).problem(t, 404)
}

// A fault of a handler is the fault of one request: it is answered, and logged, and not told to who asked.
func TestAPanicIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	handler := w.api.carriedOut(route{"GET", "/x", access.Read, anybody, func(*call) error { panic("secret") }, nil})
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(access.NewContext(t.Context(), anna), "GET", "/x", nil))
	require.Equal(t, 500, recorder.Code)
	require.NotContains(t, recorder.Body.String(), "secret")
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := New(Config{})
	require.ErrorIs(t, err, ErrInvalidOption)
	_, err = New(Config{Namespaces: []Namespace{{Name: "shop"}}})
	require.ErrorContains(t, err, `"shop" needs`)
}

// removedMeanwhile is a store in which the job goes between an operation and the waiting for it.
type removedMeanwhile struct {
	*memory.Registry
	views atomic.Int32
}

func (s *removedMeanwhile) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	if s.views.Add(1) == 2 {
		if _, err := s.Commit(ctx, registry.Txn{Then: []registry.Write{registry.DeleteTree(path)}}); err != nil {
			return nil, err
		}
	}
	return s.Registry.View(ctx, path, except...)
}

// What was done is answered as done, also if the job is not there any more to follow.
func TestAJobGoesBeforeItHasFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.api.namespaces["shop"].Store = &removedMeanwhile{Registry: w.reg}
	got := w.ask(t, olaf, "POST", "/jobs/orders/disable?wait=10s", wire.Asked{})
	require.Equal(t, 202, got.status, string(got.body))
	var out wire.Outcome
	got.into(t, &out)
	require.NotZero(t, out.Revision)
	require.True(t, out.Progress.Overtaken)
	require.Contains(t, out.Unconfirmed, "there is no such job")
}

// Who asks again under a key is told who asked first, when and why.
func TestWhatIsAskedForAgainIsAsItIsWrittenDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var first, again wire.Outcome
	w.ask(t, anna, "POST", "/jobs/mail/disable", wire.Asked{Reason: "first"}, "Idempotency-Key: K1").into(t, &first)
	require.Equal(t, "first", first.Operation.Reason)
	w.ask(t, olaf, "POST", "/jobs/mail/disable", wire.Asked{Reason: "second"}, "Idempotency-Key: K1").into(t, &again)
	require.True(t, again.Repeated)
	require.Equal(t, first.Operation.Who, again.Operation.Who)
	require.Equal(t, "first", again.Operation.Reason)
	require.WithinDuration(t, first.Operation.When, again.Operation.When, time.Millisecond)
}
