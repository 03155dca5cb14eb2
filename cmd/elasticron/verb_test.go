package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// hand is a handle on the namespace shop of a world's etcd.
func (w *world) hand(t *testing.T) *memory.Registry {
	t.Helper()
	reg := w.etcdServer.Open("shop", lasting)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return reg
}

func value(t *testing.T, reg registry.Reader, path string) string {
	t.Helper()
	n, err := reg.Get(t.Context(), path)
	if err != nil {
		require.ErrorIs(t, err, registry.ErrNotFound)
		return "absent"
	}
	return n.Value
}

func config(t *testing.T, reg registry.Reader, name string) job.Config {
	t.Helper()
	n, err := reg.Get(t.Context(), jobtree.For(name).Config())
	require.NoError(t, err)
	c, err := jobtree.DecodeConfig(n)
	require.NoError(t, err)
	return c
}

func TestOperationsByCommand(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)

	out := w.must(t, on("disable", "item/orders/1", "--dry-run")...)
	require.Contains(t, out, "Nothing was done: this is what would be done without --dry-run.\n")
	require.Equal(t, "absent", value(t, reg, "/orders/sharding/1/disabled"))
	out = w.must(t, on("disable", "item/orders/1", "--reason", "bad table", "--id", "OP1")...)
	require.Contains(t, out, "Done: operation OP1, revision ")
	require.Equal(t, "", value(t, reg, "/orders/sharding/1/disabled"))
	require.Contains(t, w.must(t, on("disable", "item/orders/1", "--id", "OP1")...), "Was done before, as operation OP1.")
	_, errOut, status := w.does(t, on("disable", "item/orders/1")...)
	require.Equal(t, exitRefused, status)
	require.Contains(t, errOut, "disabled already")
	w.must(t, on("enable", "item/orders/1")...)
	require.Equal(t, "absent", value(t, reg, "/orders/sharding/1/disabled"))

	w.must(t, on("disable", "job/orders")...)
	require.True(t, config(t, reg, "orders").Disabled)
	w.must(t, on("enable", "job/orders")...)
	require.False(t, config(t, reg, "orders").Disabled)

	w.must(t, on("disable", "server/10.0.0.1", "--job", "mail")...)
	require.Equal(t, "DISABLED", value(t, reg, "/mail/servers/10.0.0.1"))
	require.Equal(t, "absent", value(t, reg, "/orders/servers/10.0.0.1"))

	out = w.must(t, on("audit", "orders")...)
	require.Contains(t, out, "anna  bad table")
	require.Equal(t, 5, strings.Count(out, "\n"), out)
	put(t, reg, "/orders/servers/10.0.0.1", "DISABLED")
	require.Contains(t, w.must(t, on("audit")...), `! server 10.0.0.1 of "orders" changed from outside, at revision `)
	var audit struct {
		Operations []operate.Operation
		Outside    []operate.OutsideChange
	}
	require.NoError(t, json.Unmarshal([]byte(w.must(t, on("audit", "-o", "json")...)), &audit))
	require.Len(t, audit.Operations, 5)
	require.Len(t, audit.Outside, 1)
	require.Contains(t, w.must(t, on("get", "operations", "mail", "-o", "name")...), "operation/mail/")
	require.Equal(t, "No operations found.\n", w.must(t, on("get", "operations", "nightly")...))

	out = w.must(t, on("trigger", "orders", "--items", "0", "--parameter", "x")...)
	require.Contains(t, out, "Done: operation ")
	require.NotEqual(t, "absent", value(t, reg, jobtree.For("orders").Triggered()))
	_, errOut, status = w.does(t, on("trigger", "orders")...)
	require.Equal(t, exitRefused, status, errOut)
	_, errOut, status = w.does(t, on("trigger", "orders", "--replace", "--wait", "--timeout", "3s")...)
	require.Equal(t, exitWaited, status, "nobody runs it here")
	require.Contains(t, errOut, "not confirmed yet")
	_, errOut, status = w.does(t, on("trigger", "none")...)
	require.Equal(t, exitRefused, status)
	require.Contains(t, errOut, "none")
}

