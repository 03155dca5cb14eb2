package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console"
	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// withServer puts a server in front of the namespace shop of a world, and returns the flags by which commands go
// through it.
func (w *world) withServer(t *testing.T) []string {
	t.Helper()
	return w.withGuardedServer(t, access.Config{})
}

// withGuardedServer is withServer for those that are let in.
func (w *world) withGuardedServer(t *testing.T, who access.Config) []string {
	t.Helper()
	reg := w.etcdServer.Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	shop := console.Namespace{Name: "shop", Registry: reg}
	if file := w.variables[historyVariable]; file != "" {
		store, err := sqlite.Open(t.Context(), file)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		shop.History = store
	}
	server, err := console.New(t.Context(), console.Config{Namespaces: []console.Namespace{shop}, Access: who})
	require.NoError(t, err)
	front := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		server.Close()
		front.Close()
	})
	return []string{"--server", front.URL, "-n", "shop"}
}

// sharing are the commands that reach a namespace, and so know --server.
func sharing(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, c := range visible(newRoot(newProgram())) {
		if c.Flags().Lookup("server") != nil && c.RunE != nil && !strings.Contains(c.CommandPath(), "context") {
			all[c.CommandPath()] = true
		}
	}
	return all
}

// What differs between two runs of one command, whichever way they go: ids that are made up, times, and who did it.
var incidental = regexp.MustCompile(`\b[A-Z2-7]{16}\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?|anonymous|anna`)

func withoutIncidents(text string) string {
	text = incidental.ReplaceAllString(text, "*")
	text = regexp.MustCompile(`[ \t]+`).ReplaceAllString(text, " ") // the columns are as wide as what was replaced
	lines := strings.Split(text, "\n")
	slices.Sort(lines) // several jobs are operated at the same time
	return strings.Join(lines, "\n")
}

// The examples of all commands that reach a namespace have the same output, exit status and effect through a server as
// they have on the registry itself.
func TestExamplesAreTheSameThroughAServer(t *testing.T) {
	root := newRoot(newProgram())
	knows := sharing(t)
	compared := 0
	for _, c := range visible(root) {
		path := c.CommandPath()
		if !knows[path] {
			continue
		}
		t.Run(strings.ReplaceAll(path, " ", "/"), func(t *testing.T) {
			lines := commandLines(c.Example)
			var steps [2][]string
			var trees [2]map[string]string
			for way, name := range []string{"direct", "through a server"} {
				t.Run(name, func(t *testing.T) { // which leaves the folder again
					w := prepared(t, path)
					flags := on()
					if way == 1 {
						flags = w.withServer(t)
					}
					for _, line := range lines {
						out := w.carriesOut(t, line, func(command string) bool { return knows["elasticron "+command] || command == "get" }, flags)
						steps[way] = append(steps[way], strings.ReplaceAll(out, filepath.Dir(w.variables[contextsFileVariable]), "folder"))
					}
					trees[way] = w.tree(t)
				})
			}
			require.Equal(t, steps[0], steps[1])
			require.Equal(t, trees[0], trees[1], "what is stored")
			compared += len(lines)
		})
	}
	require.Greater(t, compared, 45)
}

// carriesOut carries out a line of an example, and returns what it says. Commands that reach a namespace get the flags.
func (w *world) carriesOut(t *testing.T, line string, reaches func(command string) bool, flags []string) string {
	t.Helper()
	command, target, _ := strings.Cut(line, " > ")
	words, err := shellwords.Parse(command)
	require.NoError(t, err)
	words = words[1:]
	if reaches(words[0]) {
		words = append(words, flags...)
	}
	out, errOut, status := w.does(t, words...)
	require.Zero(t, status, "%s\n%s", line, errOut)
	if target != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o700))
		require.NoError(t, os.WriteFile(target, []byte(out), 0o600))
	}
	return withoutIncidents(out + errOut)
}

