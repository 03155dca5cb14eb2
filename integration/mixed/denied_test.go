package mixed

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/serverprocess"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// A node that belongs to others takes one job away, by name, and no other.
func TestAForbiddenNode(t *testing.T) {
	t.Parallel()
	need(t)
	c := newCluster(t, "forbidden_node")
	other, err := zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: []string{c.address}, Namespace: c.namespace, SessionTimeout: sessionTimeout, ConnectionTimeout: patience, Digest: "others:secret",
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close(context.Background()) })
	var text serverprocess.Output
	s, err := scheduler.New(c.open(c.address), append(c.options(goID, c.log), scheduler.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))...)
	require.NoError(t, err)
	good := c.config(never, 1)
	good.Name = "good_job"
	nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	_, err = s.Add(t.Context(), good, nothing)
	require.NoError(t, err)
	_, err = s.Add(t.Context(), c.config(never, 1), nothing)
	require.NoError(t, err)
	_, err = other.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(c.tree.ItemDisabled(7), "")}})
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	select {
	case <-s.Ready():
	case <-time.After(patience):
		require.Fail(t, "the other job does not join")
	}
	stop()
	require.NoError(t, <-done)
	require.Contains(t, text.String(), "job is left alone")
	require.Contains(t, text.String(), c.namespace+c.tree.Sharding()+":", "the node that was made")
	_, err = c.registry.Get(t.Context(), jobtree.For(good.Name).Config())
	require.NoError(t, err)
}