func TestSeveralJobsAtOnce(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	out, errOut, status := w.does(t, on("disable", "--match", "[mo]*", "--dry-run")...)
	require.Zero(t, status, errOut)
	require.Equal(t, "2 of 2 jobs. Nothing was done: this is what would be done without --dry-run.\n", out)
	require.Contains(t, errOut, "disable job \"mail\"\n  ~ disabled false -> true\n")
	w.program.asked, w.in = func(any) bool { return true }, strings.NewReader("n\n")
	_, errOut, status = w.does(t, on("disable", "--match", "*")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "broken: disable job \"broken\" refused")
	require.Contains(t, errOut, "  ~ disabled")
	require.Contains(t, errOut, "Go on? (y/N) elasticron: nothing was done\n")
	w.program.asked = func(any) bool { return false }
	_, errOut, status = w.does(t, on("disable", "--match", "[mo]*")...)
	require.Equal(t, exitMisuse, status, "nobody can be asked")
	require.Contains(t, errOut, "give --yes")
	out, errOut, status = w.does(t, on("disable", "--match", "[mo]*", "--yes")...)
	require.Zero(t, status, errOut)
	require.Equal(t, "2 of 2 jobs\n", out)
	require.Contains(t, errOut, "mail: done\n")
	require.True(t, config(t, reg, "orders").Disabled)

	out, errOut, status = w.does(t, on("enable", "--match", "*", "--yes")...)
	require.Equal(t, exitSome, status)
	require.Equal(t, "2 of 4 jobs\n", out)
	require.Contains(t, errOut, "broken: ")
	require.False(t, config(t, reg, "orders").Disabled)

	out, _, status = w.does(t, on("disable", "server/10.0.0.2", "--yes", "-o", "json")...)
	require.Zero(t, status)
	var several struct {
		Jobs []struct {
			Job    string
			Result operate.Result
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &several))
	require.Len(t, several.Jobs, 3)
	require.Equal(t, "DISABLED", value(t, reg, "/mail/servers/10.0.0.2"))
	_, _, status = w.does(t, on("shutdown", "instance/"+second, "--yes")...)
	require.Zero(t, status)
	require.Equal(t, "SHUTDOWN", value(t, reg, "/mail/instances/"+second))
	require.Contains(t, w.must(t, on("get", "instances", second, "-o", "wide")...), "it is asked to leave mail, nightly, orders")
	_, errOut, status = w.does(t, on("reshard", "--match", "none*", "--yes")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `no job matches "none*"`)
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	edit := on("edit", "orders", "--set", "cron=0 0/2 * * * ?")
	_, errOut, status := w.does(t, edit...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "nobody can be asked")

	w.program.asked = func(any) bool { return true }
	for answer, done := range map[string]bool{"": false, "n\n": false, "x\n": false, "yes\n": true} {
		w.in = strings.NewReader(answer)
		out, errOut, status := w.does(t, edit...)
		require.Contains(t, errOut, `cron "0 * * * * ?" -> "0 0/2 * * * ?"`)
		require.Contains(t, errOut, "Go on? (y/N) ")
		if done {
			require.Zero(t, status, errOut)
			require.Contains(t, out, "Done: ")
			require.Equal(t, "0 0/2 * * * ?", config(t, reg, "orders").Cron)
			w.must(t, on("edit", "orders", "--set", "cron=0 * * * * ?", "--yes")...)
			continue
		}
		require.Equal(t, exitFailed, status)
		require.Contains(t, errOut, "nothing was done")
		require.Equal(t, "0 * * * * ?", config(t, reg, "orders").Cron)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	w.must(t, on("edit", "orders", "--yes", "--id", "E1", "--set", "shardingTotalCount=3", "--set", "description=7", "--set", "failover=false")...)
	c := config(t, reg, "orders")
	require.Equal(t, 3, c.ShardingTotalCount)
	require.Equal(t, "7", c.Description, "a text stays a text")
	require.False(t, c.Failover)
	require.Equal(t, "secret", c.JobParameter)
	require.Regexp(t, `(?m)^TIME +ID .*\n.* E1 +orders +change settings `, w.must(t, on("audit", "orders")...), "whoever rolls back finds the id")
	w.must(t, on("rollback", "orders", "--to", "E1", "--yes", "--force")...)
	require.Equal(t, 2, config(t, reg, "orders").ShardingTotalCount)

	for set, want := range map[string]struct {
		status int
		text   string
	}{
		"cron":                 {exitMisuse, `--set is "cron", want a setting and a value`},
		"cron=0 61 * * * ?":    {exitRefused, "61"},
		"shardingTotalCount=x": {exitMisuse, "shardingTotalCount"},
		"shardingTotalCount=1": {exitRefused, "force"},
		"jobName=other":        {exitRefused, "other"},
		"corn=1":               {exitMisuse, `--set names "corn": a configuration has no such setting`},
		"timeoutExact=1500ms":  {exitMisuse, `timeoutExact is "1500ms", must be, rounded up, what timeoutSeconds says, which is 0`},
	} {
		_, errOut, status := w.does(t, on("edit", "orders", "--yes", "--set", set)...)
		require.Equal(t, want.status, status, errOut)
		require.Contains(t, errOut, want.text)
	}
	w.must(t, on("edit", "orders", "--yes", "--set", "timeoutSeconds=2", "--set", "timeoutExact=1500ms")...)
	require.Equal(t, 1500*time.Millisecond, config(t, reg, "orders").Timeout)
	w.must(t, on("edit", "orders", "--yes", "--set", "timeoutSeconds=5")...)
	require.Equal(t, 5*time.Second, config(t, reg, "orders").Timeout, "the exact time is no more in force")
	_, errOut, status := w.does(t, on("edit", "none", "--set", "a=b")...)
	require.Equal(t, exitRefused, status, "as of all other operations")
	require.Contains(t, errOut, `no job "none"`)
	_, errOut, status = w.does(t, on("rollback", "orders", "--yes")...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "--to is missing")

	_, errOut, status = w.does(t, on("edit", "orders", "--yes")...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "neither $VISUAL nor $EDITOR")
	editor := filepath.Join(t.TempDir(), "editor")
	writeProgram(t, editor, "sed -i 's/secret/public/' \"$2\"")
	w.variables["EDITOR"] = editor + " --wait"
	w.must(t, on("edit", "orders", "--yes")...)
	require.Equal(t, "public", config(t, reg, "orders").JobParameter)
	_, errOut, status = w.does(t, on("edit", "orders", "--yes")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "nothing was done", "the editor changed nothing")
}

// One prop is set, and the others stay. Who edits them sees texts as they are, and they are stored as Java writes them.
func TestEditProps(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	set := func(what ...string) {
		args := []string{"edit", "orders", "--yes"}
		for _, one := range what {
			args = append(args, "--set", one)
		}
		w.must(t, on(args...)...)
	}
	set("props.http.data=a=1&b=<2>", "props.http.method=7") // of a job that had none
	set(`props.http.data=\u003d=1`)
	require.Equal(t, map[string]string{"http.data": `\u003d=1`, "http.method": "7"}, config(t, reg, "orders").Props)
	set(`props={"http.data":"a=1&b='<2>'"}`, "props.http.method=")
	require.Equal(t, map[string]string{"http.data": "a=1&b='<2>'", "http.method": ""}, config(t, reg, "orders").Props)
	for set, want := range map[string]string{
		"http.data=b": `--set names "http.data": a configuration has no such setting; a prop is set by --set props.http.data=VALUE`,
		"props.=b":    `--set is "props.=b", want the name of a prop after props., such as props.http.method=POST`,
	} {
		_, errOut, status := w.does(t, on("edit", "orders", "--yes", "--set", set)...)
		require.Equal(t, exitMisuse, status, errOut)
		require.Contains(t, errOut, want)
	}

	folder := t.TempDir()
	editor, legible := filepath.Join(folder, "editor"), filepath.Join(folder, "legible")
	require.NoError(t, os.WriteFile(legible, []byte(`"http.data": "a=1&b='<2>'"`), 0o600))
	writeProgram(t, editor, `grep -qF -f `+legible+` "$1" && sed -i 's/a=1/\\\\u003d/' "$1"`)
	w.variables["EDITOR"] = editor
	set()
	require.Equal(t, `\u003d&b='<2>'`, config(t, reg, "orders").Props["http.data"])
}

// The settings of a job of ElasticJob 3.x are YAML, before and after, and what only Java has stays as it stands.
func TestEditAJobOfElasticJob3(t *testing.T) {
	t.Parallel()
	const yaml = "cron: 0 0 * * * ?\ndescription: ''\ndisabled: false\nfailover: true\njobListenerTypes:\n- AUDIT\njobName: letters\njobParameter: x\n" +
		"maxTimeDiffSeconds: -1\nmisfire: true\nmonitorExecution: true\noverwrite: false\nreconcileIntervalMinutes: 10\n" +
		"shardingItemParameters: ''\nshardingTotalCount: 2\nstaticSharding: false\n"
	w := newShop(t)
	reg, tree := w.hand(t), jobtree.For("letters")
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(tree.Root(), "com.acme.Letters"), registry.Put(tree.Config(), yaml)}})
	require.NoError(t, err)
	w.must(t, on("edit", "letters", "--yes", "--id", "E1", "--set", "cron=0 30 * * * ?", "--set", "shardingTotalCount=3", "--set", "jobParameter=7")...)
	edited := strings.NewReplacer("0 0 *", "0 30 *", "Count: 2", "Count: 3", "Parameter: x", "Parameter: '7'").Replace(yaml)
	require.Equal(t, edited, value(t, reg, tree.Config()))
	require.Equal(t, "com.acme.Letters", value(t, reg, tree.Root()))
	editor := filepath.Join(t.TempDir(), "editor")
	writeProgram(t, editor, "case $1 in *.yaml) sed -i \"s/'7'/seven/\" \"$1\";; esac")
	w.variables["EDITOR"] = editor
	w.must(t, on("edit", "letters", "--yes")...)
	require.Equal(t, strings.Replace(edited, "'7'", "seven", 1), value(t, reg, tree.Config()))
	w.must(t, on("rollback", "letters", "--to", "E1", "--yes", "--force")...)
	require.Equal(t, yaml, value(t, reg, tree.Config()))
	for set, text := range map[string]string{"retries=2": "retries", "cron=@daily": "Quartz", "jobName=other": "other"} {
		_, errOut, status := w.does(t, on("edit", "letters", "--yes", "--set", set)...)
		require.NotZero(t, status)
		require.Contains(t, errOut, text)
	}
	require.Equal(t, yaml, value(t, reg, tree.Config()))
}