// tree is what the namespace shop holds, but for what operators did, which tells who did it and how.
func (w *world) tree(t *testing.T) map[string]string {
	t.Helper()
	nodes, _, err := w.hand(t).List(t.Context(), registry.Root)
	require.NoError(t, err)
	all := make(map[string]string)
	for _, n := range nodes {
		if name, known := jobtree.Parse(n.Path); !known || name.Kind != jobtree.KindOperated {
			all[n.Path] = withoutIncidents(n.Value)
		}
	}
	return all
}

// What goes wrong has the same words and exit status, too.
func TestErrorsAreTheSameThroughAServer(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"get jobs none", "get servers 10.9.9.9", "describe job/none", "next none", "dump none",
		"trigger none", "trigger orders --items 9", "trigger nightly", "disable job/broken", "enable item/orders/0", "disable server/10.9.9.9 --yes",
		"disable server/10.9.9.9 --job mail", "shutdown instance/x --yes", "give-up item/orders/0", "remove orders --yes", "reshard none",
		"rollback orders --to NONE --yes", "edit orders --set cron=x --yes", "edit orders --set shardingTotalCount=1 --yes", "edit none --set a=b --yes",
		"disable --match [ --yes", "disable --match zz* --yes", "enable --match * --yes", "create -f testdata/jobs.yaml", "tidy servers --job none",
		"disable item/orders/1 --id no!", "trigger orders --wait --timeout 10s", "backfill orders --from 2025-01-01T00:00:30Z --to 2025-01-01T00:00:31Z --yes",
		"export broken", "export none", "audit none", "next job/orders", "edit job/none --set a=b --yes", "audit -o json", "trigger orders --fire 2025-01-01T00:00:00Z -o json --id SAME",
		"backfill orders --from 2025-03-01T02:00:00Z --to 2025-03-01T02:00:00Z --yes --timeout 10s",
		"logs job/mail", "logs item/orders/0 --token 5", "logs job/none", "logs execution/none/0/2026-03-02T12:00:00Z", "logs execution/orders/0/2026-03-02T12:00:00Z",
		"logs execution/mail/0/2026-03-02T12:00:00.02Z", "logs server/10.0.0.1", "logs execution/orders/0/noon", "logs job/orders --last 0", "logs job/orders --tail -1",
		"describe execution/orders/1/2026-03-02T12:00:00Z",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			direct, through := newShop(t), newShop(t)
			direct.writeHistory(t)
			through.writeHistory(t)
			args := strings.Fields(command)
			out, errOut, status := direct.does(t, append(args, "--etcd", "http://e1:2379", "-n", "shop")...)
			gotOut, gotErr, gotStatus := through.does(t, append(args, through.withServer(t)...)...)
			require.Equal(t, status, gotStatus, "%s\n%s", errOut, gotErr)
			require.Equal(t, withoutIncidents(errOut), withoutIncidents(gotErr))
			require.Equal(t, withoutIncidents(out), withoutIncidents(gotOut))
		})
	}
}

// A pattern names the same jobs: neither what is left of one nor one that is elsewhere.
func TestPatternsNameTheSameThroughAServer(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	hand := w.hand(t)
	put(t, hand, "/orders-gone/leader/sharding/necessary", "")
	put(t, hand, "/orders-moved/config", `{"home":"b"}`)
	out, errOut, status := w.does(t, on("disable", "--match", "orders*", "--dry-run")...)
	require.Zero(t, status, errOut)
	gotOut, gotErr, gotStatus := w.does(t, append([]string{"disable", "--match", "orders*", "--dry-run"}, w.withServer(t)...)...)
	require.Zero(t, gotStatus, gotErr)
	require.Equal(t, withoutIncidents(out+errOut), withoutIncidents(gotOut+gotErr))
}

