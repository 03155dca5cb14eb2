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
