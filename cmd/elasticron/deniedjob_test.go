package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
)

// keepsOneJob is a registry in which the job mail belongs to somebody else, as it may on ZooKeeper.
type keepsOneJob struct{ *memory.Registry }

func (k keepsOneJob) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if registry.Within("/mail", path) || registry.Within(path, "/mail") {
		return nil, 0, fmt.Errorf("%w: /mail", registry.ErrDenied)
	}
	return k.Registry.List(ctx, path)
}

// A job that somebody may not read keeps him from no other that he names.
func TestAJobOfSomebodyElseIsInNobodysWay(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	require.NoError(t, os.WriteFile(file, []byte(w.must(t, on("export", "orders")...)), 0o600))
	w.etcd = func(_ context.Context, c etcd.Config) (registry.Registry, error) {
		return keepsOneJob{w.etcdServer.Open(c.Namespace)}, nil
	}
	for _, args := range [][]string{
		{"get", "items", "orders"}, {"get", "jobs", "orders"}, {"export", "orders"}, {"diff", "-f", file}, {"apply", "-f", file, "--yes"},
	} {
		_, errOut, status := w.does(t, on(args...)...)
		require.Zero(t, status, "%v: %s", args, errOut)
	}
	for _, args := range [][]string{{"get", "items", "mail"}, {"get", "jobs"}, {"export", "mail"}, {"export"}} {
		_, errOut, status := w.does(t, on(args...)...)
		require.Equal(t, exitRefused, status, "%v", args)
		require.Contains(t, errOut, "/mail", "%v", args)
	}
}