// A token comes from the environment, else from a file, and an address in the clear does not get it.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	flags := w.withServer(t)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("geheim\n"), 0o600))
	w.must(t, append([]string{"get", "jobs", "--token-file", file}, flags...)...)
	_, errOut, status := w.does(t, append([]string{"get", "jobs", "--token-file", file + "x"}, flags...)...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "token: open ")
	w.variables[tokenVariable] = "geheim"
	_, errOut, status = w.does(t, "get", "jobs", "--server", "http://cron.example.org", "-n", "shop")
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "in the clear: want https")
	require.NotContains(t, errOut, "geheim")

	w.variables[tokenVariable] = "geheim\r\n" // as a Secret has it that was made from a file with a line end
	w.must(t, append([]string{"get", "jobs"}, flags...)...)

	delete(w.variables, tokenVariable)
	w.must(t, "context", "set", "console", "--server", flags[1], "-n", "shop", "--token-file", file)
	w.must(t, "context", "use", "console")
	require.Contains(t, w.must(t, "get", "jobs"), "orders")
	require.Contains(t, w.must(t, "context", "list"), "server "+flags[1])
}

// Who administers some jobs and reads others keeps their own in files, and gets no secret of the others.
func TestAnAdminOfSomeJobs(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	token, sum := access.NewToken()
	users := filepath.Join(t.TempDir(), "users.yaml")
	require.NoError(t, os.WriteFile(users, fmt.Appendf(nil, "tokens: {ci: {sha256: %s, end: 2100-01-01T00:00:00Z, "+
		"grants: [{role: admin, namespace: shop, jobs: 'orders*'}, {role: viewer, namespace: shop}]}}\n", sum), 0o600))
	flags := w.withGuardedServer(t, access.Config{UsersFile: users})
	w.variables[tokenVariable] = token
	orders := w.must(t, append([]string{"export", "orders"}, flags...)...)
	require.Equal(t, w.must(t, "export", "orders", "--etcd", "x", "-n", "shop"), orders)
	require.Equal(t, orders, w.must(t, append([]string{"export", "--match", "order?"}, flags...)...))
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	same := file("orders.yaml", orders)
	require.Empty(t, w.must(t, append([]string{"diff", "--exit-code", "-f", same}, flags...)...))
	_, errOut, status := w.does(t, append([]string{"apply", "--yes", "-f", same}, flags...)...)
	require.Zero(t, status)
	require.Equal(t, "orders: is so already\n", errOut)
	_, errOut, status = w.does(t, append([]string{"create", "-f", file("new.yaml", strings.ReplaceAll(orders, "orders", "orders-new"))}, flags...)...)
	require.Zero(t, status)
	require.Contains(t, errOut, "orders-new: done\n")
	require.Contains(t, w.must(t, append([]string{"get", "jobs"}, flags...)...), "orders-new")
	w.must(t, append([]string{"edit", "orders", "--set", "jobParameter=swordfish", "--yes"}, flags...)...)
	require.Contains(t, w.must(t, append([]string{"describe", "job/orders", "--secrets"}, flags...)...), "swordfish")
	require.Contains(t, w.must(t, append([]string{"audit", "orders", "--secrets", "-o", "json"}, flags...)...), `\"jobParameter\":\"secret\"`)
	w.must(t, append([]string{"edit", "orders", "--set", "jobParameter=secret", "--yes"}, flags...)...)
	all := w.must(t, "export", "orders", "orders-new", "--etcd", "x", "-n", "shop")
	for _, test := range []struct {
		command []string
		status  int
		out     string
		says    string
	}{
		{[]string{"export"}, exitSome, all, "3 jobs are left out: you may not administer them, such as broken of namespace shop"},
		{[]string{"export", "--match", "[mo]*"}, exitSome, all, "1 job is left out: you may not administer mail of namespace shop"},
		{[]string{"export", "--match", "m*"}, exitSome, "", "no job to export\n1 job is left out: you may not administer mail"},
	} {
		out, errOut, status := w.does(t, append(test.command, flags...)...)
		require.Equal(t, test.status, status, "%s: %s", test.command, errOut)
		require.Equal(t, test.out, out, test.command)
		require.Contains(t, errOut, test.says, test.command)
		require.NotContains(t, errOut, "may be missing", test.command)
	}
	for _, command := range [][]string{{"export", "mail"}, {"export", "orders", "mail"}} {
		out, errOut, status := w.does(t, append(command, flags...)...)
		require.Equal(t, exitRefused, status, command)
		require.Empty(t, out)
		require.Contains(t, errOut, "you may not administer job ", command)
	}
	mail := file("mail.yaml", w.must(t, "export", "mail", "--etcd", "x", "-n", "shop"))
	// A right that is missing has one status, whichever request shows it.
	for command, says := range map[string]string{
		"dump mail --secrets": "you may not administer job mail", "edit mail --set description=x --yes": "you may not administer job mail",
		"describe job/mail --secrets": "you may not administer job mail", "audit mail --secrets": "you may not administer job mail",
		"apply --yes -f " + mail: "you may not administer job mail", "diff -f " + mail: "you may not administer job mail",
		"trigger mail --yes": "you may not operate job mail", "remove mail --yes": "you may not administer job mail",
		"trigger nosuch --yes": "you may not operate job nosuch", "disable --match m* --yes": "you may not operate job mail",
	} {
		_, errOut, status := w.does(t, append(strings.Fields(command), flags...)...)
		require.Equal(t, exitRefused, status, "%s: %s", command, errOut)
		require.Contains(t, errOut, says, command)
	}
}

