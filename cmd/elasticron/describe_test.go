package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	require.Equal(t, `Name:         orders
Status:       OK
Class:        orders
Type:         SIMPLE
Cron:         0 * * * * ?
              Every minute.
Time zone:    Europe/Berlin
Next:         in 57s
Last:         ok 2s ago
Leader:       10.0.0.1@-@7-a
Items:        2, 0 running, 0 waiting, 0 overdue, 0 disabled
Config:       revision 2
Settings:
  failover            true
  jobParameter        ***
  shardingTotalCount  2
Items:
  ITEM  STATUS   SERVER    LAST       TOOK   SUCCESS  FAILED  LOST  REASON
  0     PENDING  10.0.0.1  ok 2s ago  980ms  1        0       0     -
  1     PENDING  10.0.0.2  ok 2s ago  980ms  1        0       0     -
Instances:
  NAME            STATUS
  10.0.0.1@-@7-a  OK
  10.0.0.2@-@7-b  OK
`, w.must(t, on("describe", "job/orders")...))
	out := w.must(t, on("describe", "job/mail")...)
	require.Contains(t, out, "OVERDUE: should have run and did not: item 1\n")
	require.NotContains(t, out, "\x1b")
	require.Contains(t, w.must(t, on("describe", "job/broken")...), "PAUSED: /broken/config: value is \"1 bytes\"")
	require.Equal(t, `Name:         10.0.0.1
Status:       SERVERS_DISABLED
              the server is disabled in 1 of its 3 jobs
Instances:    10.0.0.1@-@7-a
Jobs:
  JOB      STATUS    INSTANCES  ITEMS
  mail     OK        1          1
  nightly  DISABLED  1          1
  orders   OK        1          1
`, w.must(t, on("describe", "server/10.0.0.1")...))
	require.Contains(t, w.must(t, on("describe", "instance/10.0.0.2@-@7-b")...), "  JOB      LEADS  ITEMS\n  mail     no     1\n  nightly  no     -\n  orders   no     1\n")

	var all struct {
		Job        string
		Settings   map[string]any
		Items      []any `json:"item_rows"`
		Executions []any
	}
	require.NoError(t, json.Unmarshal([]byte(w.must(t, on("describe", "job/orders", "-o", "json")...)), &all))
	require.Equal(t, "***", all.Settings["jobParameter"])
	require.Len(t, all.Items, 2)
	require.Len(t, all.Executions, 2)

	for what, want := range map[string]string{
		"job/none": `no job "none"`, "server/1.1.1.1": `no server "1.1.1.1"`, "instance/x": `no instance "x" lives`,
		"orders": `"orders": want job/NAME, server/IP, instance/ID or execution/JOB/NUMBER/BEGIN; did you mean job/orders?`, "pod/x": "want job/NAME", "job/": "want job/NAME",
	} {
		_, errOut, status := w.does(t, on("describe", what)...)
		require.NotZero(t, status)
		require.Equal(t, strings.HasPrefix(want, "no "), status == exitFailed)
		require.Contains(t, errOut, want)
	}
}