// writeProgram writes a shell script that is to be run.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock() // whoever forks meanwhile would hold it open for a moment, and it could not be run
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700)) //nolint:gosec // as programs are
}

func TestCreateApplyAndRemove(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	out, errOut, status := w.does(t, on("create", "-f", "testdata/jobs.yaml")...)
	require.Equal(t, exitSome, status, "orders is there")
	require.Equal(t, "1 of 2 jobs\n", out)
	require.Contains(t, errOut, "orders: create \"orders\" refused")
	require.Equal(t, "@daily", config(t, reg, "invoices").Cron)

	_, errOut, status = w.does(t, on("apply", "-f", "testdata/jobs.yaml")...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "~ orders  cron: ")
	_, errOut, status = w.does(t, on("apply", "-f", "testdata/jobs.yaml", "--dry-run")...)
	require.Zero(t, status, errOut)
	require.Equal(t, "0 * * * * ?", config(t, reg, "orders").Cron)
	w.in = strings.NewReader("piped: {config: {cron: '@hourly', shardingTotalCount: 1}}")
	_, errOut, status = w.does(t, on("create", "-f", "-")...)
	require.Zero(t, status, errOut)
	require.Equal(t, "@hourly", config(t, reg, "piped").Cron)
	w.in = strings.NewReader("piped: {config: {cron: bad, shardingTotalCount: 1}}")
	_, errOut, status = w.does(t, on("diff", "-f", "-")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "standard input: ")
	_, errOut, status = w.does(t, on("apply", "-f", "testdata/jobs.yaml", "--yes")...)
	require.Zero(t, status, errOut)
	require.Empty(t, w.must(t, on("diff", "-f", "testdata/jobs.yaml")...))
	require.Equal(t, "DISABLED", value(t, reg, "/orders/servers/10.0.0.7"))
	out, _, status = w.does(t, on("apply", "-f", "testdata/jobs.yaml", "--yes")...)
	require.Zero(t, status, "once more")
	require.Equal(t, "2 of 2 jobs\n", out)

	_, errOut, status = w.does(t, on("remove", "orders", "--yes")...)
	require.Equal(t, exitRefused, status, "instances live")
	require.Contains(t, errOut, "force")
	w.must(t, on("remove", "invoices", "--yes")...)
	_, errOut, status = w.does(t, on("get", "jobs", "invoices")...)
	require.Equal(t, exitFailed, status, errOut)
}

