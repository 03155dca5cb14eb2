package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/migrate"
)

func TestMigrateMove(t *testing.T) {
	t.Parallel()
	from, to := newEtcd(t), newEtcd(t)
	source, target := openEtcd(t, from, "shop"), openEtcd(t, to, "market")
	put(t, source, "/orders/config", ordersConfig, "/broken/config", "{")
	call := func(way string, more ...string) (string, string, int) {
		t.Helper()
		return carryOut(t, append([]string{
			"migrate", way, "--from-etcd", from, "--to", to, "--namespace", "shop", "--to-namespace", "market", "--time-zone", "Europe/Berlin",
		}, more...)...)
	}
	out, errOut, status := call("move")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "not all of 2 jobs are where they should be")
	require.Contains(t, out, "JOB     TREE  STATE\nbroken  ?     not moved\norders  2.1   not moved\n")
	require.Contains(t, out, "broken: not moved\n  in the source: /broken/config: ")
	require.Contains(t, out, "orders: not moved\n  1. create the job in the target, disabled\n  2. disable the job in the source\n")
	require.Contains(t, out, "Nothing was changed")
	require.Empty(t, paths(t, target))

	for way, state := range map[string]migrate.MoveState{"return": migrate.NotMoved, "confirm": migrate.NotMoved} {
		out, _, status := call(way, "--job", "orders", "--json")
		require.Equal(t, exitFailed, status)
		require.Contains(t, out, string(state))
	}
	for _, step := range []struct {
		way   string
		state migrate.MoveState
	}{{"move", migrate.Moved}, {"return", migrate.Returned}, {"move", migrate.Moved}, {"confirm", migrate.Confirmed}} {
		out, errOut, status = call(step.way, "--job", "orders", "--apply", "--json", "--wait", "1m")
		require.Zero(t, status, errOut)
		var report migrate.MoveReport
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		require.True(t, report.Applied)
		require.Equal(t, step.state, report.Jobs[0].State)
		require.True(t, report.Jobs[0].Done)
	}
	out, _, status = call("return", "--job", "orders", "--apply")
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "its move was confirmed")
	_, errOut, status = call("move", "--settle", "-1s")
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, `Settle is "-1s", must not be negative`)
}

// One of the registries of a move is gone for good. Nobody asks it.
func TestMigrateWithoutTheOtherRegistry(t *testing.T) {
	t.Parallel()
	from, to := newEtcd(t), newEtcd(t)
	source, target := openEtcd(t, from, "shop"), openEtcd(t, to, "market")
	put(t, source, "/orders/config", ordersConfig, "/mail/config", strings.Replace(ordersConfig, "orders", "mail", 1))
	out, errOut, status := carryOut(t, "migrate", "move", "--from-etcd", from, "--to", to, "--namespace", "shop", "--to-namespace", "market", "--apply")
	require.Zero(t, status, errOut)
	require.Contains(t, out, "orders  2.1   moved")

	back := []string{"migrate", "return", "--target-lost", "--from-etcd", from, "--namespace", "shop", "--job", "orders"}
	out, errOut, status = carryOut(t, back...)
	require.Zero(t, status, errOut)
	require.Contains(t, out, "orders  2.1   drained\n")
	require.Contains(t, out, "note: nobody has asked the target: if it runs the job none the less, both do")
	out, errOut, status = carryOut(t, append(back, "--apply")...)
	require.Zero(t, status, errOut)
	require.Contains(t, out, "orders  2.1   returned\n")
	out, errOut, status = carryOut(t, "migrate", "confirm", "--source-lost", "--to", to, "--namespace", "shop", "--to-namespace", "market", "--job", "mail", "--apply")
	require.Zero(t, status, errOut)
	require.Contains(t, out, "mail  2.1   confirmed\n")
	require.NotContains(t, paths(t, target), "/mail/leader/move")
	for want, args := range map[string][]string{
		"--to is given, and so is --target-lost":      append(back, "--to", to),
		"a source is given, and so is --source-lost":  {"migrate", "confirm", "--source-lost", "--from", "zk1:2181", "--to", to, "--namespace", "shop"},
		"a source is given, and so is --source-lost:": {"migrate", "confirm", "--source-lost", "--from-etcd", from, "--to", to, "--namespace", "shop"},
		"target: --to is missing":                     {"migrate", "confirm", "--source-lost", "--namespace", "shop"},
		"source: --from is missing":                   {"migrate", "return", "--target-lost", "--namespace", "shop"},
	} {
		_, errOut, status = carryOut(t, args...)
		require.Equal(t, exitMisuse, status, errOut)
		require.Contains(t, errOut, want)
	}
}