func TestNextAndCron(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	require.Equal(t, `Every minute.
FIRE                         UTC                   IN
Mon 2026-03-02 13:01:00 CET  2026-03-02T12:01:00Z  57s
Mon 2026-03-02 13:02:00 CET  2026-03-02T12:02:00Z  117s
`, w.must(t, on("next", "orders", "-c", "2")...))
	w.must(t, on("disable", "job/orders", "--yes")...)
	require.Contains(t, w.must(t, on("next", "orders", "-c", "1")...), "Every minute.\nThe job is disabled: nothing begins for these fires until it is enabled.\nFIRE")
	w.must(t, on("enable", "job/orders", "--yes")...)
	_, errOut, status := w.does(t, on("next", "broken")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "/broken/config")
	_, errOut, _ = w.does(t, on("next", "none")...)
	require.Contains(t, errOut, `no job "none"`)

	require.Equal(t, "At 02:30.\nFIRE                          UTC                   IN\n"+
		"Sat 2026-03-28 02:30:00 CET   2026-03-28T01:30:00Z  25d\nSun 2026-03-29 03:00:00 CEST  2026-03-29T01:00:00Z  26d\n",
		w.must(t, "cron", "0 30 2 * * ?", "--zone", "Europe/Berlin", "--from", "2026-03-28T00:00:00Z", "-c", "2"))
	require.Contains(t, w.must(t, "cron", "0 30 2 * * ?", "--zone", "Europe/Berlin", "--from", "2026-03-28T12:00:00Z", "--daylight-saving", "quartz"),
		"Mon 2026-03-30 02:30:00 CEST")
	require.Contains(t, w.must(t, "cron", "@daily", "--from", "2026-02-26T12:00:00Z", "-c", "1"), "2026-02-27T00:00:00Z  3d ago\n")
	require.Equal(t, "Every 5 minutes.\n", strings.SplitAfter(w.must(t, "cron", "*/5", "*", "*", "*", "*"), "\n")[0], "words need no quotes")
	require.Equal(t, "Never by the clock, only when somebody triggers it.\nNo fires by the clock from now on.\n", w.must(t, "cron", "@triggered"))
	var f struct {
		Words string
		Fires []time.Time
	}
	require.NoError(t, json.Unmarshal([]byte(w.must(t, "cron", "@hourly", "-c", "3", "-o", "json")), &f))
	require.Equal(t, "Every hour.", f.Words)
	require.Equal(t, noon.Truncate(time.Hour).Add(3*time.Hour), f.Fires[2])
}

func TestDump(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	out := w.must(t, on("dump", "orders")...)
	require.Contains(t, out, "/orders/sharding/1/instance | "+second+"\n")
	require.NotContains(t, out, "secret")
	require.Contains(t, w.must(t, on("dump", "orders", "--secrets")...), `"jobParameter":"secret"`)
	require.Contains(t, w.must(t, on("dump", "orders", "-o", "json")...), `"path": "/orders/config"`)
	_, errOut, status := w.does(t, on("dump", "none")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `no job "none"`)
}

// What is hidden of settings, and of those before an operation, is shown to who asks for it.
func TestDescribeAndAuditShowSecrets(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.must(t, on("edit", "orders", "--set", "jobParameter=swordfish", "--yes")...)
	for _, o := range [][]string{nil, {"-o", "json"}, {"-o", "yaml"}} {
		require.NotContains(t, w.must(t, on(append([]string{"describe", "job/orders"}, o...)...)...), "swordfish")
		require.Contains(t, w.must(t, on(append([]string{"describe", "job/orders", "--secrets"}, o...)...)...), "swordfish")
	}
	require.NotContains(t, w.must(t, on("audit", "orders", "-o", "json")...), "secret")
	require.Contains(t, w.must(t, on("audit", "orders", "-o", "json", "--secrets")...), `\"jobParameter\":\"secret\"`)
	require.Equal(t, w.must(t, on("audit", "orders")...), w.must(t, on("audit", "orders", "--secrets")...))
	_, errOut, status := w.does(t, on("describe", "server/10.0.0.1", "--secrets")...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "--secrets is for jobs")
}

func TestExportAndDiff(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	name := filepath.Join(t.TempDir(), "all.yaml")
	out, errOut, status := w.does(t, on("export")...)
	require.Equal(t, exitSome, status)
	require.Contains(t, errOut, "job broken is left out: /broken/config")
	require.NoError(t, os.WriteFile(name, []byte(out), 0o600))
	require.Empty(t, w.must(t, on("diff", "-f", name)...))
	require.Empty(t, w.must(t, on("diff", "-f", name, "--exit-code")...))

	// What is exported can be seeded elsewhere.
	file, err := seed.ReadFile(name)
	require.NoError(t, err)
	from, to := w.etcdServer.Open("shop"), w.etcdServer.Open("market")
	t.Cleanup(func() {
		require.NoError(t, from.Close(context.Background()))
		require.NoError(t, to.Close(context.Background()))
	})
	_, err = seed.Run(t.Context(), to, file, seed.Options{})
	require.NoError(t, err)
	for _, path := range []string{"/orders/config", "/mail/config", "/mail/sharding/0/disabled", "/nightly/servers/10.0.0.3"} {
		was, err := from.Get(t.Context(), path)
		require.NoError(t, err)
		is, err := to.Get(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, was.Value, is.Value)
	}
	nodes, _, err := to.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Len(t, nodes, 7)

	require.NotContains(t, w.must(t, on("export", "--match", "o*")...), "nightly")
	require.NotContains(t, w.must(t, on("export", "nightly")...), "orders")
	_, errOut, status = w.does(t, on("export", "none")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `no job "none"`)
	_, errOut, _ = w.does(t, on("export", "--match", "none*")...)
	require.Contains(t, errOut, "no job to export")

	out, errOut, status = w.does(t, on("diff", "-f", "testdata/jobs.yaml", "--exit-code")...)
	require.Equal(t, exitFailed, status)
	require.Equal(t, "elasticron: 4 differences\n", errOut)
	lines := strings.Split(out, "\n")
	require.Contains(t, lines[0], `+ invoices  config  {"jobName":"invoices"`)
	require.Equal(t, []string{
		`~ orders  cron: stored "0 * * * * ?", declared "0 0/5 * * * ?"`,
		`~ orders  jobParameter: stored "***", declared ""`,
		"+ orders  servers/10.0.0.7  DISABLED", "",
	}, lines[1:])
	require.NotContains(t, out, "secret")
}