func TestTargets(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for want, args := range map[string][]string{
		`"orders" is given, want job/NAME or item/JOB/NUMBER or server/IP; did you mean job/orders?`: {"disable", "orders"},
		`"item/orders" is given, want`:            {"enable", "item/orders"},
		`"item/orders/x" is given, want`:          {"enable", "item/orders/x"},
		`"item/orders/-1" is given, want`:         {"enable", "item/orders/-1"},
		`"item/orders/01" is given, want`:         {"enable", "item/orders/01"},
		"want the name of a job, or --match":      {"disable"},
		"jobs are named besides --match":          {"reshard", "a", "--match", "b"},
		"--job is for a server":                   {"disable", "job/orders", "--job", "mail"},
		"--job is for a server: want":             {"disable", "--match", "mai*", "--job", "mail", "--yes"},
		`"job/orders" is given, want instance/ID`: {"shutdown", "job/orders"},
		`"x" is given, want item/JOB/NUMBER`:      {"give-up", "x"},
		"--from and --to are needed":              {"backfill", "orders"},
		`--from is "x", want a time`:              {"backfill", "orders", "--from", "x", "--to", "y"},
		`--fire is "x", want a time`:              {"trigger", "orders", "--fire", "x"},
		"--filename is missing":                   {"apply"},
		"the id":                                  {"reshard", "orders", "--id", "a b"},
	} {
		_, errOut, status := w.does(t, on(args...)...)
		require.Equal(t, exitMisuse, status, "%s: %s", want, errOut)
		require.Contains(t, errOut, want)
	}
}

