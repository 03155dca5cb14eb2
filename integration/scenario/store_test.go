package scenario_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/registrytest"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

const (
	// ttl is short, for the stories wait for sessions to end, and not so short that a busy machine loses
	// sessions that no story wants lost.
	ttl = 5 * time.Second
	// connecting is how long a machine may take to answer at all.
	connecting = time.Minute
)

// stores start a store each, of one server that is up until the test ends.
var stores = map[string]func(t *testing.T) *registrytest.Store{
	"etcd":      onEtcd,
	"zookeeper": onZooKeeper,
}

func onEtcd(t *testing.T) *registrytest.Store {
	server, err := etcdserver.Start(t.Context(), etcdserver.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return &registrytest.Store{
		TTL: ttl,
		Open: func(tb testing.TB, namespace string) *registrytest.Participant {
			tb.Helper()
			wire := proxy.Start(tb, strings.TrimPrefix(server.Endpoints()[0], "http://"))
			r, err := etcd.Open(tb.Context(), etcd.Config{
				Endpoints: []string{wire.Address()}, Namespace: namespace, SessionTTL: ttl, DialTimeout: connecting,
			})
			require.NoError(tb, err)
			return &registrytest.Participant{Registry: r, Cut: wire.Cut, Heal: wire.Heal, BreakWatch: wire.Break, Vanish: r.Vanish}
		},
		Restart: func(down time.Duration) {
			server.Kill()
			time.Sleep(down)
			require.NoError(t, server.Restart(context.WithoutCancel(t.Context())))
		},
	}
}

func onZooKeeper(t *testing.T) *registrytest.Store {
	server := zookeeper.Start(t)
	return &registrytest.Store{
		TTL: ttl,
		Open: func(tb testing.TB, namespace string) *registrytest.Participant {
			tb.Helper()
			wire := proxy.Start(tb, server.Address())
			r, err := zkcompat.Open(tb.Context(), zkcompat.Config{
				Servers: []string{wire.Address()}, Namespace: namespace, SessionTimeout: ttl, ConnectionTimeout: connecting,
			})
			require.NoError(tb, err)
			return &registrytest.Participant{Registry: r, Cut: wire.Cut, Heal: wire.Heal, BreakWatch: wire.Break, Vanish: r.Vanish}
		},
		Restart: func(down time.Duration) {
			require.NoError(t, server.Kill())
			time.Sleep(down)
			require.NoError(t, server.Run(context.WithoutCancel(t.Context())))
		},
	}
}
