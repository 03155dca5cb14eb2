package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// thinker is somebody who thinks before the answer; meanwhile something happens.
type thinker struct {
	once      sync.Once
	meanwhile func()
	answer    io.Reader
}

func (t *thinker) Read(p []byte) (int, error) {
	t.once.Do(t.meanwhile)
	return t.answer.Read(p)
}

// agreesAfter has the program ask, and agrees after something has happened.
func (w *world) agreesAfter(meanwhile func()) {
	w.program.asked = func(any) bool { return true }
	w.in = &thinker{answer: strings.NewReader("y\n"), meanwhile: meanwhile}
}

// What was shown of a server in all jobs is done, and nothing else: neither where it would be the last one by now, nor to a job
// that was not there, nor where it was so already.
func TestAServerInAllJobsAsItWasShown(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	w.agreesAfter(func() {
		put(t, reg, "/orders/servers/10.0.0.1", "DISABLED", "/nightly/servers/10.0.0.2", "")
		text, err := jobtree.EncodeConfig(job.Config{Name: "payroll", Cron: "@daily", ShardingTotalCount: 1})
		require.NoError(t, err)
		put(t, reg, "/payroll/config", text, "/payroll/instances/"+second, "")
	})
	out, errOut, status := w.does(t, on("disable", "server/10.0.0.2")...)
	require.Equal(t, exitSome, status, errOut)
	require.Contains(t, out, "1 of 4 jobs")
	require.Contains(t, errOut, "mail: done\n")
	for _, job := range []string{"orders", "payroll", "nightly"} {
		require.Regexp(t, job+": .*it would not be any more what was shown", errOut)
		require.NotEqual(t, "DISABLED", value(t, reg, "/"+job+"/servers/10.0.0.2"), job)
	}
	require.Equal(t, "DISABLED", value(t, reg, "/mail/servers/10.0.0.2"))
}

func TestAnInstanceLeavesAllItsJobsAsItWasShown(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	w.agreesAfter(func() { put(t, reg, "/orders/servers/10.0.0.1", "DISABLED") })
	_, errOut, status := w.does(t, on("shutdown", "instance/"+second)...)
	require.Equal(t, exitSome, status, errOut)
	require.Regexp(t, "orders: .*it would not be any more what was shown", errOut)
	require.Empty(t, value(t, reg, "/orders/instances/"+second))
	require.Equal(t, "SHUTDOWN", value(t, reg, "/mail/instances/"+second))
}

// Apply shows what plans hide to who asks for it, before the question, in what was done and as JSON.
func TestApplyShowsSecrets(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	text := strings.NewReplacer("secret", "swordfish", "0 0/2 * * * ?", "0 0/3 * * * ?").Replace(w.must(t, on("export", "orders", "mail")...))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	const hidden, shown = `jobParameter "***" -> "***(changed)"`, `jobParameter "secret" -> "swordfish"`
	_, errOut, status := w.does(t, on("apply", "-f", file, "--dry-run")...)
	require.Zero(t, status, errOut)
	require.Contains(t, errOut, hidden)
	require.NotContains(t, errOut, "swordfish")
	_, errOut, status = w.does(t, on("apply", "-f", file, "--dry-run", "--secrets")...)
	require.Zero(t, status, errOut)
	require.Contains(t, errOut, shown)
	require.NotContains(t, errOut, "***")
	out, errOut, status := w.does(t, on("apply", "-f", file, "--dry-run", "-o", "json")...)
	require.Zero(t, status, errOut)
	require.Contains(t, out, `***(changed)`)
	for _, flag := range []string{"--dry-run", "--yes"} {
		out, errOut, status := w.does(t, on("apply", "-f", file, flag, "--secrets", "-o", "json")...)
		require.Zero(t, status, errOut)
		require.Contains(t, out, `"before": "\"secret\""`)
		require.Contains(t, out, `"after": "\"swordfish\""`)
	}
}

// An item that is enabled while apply asks is not disabled again: nobody was shown that.
func TestApplyDoesWhatItHasShown(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	text := strings.Replace(w.must(t, on("export", "mail")...), "0 0/2 * * * ?", "0 0/3 * * * ?", 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	w.agreesAfter(func() {
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/mail/sharding/0/disabled")}})
		require.NoError(t, err)
	})
	_, errOut, status := w.does(t, on("apply", "-f", file)...)
	require.Equal(t, exitRefused, status, errOut)
	require.Contains(t, errOut, "it would not be any more what was shown")
	require.NotContains(t, value(t, reg, "/mail/config"), "0 0/3")
	w.in = strings.NewReader("y\n")
	_, errOut, status = w.does(t, on("apply", "-f", file)...)
	require.Zero(t, status, errOut)
	require.Contains(t, value(t, reg, "/mail/config"), "0 0/3")
}
