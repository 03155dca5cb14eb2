package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/migrate"
)

// ordersConfig is a config as Java stores it.
const ordersConfig = `{"jobName":"orders","jobClass":"com.acme.OrderJob","jobType":"SIMPLE","cron":"0 0/5 * * * ?","shardingTotalCount":3,"misfire":true}`

func TestMigrate(t *testing.T) {
	t.Parallel()
	from, to := newEtcd(t), newEtcd(t)
	source, target := openEtcd(t, from, "shop"), openEtcd(t, to, "market")
	put(t, source,
		"/orders/config", ordersConfig, "/orders/servers/10.0.0.7", "DISABLED",
		"/broken/config", "{",
	)
	flags := []string{"migrate", "--from-etcd", from, "--to", to, "--namespace", "shop", "--to-namespace", "market"}
	with := func(more ...string) []string { return append(flags[:len(flags):len(flags)], more...) }

	out, errOut, status := carryOut(t, flags...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "1 of 2 jobs are not as they should be")
	require.Contains(t, out, "JOB     TREE  RESULT\nbroken  2.1   refused\norders  2.1   created\n")
	require.Contains(t, out, "broken: refused\n  /broken/config: value is \"1 bytes\", must be a JSON object: line 1, column 1: ")
	require.Contains(t, out, "\n  servers/10.0.0.7: + DISABLED\n")
	require.NotContains(t, out, "note:", "no Java has read the jobs of an etcd in another zone")
	require.Contains(t, out, "Nothing was written")
	require.Empty(t, paths(t, target))

	out, errOut, status = carryOut(t, with("--job", "orders", "--time-zone", "Europe/Berlin", "--apply")...)
	require.Zero(t, status, errOut)
	require.NotContains(t, out, "note:")
	require.NotContains(t, out, "Nothing was written")
	require.Equal(t, []string{"/orders/config", "/orders/leader/tokens", "/orders/servers/10.0.0.7"}, paths(t, target))

	out, errOut, status = carryOut(t, with("--job", "orders", "--apply", "--json")...)
	require.Equal(t, exitFailed, status, "without the time zone it differs")
	require.Contains(t, errOut, "1 of 1 jobs")
	var report migrate.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.True(t, report.Applied)
	require.Equal(t, migrate.Differs, report.Jobs[0].Action)
	require.Equal(t, "config.timeZone", report.Jobs[0].Changes[0].Node)

	_, errOut, status = carryOut(t, with("--job", "orders", "--apply", "--overwrite")...)
	require.Zero(t, status, errOut)
}

// A password in a variable may have the line end of the file from which it was made, as one of a Secret has.
func TestThePasswordOfASource(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	const to = "http://e1:2379"
	for variable, digest := range map[string]string{"geheim": "ops:geheim", "geheim\r\n": "ops:geheim", " a\nb \n": "ops: a\nb "} {
		w.variables[passwordOfSource] = variable
		_, errOut, status := w.does(t, "migrate", "--from", "zk1:2181", "--from-user", "ops", "--namespace", "shop", "--to", to)
		require.NotEqual(t, exitMisuse, status, errOut)
		require.Equal(t, digest, w.asked.zooKeeper.Digest)
	}
	w.variables[passwordOfSource] = "\n"
	_, errOut, status := w.does(t, "migrate", "--from", "zk1:2181", "--from-user", "ops", "--namespace", "shop", "--to", to)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "--from-user is given, and $ELASTICRON_FROM_PASSWORD is empty")
}

func TestMigrateThatCannot(t *testing.T) {
	t.Parallel()
	from := newEtcd(t)
	put(t, openEtcd(t, from, "shop"), "/orders/config", ordersConfig)
	for _, test := range []struct {
		want   string
		status int
		args   []string
	}{
		{"--namespace is missing", exitMisuse, nil},
		{"source: --from is missing", exitMisuse, []string{"--namespace", "shop"}},
		{"source: --from and --from-etcd are given", exitMisuse, []string{"--namespace", "shop", "--from-etcd", from, "--from", "x:1"}},
		{"source: --from-user is given, and $ELASTI", exitMisuse, []string{"--namespace", "shop", "--from", "x:1", "--from-user", "x"}},
		{"source: open: registry unavailable", exitFailed, []string{"--namespace", "shop", "--from", "127.0.0.1:1", "--to", from}},
		{"source: --from-etcd-cert is given, and elasticron speaks no TLS", exitMisuse, []string{"--namespace", "shop", "--from", "x:1", "--from-etcd-cert", "c"}},
		{"target: --to is missing", exitMisuse, []string{"--namespace", "shop", "--from-etcd", from}},
		{"target: open: registry unavailable", exitFailed, []string{"--namespace", "shop", "--from-etcd", from, "--to", "http://0.0.0.0:1"}},
		{"the namespace has no jobs: none", exitFailed, []string{"--namespace", "none", "--from-etcd", from, "--to", from, "--to-namespace", "x"}},
		{`source and target are the namespace "shop" of one cluster`, exitMisuse, []string{"--namespace", "shop", "--from-etcd", from, "--to", from}},
		{`TimeZone is "Mars"`, exitMisuse, []string{"--namespace", "shop", "--from-etcd", from, "--to", from, "--to-namespace", "x", "--time-zone", "Mars"}},
		{"unknown flag: --dry-run", exitMisuse, []string{"--dry-run"}},
		{"--from-etcd-user is given, and $ELASTICRO", exitMisuse, []string{"--namespace", "shop", "--from-etcd", from, "--from-etcd-user", "x"}},
	} {
		_, errOut, status := carryOut(t, append([]string{"migrate"}, test.args...)...)
		require.Equal(t, test.status, status, errOut)
		require.Contains(t, errOut, test.want)
	}
}
