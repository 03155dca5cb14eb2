package main

import (
	"encoding/json"
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