// Whoever sees some jobs only is not told that the others are not there.
func TestAnAdminOfJobsWhoSeesNoOthers(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	token, sum := access.NewToken()
	users := filepath.Join(t.TempDir(), "users.yaml")
	require.NoError(t, os.WriteFile(users, fmt.Appendf(nil, "tokens: {ci: {sha256: %s, end: 2100-01-01T00:00:00Z, "+
		"grants: [{role: admin, namespace: shop, jobs: 'orders*'}, {role: admin, namespace: shop, jobs: 'order*-*'}, {role: operator, namespace: shop, jobs: nightly}]}}\n", sum), 0o600))
	flags := w.withGuardedServer(t, access.Config{UsersFile: users})
	w.variables[tokenVariable] = token
	orders := w.must(t, "export", "orders", "--etcd", "x", "-n", "shop")
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "jobs.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	mail := w.must(t, "export", "mail", "--etcd", "x", "-n", "shop")
	nightly := w.must(t, "export", "nightly", "--etcd", "x", "-n", "shop")
	for _, test := range []struct {
		command []string
		status  int
		out     string
		says    string
	}{
		{[]string{"export", "orders"}, exitOK, orders, ""},
		{[]string{"export", "--match", "orders*"}, exitOK, orders, ""},
		{[]string{"export", "--match", "orders"}, exitOK, orders, ""},
		{[]string{"export", "--match", "order?"}, exitSome, orders, "jobs may be missing: you see some jobs of namespace shop only"},
		{[]string{"export", "--match", "order[r-s]"}, exitSome, orders, "jobs may be missing"}, // the pattern of the second grant is no part of it
		{[]string{"export", "--match", "m*"}, exitSome, "", "no job to export\njobs may be missing"},
		{[]string{"export"}, exitSome, orders, "1 job is left out: you may not administer nightly of namespace shop\njobs may be missing"},
		{[]string{"export", "orders", "mail"}, exitRefused, "", "you may not administer job mail of namespace shop"},
		{[]string{"diff", "-f", file(orders), "--exit-code"}, exitOK, "", ""},
		{[]string{"diff", "-f", file(orders), "--all"}, exitSome, "", "1 job is left out: you may not administer nightly of namespace shop\njobs may be missing"},
		{[]string{"diff", "-f", file("x:\n  config: {cron: '@daily', shardingTotalCount: 1}\n"), "--all"}, exitRefused, "", "you may not administer job x"},
		{[]string{"diff", "-f", file(orders + mail)}, exitRefused, "", "you may not administer job mail of namespace shop"},
		{[]string{"diff", "-f", file(nightly)}, exitRefused, "", "you may not administer job nightly of namespace shop"},
	} {
		out, errOut, status := w.does(t, append(test.command, flags...)...)
		require.Equal(t, test.status, status, "%s: %s", test.command, errOut)
		require.Equal(t, test.out, out, test.command)
		require.Contains(t, errOut, test.says, test.command)
	}
}