// shared is a registry in memory in which Java instances may take part.
type shared struct{ *memory.Registry }

func (shared) JavaLayout() (root string, ok bool) { return "/", true }

// What is exported and applied to an empty namespace is the same there, byte for byte, on etcd and on ZooKeeper.
func TestExportAndApply(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"--etcd", "--zookeeper"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "all.yaml")
			w := newWorld(t)
			var server *memory.Server
			w.etcd = func(_ context.Context, c etcd.Config) (registry.Registry, error) {
				return server.Open(c.Namespace, lasting), nil
			}
			w.zooKeeper = func(_ context.Context, c zkcompat.Config) (registry.Registry, error) {
				return shared{server.Open(c.Namespace, lasting)}, nil
			}
			rapid.Check(t, func(rt *rapid.T) {
				server = memory.NewServer()
				from := server.Open("shop", lasting)
				defer from.Close(context.Background())
				want := drawnJobs(rt)
				var writes []registry.Write
				for path, value := range want {
					writes = append(writes, registry.Put(path, value))
				}
				_, err := from.Commit(t.Context(), registry.Txn{Then: writes})
				require.NoError(rt, err)
				require.NoError(rt, os.WriteFile(file, []byte(w.must(t, "export", kind, "zk1:2181", "-n", "shop")), 0o600))
				// Some of the jobs Java could not run, to which somebody has consented before.
				_, errOut, status := w.does(t, "apply", "-f", file, "--yes", "--force", kind, "zk1:2181", "-n", "market")
				require.Zero(rt, status, errOut)
				to := server.Open("market", lasting)
				defer to.Close(context.Background())
				require.Equal(rt, want, withoutOperations(t, to))
			})
		})
	}
}

// drawnJobs are the nodes of some jobs, by path.
func drawnJobs(rt *rapid.T) map[string]string {
	all := make(map[string]string)
	for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9 .-]{0,5}[a-z]`), 1, 3, rapid.ID).Draw(rt, "names") {
		text, err := jobtree.EncodeConfig(job.Config{
			Name: name, Cron: rapid.SampledFrom([]string{"@daily", "0 0/5 * * * ?", "@every 90s"}).Draw(rt, "cron"),
			ShardingTotalCount: rapid.IntRange(1, 9).Draw(rt, "total"), Description: rapid.String().Draw(rt, "description"),
			Disabled: rapid.Bool().Draw(rt, "disabled"), Unknown: rapid.SampledFrom([]string{"", `"later":[1.50]`}).Draw(rt, "unknown"),
		})
		require.NoError(rt, err)
		if rapid.Bool().Draw(rt, "by hand") {
			text = "{\n  " + text[1:]
		}
		all["/"+name+"/config"] = text
		if rapid.Bool().Draw(rt, "item") {
			all["/"+name+"/sharding/0/disabled"] = ""
		}
		if rapid.Bool().Draw(rt, "server") {
			all["/"+name+"/servers/10.0.0.1"] = "DISABLED"
		}
	}
	return all
}

// withoutOperations are the nodes of a namespace, by path, but for what is written down of operations.
func withoutOperations(t *testing.T, reg registry.Reader) map[string]string {
	t.Helper()
	nodes, _, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	all := make(map[string]string)
	for _, n := range nodes {
		if at, _ := jobtree.Parse(n.Path); at.Kind != jobtree.KindOperated {
			all[n.Path] = n.Value
		}
	}
	return all
}
