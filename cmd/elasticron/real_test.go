package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// What a real etcd and a real ZooKeeper hold is shown the same way, and can be operated the same way.
func TestRealRegistries(t *testing.T) {
	t.Parallel()
	zookeeper.Need(t)
	etcdURL := newEtcd(t)
	server := zookeeper.Start(t)
	shop(t, openEtcd(t, etcdURL, "shop"))
	zk, err := zkcompat.Open(t.Context(), zkcompat.Config{Servers: server.Addresses(), Namespace: "shop", SessionTimeout: 40 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, zk.Close(context.Background())) })
	shop(t, zk)

	w := newWorld(t)
	w.now = func() time.Time { return noon }
	real := newProgram()
	w.etcd, w.zooKeeper = real.etcd, real.zooKeeper
	onEtcd := []string{"--etcd", etcdURL, "-n", "shop"}
	onZooKeeper := []string{"--zookeeper", server.Address(), "-n", "shop"}
	same := func(command string, status int) {
		t.Helper()
		args := strings.Fields(command)
		want, errOut, got := w.does(t, append(args[:len(args):len(args)], onEtcd...)...)
		require.Equal(t, status, got, errOut)
		require.NotEmpty(t, want+errOut)
		out, errOut, got := w.does(t, append(args[:len(args):len(args)], onZooKeeper...)...)
		require.Equal(t, status, got, errOut)
		require.Equal(t, want, out, command)
	}
	for _, command := range []string{
		"get jobs -o wide", "get items -o wide", "get executions", "get servers -o wide", "get instances -o wide", "next orders", "dump mail",
		"export orders mail nightly", "describe server/10.0.0.1",
	} {
		same(command, exitOK)
	}
	for command, status := range map[string]int{
		"disable item/orders/0 --dry-run": exitOK, "enable item/orders/0": exitRefused, "edit orders --yes --set cron=x": exitRefused,
		"trigger orders --items 9": exitRefused, "remove mail --yes": exitRefused,
	} {
		same(command, status)
	}
	for _, flags := range [][]string{onEtcd, onZooKeeper} {
		for _, command := range []string{"disable item/orders/0", "disable server/10.0.0.1 --job mail", "edit mail --yes --set shardingTotalCount=3", "apply -f testdata/jobs.yaml --yes --force"} {
			_, errOut, status := w.does(t, append(strings.Fields(command), flags...)...)
			require.Zero(t, status, errOut)
		}
	}
	same("get jobs -o wide", exitOK)
	same("get items -o wide", exitOK)
	same("export orders mail invoices", exitOK)

	// What is exported and applied to an empty namespace is the same there, byte for byte.
	file := filepath.Join(t.TempDir(), "all.yaml")
	for _, flags := range [][]string{onEtcd, onZooKeeper} {
		out, errOut, status := w.does(t, append([]string{"export", "orders", "mail", "nightly", "invoices"}, flags...)...)
		require.Zero(t, status, errOut)
		require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
		elsewhere := append(slices.Clone(flags[:len(flags)-1]), "market")
		_, errOut, status = w.does(t, append([]string{"apply", "-f", file, "--yes", "--force"}, elsewhere...)...)
		require.Zero(t, status, errOut)
		exported, errOut, status := w.does(t, append([]string{"export"}, elsewhere...)...)
		require.Zero(t, status, errOut)
		require.Equal(t, out, exported)
	}
	market, err := zkcompat.Open(t.Context(), zkcompat.Config{Servers: server.Addresses(), Namespace: "market"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, market.Close(context.Background())) })
	for _, name := range []string{"orders", "mail", "nightly", "invoices"} {
		path := jobtree.For(name).Config()
		require.Equal(t, value(t, zk, path), value(t, market, path))
	}
}
