package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestFollowerKeepsEveryPicture(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("demo")
	defer func() { require.NoError(t, reg.Close(t.Context())) }()
	session, err := reg.Session(t.Context())
	require.NoError(t, err)
	tree := jobtree.For(jobName)
	commit := func(writes ...registry.Write) registry.Revision {
		revision, err := reg.Commit(t.Context(), registry.Txn{Then: writes})
		require.NoError(t, err)
		return revision
	}
	f, err := follow(t.Context(), reg)
	require.NoError(t, err)
	require.Empty(t, f.take(), "there is no job")

	a, b := "10.0.0.1@-@1", "10.0.0.1@-@2"
	config, err := jobtree.EncodeConfig(jobConfig(2, time.Second))
	require.NoError(t, err)
	commit(registry.Put(tree.Config(), config))
	joined := commit(registry.PutOwned(tree.Instance(a), jobtree.InstanceIdle, session))
	commit(registry.PutOwned(tree.Leader(), a, session),
		registry.Put(tree.ItemInstance(0), a), registry.Put(tree.ItemInstance(1), b))
	commit(registry.PutOwned(tree.ItemRunning(0), a, session))
	last := commit(registry.Delete(tree.Instance(a)))
	require.NoError(t, f.view.WaitRevision(t.Context(), last))

	<-f.moved
	empty := map[string]registry.Revision{}
	alone := map[string]registry.Revision{a: joined}
	require.Equal(t, []picture{
		{instances: empty, owners: []string{"", ""}},
		{instances: alone, owners: []string{"", ""}},
		{leader: a, instances: alone, owners: []string{a, b}},
		{leader: a, instances: empty, owners: []string{a, b}},
	}, f.take(), "a run that begins changes no picture")
	require.Empty(t, f.take())
}