// A list that is watched through a server shows what changes.
func TestWatchThroughAServer(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	flags := w.withServer(t)
	out, errOut, stop := w.watches(t, append([]string{"get", "jobs", "-w", "--match", "orders", "-o", "name"}, flags...))
	lines := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Count(out.String(), "\n") >= n }, time.Minute, time.Millisecond, errOut.String())
	}
	lines(1)
	hand := w.hand(t)
	put(t, hand, "/orders/sharding/0/disabled", "")
	lines(2)
	nodes, _, err := hand.List(t.Context(), "/orders")
	require.NoError(t, err)
	var writes []registry.Write
	for _, n := range nodes {
		writes = append(writes, registry.Delete(n.Path))
	}
	_, err = hand.Commit(t.Context(), registry.Txn{Then: writes})
	require.NoError(t, err)
	lines(3)
	require.Zero(t, stop(), errOut.String())
	require.Equal(t, "job/orders\njob/orders\njob/orders removed\n", out.String())
}

// A server whose registry has begun anew, or gone back to an earlier state, is followed from there, whether or not anybody has
// noticed that it was away.
func TestWatchThroughAServerWhoseRegistryWentBack(t *testing.T) {
	t.Parallel()
	w, anew := newShop(t), newShop(t)
	for range 100 { // so that the other one is older for long
		put(t, w.hand(t), "/orders/sharding/1/disabled", "")
		_, err := w.hand(t).Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/orders/sharding/1/disabled")}})
		require.NoError(t, err)
	}
	put(t, anew.hand(t), "/orders/sharding/0/disabled", "")
	to := func(w *world) *httputil.ReverseProxy {
		at, err := url.Parse(w.withServer(t)[1])
		require.NoError(t, err)
		return httputil.NewSingleHostReverseProxy(at)
	}
	var behind atomic.Pointer[httputil.ReverseProxy]
	then := to(anew)
	behind.Store(to(w))
	front := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) { behind.Load().ServeHTTP(answer, r) }))
	t.Cleanup(front.Close)
	out, errOut, stop := w.watches(t, []string{"get", "items", "-w", "--match", "orders", "-o", "json", "--server", front.URL, "-n", "shop"})
	shows := func(disabled int) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Count(out.String(), `"ITEM_DISABLED"`) >= disabled }, time.Minute, time.Millisecond, errOut.String())
	}
	require.Eventually(t, func() bool { return out.String() != "" }, time.Minute, time.Millisecond, errOut.String())
	behind.Store(then)
	shows(1)
	put(t, anew.hand(t), "/orders/sharding/1/disabled", "")
	shows(2)
	require.Zero(t, stop(), errOut.String())
}

// A backfill whose time ends between two fires, as the server is away, has waited: none of them failed, or was refused.
func TestABackfillThroughAServerThatIsAwayBetweenTwoFires(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	flags := w.withServer(t)
	to, err := url.Parse(flags[1])
	require.NoError(t, err)
	through := httputil.NewSingleHostReverseProxy(to)
	var fires atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/backfill") || r.URL.Query().Has(wire.ParamDryRun):
			through.ServeHTTP(rw, r)
		case fires.Add(1) == 1:
			done := wire.Outcome{ID: "K", Plan: operate.Plan{State: 50}, Progress: &operate.Progress{Done: true}}
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(http.StatusAccepted)
			assert.NoError(t, json.NewEncoder(rw).Encode(wire.Backfill{ID: "K", Done: []wire.Outcome{done}}))
		default:
			panic(http.ErrAbortHandler)
		}
	}))
	defer front.Close()
	flags[1] = front.URL
	_, errOut, status := w.does(t, append(flags, "backfill", "orders", "--from", "2026-03-02T10:00:00Z", "--to", "2026-03-02T11:00:00Z",
		"--yes", "--timeout", "6s")...)
	require.Equal(t, exitWaited, status, errOut)
	require.Contains(t, errOut, "go on with the same command and --id ")
}
