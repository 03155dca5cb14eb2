package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// What lives long logs what its registry has to say. A command that is given by hand tells errors, and nothing else.
func TestWhoHearsOfTheRegistry(t *testing.T) {
	t.Parallel()
	errOpened := errors.New("opened")
	jobs := filepath.Join(t.TempDir(), "worker.yaml")
	require.NoError(t, os.WriteFile(jobs, []byte("http: {allow: ['*']}\n"), 0o600))
	for command, logs := range map[string]bool{
		"worker --config " + jobs: true, "server --listen 127.0.0.1:0": true, "get jobs": false, "trigger orders": false,
	} {
		for _, flags := range []string{"--etcd http://e1:2379", "--zookeeper zk1:2181"} {
			w := newWorld(t)
			var log *slog.Logger
			w.etcd = func(_ context.Context, c etcd.Config) (registry.Registry, error) {
				log = c.Logger
				return nil, errOpened
			}
			w.zooKeeper = func(_ context.Context, c zkcompat.Config) (registry.Registry, error) {
				log = c.Logger
				return nil, errOpened
			}
			_, errOut, _ := w.does(t, strings.Fields(command+" "+flags+" -n shop")...)
			require.Contains(t, errOut, errOpened.Error(), command)
			require.Equal(t, logs, log != nil, command+" "+flags)
		}
	}
}

// A worker whose namespace neither flags nor its file name takes that of the context from which it has its registry.
func TestAWorkerInTheNamespaceOfTheContext(t *testing.T) {
	t.Parallel()
	errOpened := errors.New("opened")
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte("http: {allow: ['*']}\n"+text), 0o600))
		return path
	}
	plain := file("plain.yaml", "")
	w := newWorld(t)
	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "market")
	w.must(t, "context", "set", "other", "--etcd", "http://e2:2379", "-n", "bank")
	w.must(t, "context", "use", "other")
	w.etcd = func(_ context.Context, c etcd.Config) (registry.Registry, error) {
		w.asked.etcd = c
		return nil, errOpened
	}
	for args, want := range map[string]string{
		"--context prod --config " + plain:         "http://e1:2379 market",
		"--config " + plain:                        "http://e2:2379 bank",
		"--context prod -n shop --config " + plain: "http://e1:2379 shop",
		"--context prod --config " + file("shop.yaml", "registry: {namespace: shop}\n"):     "http://e1:2379 shop",
		"--context prod --config " + file("own.yaml", "registry: {etcd: [http://e3:2379]}"): "http://e1:2379 market",
	} {
		_, errOut, _ := w.does(t, append([]string{"worker"}, strings.Fields(args)...)...)
		require.Contains(t, errOut, errOpened.Error(), args)
		require.Equal(t, want, w.asked.etcd.Endpoints[0]+" "+w.asked.etcd.Namespace, args)
	}
	for args, want := range map[string]string{
		"--etcd http://e3:2379 --config " + plain:       "the namespace is missing",
		"--config " + filepath.Join(folder, "own.yaml"): "the namespace is missing", // that of a context is not meant for another registry
		"--embedded data --config " + plain:             "the namespace is missing",
	} {
		_, errOut, status := w.does(t, append([]string{"worker"}, strings.Fields(args)...)...)
		require.Equal(t, exitMisuse, status, args)
		require.Contains(t, errOut, want, args)
	}
	w.must(t, "context", "set", "all", "--registries", "one=prod,two=other", "--directory", "one")
	_, errOut, status := w.does(t, "worker", "--context", "all", "--config", plain)
	require.Equal(t, exitMisuse, status, errOut)
	require.Contains(t, errOut, "the context has several registries")
	w.must(t, "context", "set", "two", "--etcd", "http://e1:2379", "--namespace", "shop,bank")
	_, errOut, status = w.does(t, "worker", "--context", "two", "--config", plain)
	require.Equal(t, exitMisuse, status, errOut)
	require.Contains(t, errOut, "the context has the namespaces shop,bank: want one")
	_, errOut, status = w.does(t, "worker", "--context", "none", "--config", plain)
	require.Equal(t, exitFailed, status, errOut)
	require.Contains(t, errOut, "none")
}
