package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// A caller that got its session before that was over comes for the latch when another one has come with the next session. It
// is told so, and the handle forgets nothing of the session that is in force.
func TestALatchIsNotEnteredWithAFormerSession(t *testing.T) {
	t.Parallel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}})
	require.NoError(t, err)
	config, err := Config{Endpoints: client.Endpoints(), Namespace: "ns"}.withDefaults()
	require.NoError(t, err)
	r := newRegistry(client, true, newMembers(func() int { return 1 }, config), config)
	defer func() { require.NoError(t, r.Close(context.WithoutCancel(t.Context()))) }()
	former, lostFormer := backend.NewSession(1, time.Hour, backend.NewClock(), 0)
	inForce, losesInForce := backend.NewSession(2, time.Hour, backend.NewClock(), 0)
	defer losesInForce.Lose(registry.ErrClosed)

	c, err := r.latches.enter(inForce, "/latch", func() {})
	require.NoError(t, err)
	defer close(c.done)
	r.latches.sweeper.noteUncertain(inForce.ID(), r.ns.key("/latch/2"))
	elections := r.latches.elections
	lostFormer.Lose(registry.ErrSessionLost)
	_, err = r.latches.enter(former, "/other", func() {})
	require.ErrorIs(t, err, registry.ErrSessionLost)
	require.Same(t, elections, r.latches.elections)
	require.Contains(t, r.latches.sweeper.views, "/latch/2")
}
