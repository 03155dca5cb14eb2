package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
)

// What -o name writes is an argument of every command that takes the name of a job.
func TestNamesOfListsAreArguments(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"next %", "dump %", "export %", "audit %", "get jobs %", "get items %", "get executions %", "get operations %",
		"trigger % --dry-run", "trigger % % --dry-run", "reshard % --dry-run", "tidy % --servers 10.0.0.9 --dry-run", "remove % --force --dry-run",
		"edit % --set cron=@daily --dry-run", "rollback % --to NONE --yes",
		"backfill % --from 2026-03-02T11:00:00Z --to 2026-03-02T11:01:00Z --dry-run",
		"shutdown instance/" + first + " --job % --dry-run", "disable server/10.0.0.1 --job % --dry-run",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			out, errOut, status := w.does(t, on(strings.Fields(strings.ReplaceAll(command, "%", "orders"))...)...)
			gotOut, gotErr, gotStatus := w.does(t, on(strings.Fields(strings.ReplaceAll(command, "%", "job/orders"))...)...)
			require.Equal(t, status, gotStatus, gotErr)
			require.Equal(t, withoutIncidents(out), withoutIncidents(gotOut))
			require.Equal(t, withoutIncidents(errOut), withoutIncidents(gotErr))
		})
	}
	w := newShop(t)
	require.Contains(t, w.must(t, on("get", "instances", "instance/"+first)...), first)
	require.Contains(t, w.must(t, on("get", "servers", "server/10.0.0.1")...), "10.0.0.1")
	_, errOut, status := w.does(t, on("next", "item/orders")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `no job "item/orders"`)
}

// A name that nobody has is not a job to which nothing was done.
func TestAuditOfNobody(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	out, errOut, status := w.does(t, on("audit", "none")...)
	require.Equal(t, exitFailed, status)
	require.Empty(t, out)
	require.Contains(t, errOut, `no job "none"`)
	require.Equal(t, "No operations found.\n", w.must(t, on("audit", "nightly")...))
	out, _, _ = w.does(t, append([]string{"__complete"}, append(on("audit"), "o")...)...)
	require.Contains(t, out, "orders\n")
}

func TestCronOfADelay(t *testing.T) {
	t.Parallel()
	out := newWorld(t).must(t, "cron", "@delay 10s")
	require.Contains(t, out, "10s after the last run has ended")
	require.Contains(t, out, "No fires by the clock")
}

// Only what may be otherwise the next time is asked for again.
func TestABackfillThatIsRefusedForGood(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for command, says := range map[string]string{
		"backfill orders --from 2100-01-01T00:00:00Z --to 2100-01-01T00:01:00Z --yes":           "lies in the future",
		"backfill orders --from 2025-03-01T02:00:00Z --to 2025-03-01T02:00:00Z --items 7 --yes": "item",
		"backfill none --from 2025-03-01T02:00:00Z --to 2025-03-01T02:00:00Z --yes":             "there is no such job",
	} {
		_, errOut, status := w.does(t, on(strings.Fields(command)...)...)
		require.Equal(t, exitRefused, status, command)
		require.Contains(t, errOut, says)
		require.NotContains(t, errOut, "go on with", command)
	}
	_, errOut, _ := w.does(t, on("backfill", "nightly", "--from", "2026-02-27T02:30:00Z", "--to", "2026-02-27T02:30:00Z", "--yes")...)
	require.Contains(t, errOut, "go on with the same command", "somebody may enable its servers")
}

// A run that was cut short by a stop is not lost.
func TestInterruptedIsNotLost(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	put(t, w.hand(t), "/orders/sharding/0/record", jobtree.EncodeRecord(ran(t, first, noon.Add(-time.Minute), jobtree.Interrupted, "")))
	lines := strings.Split(w.must(t, on("get", "items", "orders", "-o", "wide")...), "\n")
	cell := func(column string) string {
		return strings.Fields(lines[1][strings.Index(lines[0], column):])[0]
	}
	require.Equal(t, "0", cell("LOST"))
	require.Equal(t, "1", cell("INTERRUPTED"))
}

func TestTheConsoleOfTheDemoBehindABlank(t *testing.T) {
	t.Parallel()
	_, errOut, status := newWorld(t).does(t, "demo", "--console", "127.0.0.1:9999")
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "want --console=127.0.0.1:9999")
}

func TestPropsAreDescribedOneByOne(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	text, err := jobtree.EncodeConfig(job.Config{
		Name: "call", Class: "elasticron-http", Cron: "@daily", ShardingTotalCount: 1, Props: map[string]string{"http.uri": "http://a.example", "http.method": "HEAD"},
	})
	require.NoError(t, err)
	put(t, w.hand(t), "/call/config", text)
	out := w.must(t, on("describe", "job/call")...)
	require.Regexp(t, `props\.http\.method +HEAD\n`, out)
	require.Regexp(t, `props\.http\.uri +\*\*\*\n`, out)
	require.NotContains(t, out, "map[")
}

func TestTheContextsThatThereAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, errOut, _ := w.does(t, "get", "jobs")
	require.NotContains(t, errOut, "there are the contexts")
	for _, name := range []string{"test", "prod"} {
		w.must(t, "context", "set", name, "--etcd", "http://e1:2379", "-n", "shop")
	}
	w.must(t, "context", "set", "old", "--etcd", "http://e1:2379", "-n", "shop")
	w.must(t, "context", "use", "old")
	w.must(t, "context", "remove", "old")
	_, errOut, status := w.does(t, "get", "jobs")
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "there are the contexts prod, test, of which none is chosen")
}

// Apply leaves it alone whether a job is disabled, and does not show that as a change.
func TestApplyOfAJobThatTheFileDisables(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	text := w.must(t, on("export", "orders")...)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, "config:\n", "config:\n    disabled: true\n", 1)), 0o600))
	_, errOut, status := w.does(t, on("apply", "-f", file)...)
	require.Zero(t, status, "there is nothing to ask: %s", errOut)
	require.Equal(t, "! orders stays enabled, other than in the file: elasticron disable job/orders changes that\norders: is so already\n", errOut)
	out, errOut, status := w.does(t, on("diff", "-f", file, "--exit-code")...)
	require.Equal(t, exitFailed, status)
	require.Equal(t, "~ orders  disabled: stored false, declared true\n", out)
	require.Equal(t, "elasticron: 1 difference\n", errOut)
}

// A slip of the pen in the editor may be why another setting is missing.
func TestAnUnknownSettingInTheEditor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	editor := filepath.Join(t.TempDir(), "editor")
	writeProgram(t, editor, "sed -i 's/shardingTotalCount/shardingTotalCont/' \"$1\"")
	w.variables["EDITOR"] = editor
	_, errOut, status := w.does(t, on("edit", "orders", "--yes")...)
	require.Equal(t, exitFailed, status, errOut)
	require.Contains(t, errOut, "a configuration has no such setting: shardingTotalCont; what you wrote is in ")
}

// unanswered is a registry that carries out what it is asked for, and does not answer any more.
type unanswered struct{ *memory.Registry }

func (u unanswered) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	_, _ = u.Registry.Commit(ctx, txn)
	return 0, fmt.Errorf("%w: the connection is gone", registry.ErrUnknownOutcome)
}

func (unanswered) List(context.Context, string) ([]registry.Node, registry.Revision, error) {
	return nil, 0, fmt.Errorf("%w: nobody answers", registry.ErrUnavailable)
}

// What somebody has typed in the editor is kept also if nobody knows whether it was stored, and if it was not agreed to.
func TestWhatWasTypedIsKept(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	editor := filepath.Join(t.TempDir(), "editor")
	writeProgram(t, editor, `sed -i 's/"description": "[^"]*"/"description": "typed for ten minutes"/' "$1"`)
	w.variables["EDITOR"] = editor
	left := func(errOut string) string {
		_, path, found := strings.Cut(strings.TrimSpace(errOut), "what you wrote is in ")
		require.True(t, found, errOut)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.Remove(path))
		return string(text)
	}
	_, errOut, status := w.does(t, on("edit", "orders")...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, left(errOut), "typed for ten minutes")
	w.etcd = func(_ context.Context, c etcd.Config) (registry.Registry, error) {
		return unanswered{w.etcdServer.Open(c.Namespace)}, nil
	}
	_, errOut, status = w.does(t, on("edit", "orders", "--yes")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "repeat the command with --id ")
	require.Contains(t, left(errOut), "typed for ten minutes")
}

// Those to which nothing was done when somebody pressed Ctrl-C are counted, and not listed as failures.
func TestJobsThatHaveNotBegun(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, errOut bytes.Buffer
	status := newShop(t).run(ctx, on("trigger", "orders", "mail", "nightly", "--yes"), &out, &errOut)
	require.Equal(t, exitFailed, status)
	require.Equal(t, "0 of 3 jobs, and 3 not begun\n", out.String())
	require.Equal(t, "elasticron: 3 of 3 jobs have not begun, the first being \"orders\": not begun: context canceled\n", errOut.String())
}

// Where nobody knows what was done in any job, there is an id to ask again with.
func TestNothingIsHeardOfAllJobs(t *testing.T) {
	t.Parallel()
	asked := ""
	var news bytes.Buffer
	v := &verb{yes: true, output: formatTable, told: &teller{out: &news}}
	err := v.inAllJobs("10.0.0.1", func(_ context.Context, _ string, opts operate.Options) ([]operate.JobResult, error) {
		asked = opts.ID
		opts.Progress(operate.Progress{Of: 2, Ready: 1, Text: "items"})
		opts.Progress(operate.Progress{Text: "no answer"})
		opts.Progress(operate.Progress{Done: true, Text: "done"})
		return nil, fmt.Errorf("%w: the connection is gone", registry.ErrUnknownOutcome)
	})
	require.ErrorIs(t, err, registry.ErrUnknownOutcome)
	require.NotEmpty(t, asked)
	require.ErrorContains(t, err, "repeat the command with --id "+asked+",")
	require.Equal(t, "no answer\n", news.String(), "how far one of them is says nothing of all")
}