// What an export of now would have and a file has not is shown if all is asked for: whoever has restored a backup looks for
// jobs that had been removed, and for items that had been enabled. What cannot be exported is named.
func TestDiffShowsWhatAFileDoesNotMention(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	does := func(args ...string) {
		t.Helper()
		_, errOut, status := w.does(t, on(args...)...)
		require.Zero(t, status, errOut)
	}
	name := filepath.Join(t.TempDir(), "all.yaml")
	out, _, status := w.does(t, on("export")...)
	require.Equal(t, exitSome, status)
	require.NoError(t, os.WriteFile(name, []byte(out), 0o600))
	out, errOut, status := w.does(t, on("diff", "-f", name, "--all", "--exit-code")...)
	require.Equal(t, exitSome, status)
	require.Empty(t, out)
	require.Contains(t, errOut, "job broken is left out: /broken/config")
	does("remove", "broken", "--yes", "--force", "--export", "none")
	require.Empty(t, w.must(t, on("diff", "-f", name, "--all", "--exit-code")...))

	extra := filepath.Join(t.TempDir(), "extra.yaml")
	require.NoError(t, os.WriteFile(extra, []byte("invoices:\n  config: {cron: '@daily', shardingTotalCount: 2, jobParameter: swordfish}\n"), 0o600))
	does("create", "-f", extra)
	does("disable", "item/orders/1")
	does("disable", "item/invoices/1")
	does("enable", "item/mail/0")
	does("disable", "server/10.0.0.7", "--job", "orders", "--force")
	require.Equal(t, "+ mail  sharding/0/disabled  \n", w.must(t, on("diff", "-f", name)...), "the file does not mention the others")
	out, errOut, status = w.does(t, on("diff", "-f", name, "--all", "--exit-code")...)
	require.Equal(t, exitFailed, status)
	require.Equal(t, "elasticron: 5 differences\n", errOut)
	lines := strings.Split(out, "\n")
	require.Len(t, lines, 6)
	require.Contains(t, lines[1], `- invoices  config  {"jobName":"invoices"`)
	require.NotContains(t, out, "swordfish")
	require.Equal(t, []string{
		"- invoices  sharding/1/disabled  ", "- orders  servers/10.0.0.7  DISABLED", "- orders  sharding/1/disabled  ", "",
	}, lines[2:])
	require.Contains(t, w.must(t, on("diff", "-f", name, "--all", "--secrets")...), "swordfish")

	// A job that is disabled by now names its servers in an export. Those that are enabled are no difference of their own.
	does("disable", "job/orders")
	require.NotContains(t, w.must(t, on("diff", "-f", name, "--all")...), "- orders  servers/10.0.0.1")
}

func TestManualPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "man1")
	w.must(t, "man", folder)
	for _, page := range []string{"elasticron.1", "elasticron-get-jobs.1", "elasticron-context-set.1", "elasticron-completion-bash.1"} {
		text, err := os.ReadFile(filepath.Join(folder, page))
		require.NoError(t, err)
		require.Contains(t, string(text), ".SH NAME")
	}
	require.Contains(t, w.must(t, "completion", "bash"), "__start_elasticron")
}
