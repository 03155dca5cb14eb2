package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const seedText = `orders:
  config:
    cron: 0 0/5 * * * ?
    shardingTotalCount: 4
  servers:
    10.0.0.7: DISABLED
`

func seedFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestSeed(t *testing.T) {
	t.Parallel()
	etcd := newEtcd(t)
	reg := openEtcd(t, etcd, "shop")
	file := seedFile(t, "jobs.yaml", seedText)

	out, errOut, status := carryOut(t, "seed", "--etcd", etcd, "--namespace", "shop", "--dry-run", file)
	require.Zero(t, status, errOut)
	require.Contains(t, out, "/orders/config            created\n")
	require.Contains(t, out, "Nothing was written")
	require.Empty(t, paths(t, reg))

	out, errOut, status = carryOut(t, "seed", "--etcd", etcd, "--namespace", "shop", file)
	require.Zero(t, status, errOut)
	require.NotContains(t, out, "Nothing was written")
	require.Equal(t, []string{"/orders/config", "/orders/servers/10.0.0.7"}, paths(t, reg))

	put(t, reg, "/orders/servers/10.0.0.7", "")
	out, errOut, status = carryOut(t, "seed", "--etcd", etcd, "--namespace", "shop", "--json", file)
	require.Zero(t, status, errOut)
	require.JSONEq(t, `{"applied":true,"nodes":[{"path":"/orders/config","action":"unchanged"},{"path":"/orders/servers/10.0.0.7","action":"kept"}]}`, out)

	out, errOut, status = carryOut(t, "seed", "--etcd", etcd, "--namespace", "shop", "--overwrite", file)
	require.Zero(t, status, errOut)
	require.Contains(t, out, "/orders/servers/10.0.0.7  updated\n")
}

// What seed and migrate overwrite is written down with who did it, and rolled back like what operators do.
func TestWhatIsOverwrittenIsWrittenDown(t *testing.T) {
	w := newWorld(t)
	reg := w.hand(t)
	file := seedFile(t, "jobs.yaml", seedText)
	to := []string{"--etcd", "x", "--namespace", "shop"}
	w.must(t, append([]string{"seed", file}, to...)...)
	require.Equal(t, "No operations found.\n", w.must(t, on("audit")...))
	w.must(t, on("edit", "orders", "--set", "cron=@daily", "--yes")...)
	w.must(t, append([]string{"seed", file, "--overwrite", "--reason", "as in the file"}, to...)...)
	require.Equal(t, "0 0/5 * * * ?", config(t, reg, "orders").Cron)
	out := w.must(t, on("audit", "orders")...)
	require.Regexp(t, `(?m) seed +- +anna +as in the file$`, out)
	require.NotContains(t, out, "!", "nothing was changed from outside")
	name := w.must(t, on("get", "operations", "orders", "--status", "seed", "-o", "name")...)
	w.must(t, on("rollback", "orders", "--to", filepath.Base(strings.TrimSpace(name)), "--yes")...)
	require.Equal(t, "@daily", config(t, reg, "orders").Cron)

	from := w.etcdServer.Open("old")
	t.Cleanup(func() { require.NoError(t, from.Close(context.Background())) })
	put(t, from, "/orders/config", ordersConfig)
	out, errOut, status := w.does(t, "migrate", "--from-etcd", "x", "--to", "x", "--namespace", "old", "--to-namespace", "shop", "--apply", "--overwrite", "--to-user", "mover")
	require.NotZero(t, status, "without a password: %s%s", out, errOut)
	t.Setenv(passwordOfTarget, "geheim")
	w.must(t, "migrate", "--from-etcd", "x", "--to", "x", "--namespace", "old", "--to-namespace", "shop", "--apply", "--overwrite", "--to-user", "mover")
	out = w.must(t, on("audit", "orders")...)
	require.Regexp(t, `(?m) migrate +- +mover +-$`, out)
	require.NotContains(t, out, "!")

	_, errOut, status = w.does(t, append([]string{"seed", file, "--reason", strings.Repeat("x", 1_001)}, to...)...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "Reason is ")
}

func TestSeedThatCannot(t *testing.T) {
	t.Parallel()
	good := seedFile(t, "jobs.yaml", seedText)
	for want, args := range map[string][]string{
		"accepts 1 arg(s), received 0":  {"--namespace", "shop"},
		"--namespace is missing":        {good},
		"--etcd is missing":             {"--namespace", "shop", good},
		"no such file":                  {"--namespace", "shop", "none.yaml"},
		"must end in .yaml":             {"--namespace", "shop", "none.json"},
		"line 1":                        {"--namespace", "shop", seedFile(t, "bad.yaml", "orders: [1]\n")},
		"no answer from http://0.0.0.0": {"--namespace", "shop", "--etcd", "http://0.0.0.0:1", good},
	} {
		out, errOut, status := carryOut(t, append([]string{"seed"}, args...)...)
		require.Contains(t, []int{exitFailed, exitMisuse}, status, want)
		require.Contains(t, errOut, want)
		require.Empty(t, out)
	}
}
