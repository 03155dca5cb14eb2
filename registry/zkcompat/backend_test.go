package zkcompat_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry/registrytest"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// testTTL leaves room for a busy machine: what is missed for so long is taken for an outage.
const testTTL = 4 * time.Second

// steadyTTL is that of sessions that no test ends.
const steadyTTL = 30 * time.Second

// description describes a store of one server to the conformance suite.
func description() registrytest.Backend {
	return registrytest.Backend{
		Start: func(tb testing.TB, needs []registrytest.Ability) *registrytest.Store {
			tb.Helper()
			if slices.Contains(needs, registrytest.Restart) {
				return store(tb, zookeeper.Start(tb), needs)
			}
			return store(tb, sharedServer(tb), needs)
		},
		Lacks: map[registrytest.Ability]string{
			registrytest.Deny:           "permissions belong to nodes: see TestNodesOfAnotherDigestAreDenied",
			registrytest.Compact:        "ZooKeeper keeps no history",
			registrytest.Full:           "ZooKeeper has no quota for the whole store",
			registrytest.ConsistentList: "ZooKeeper reads one node at a time",
			registrytest.HoldBack:       "ZooKeeper carries out a session's requests in the order in which they were sent",
			registrytest.OwnedParents:   "ZooKeeper's ephemeral nodes have no children",
			registrytest.OneRequest:     "each transaction is a multi of its own",
		},
		Idle:     2 * time.Second,
		MaxBytes: 1 << 20,
	}
}

func store(tb testing.TB, server *zookeeper.Server, needs []registrytest.Ability) *registrytest.Store {
	tb.Helper()
	return &registrytest.Store{
		TTL: ttlFor(needs),
		Open: func(tb testing.TB, namespace string) *registrytest.Participant {
			tb.Helper()
			return participant(tb, server, namespace, needs, ttlFor(needs))
		},
		OpenSteady: func(tb testing.TB, namespace string) *registrytest.Participant {
			tb.Helper()
			return participant(tb, server, namespace, needs, steadyTTL)
		},
		Restart: func(down time.Duration) {
			require.NoError(tb, server.Kill())
			time.Sleep(down)
			require.NoError(tb, server.Run(context.WithoutCancel(tb.Context())))
		},
	}
}

// participant opens a handle, behind a proxy if the case breaks connections.
func participant(tb testing.TB, server *zookeeper.Server, namespace string, needs []registrytest.Ability, ttl time.Duration) *registrytest.Participant {
	tb.Helper()
	config := configOf(server, namespace)
	config.SessionTimeout = ttl
	p := new(registrytest.Participant)
	if slices.Contains(needs, registrytest.Cut) || slices.Contains(needs, registrytest.BreakWatch) {
		wire := proxy.Start(tb, server.Address())
		config.Servers = []string{wire.Address()}
		p.Cut, p.Heal, p.BreakWatch = wire.Cut, wire.Heal, wire.Break
	}
	listener := new(tap)
	config.Dial = listener.dial
	r, err := zkcompat.Open(tb.Context(), config)
	require.NoError(tb, err)
	p.Registry = r
	p.Expire = func() { listener.expire(tb, server.Address()) }
	p.LoseAnswer = listener.loseAnswer
	p.Vanish = r.Vanish
	return p
}

// ttlFor returns the time of sessions: a long one where no session should end.
func ttlFor(needs []registrytest.Ability) time.Duration {
	if slices.Contains(needs, registrytest.Steady) {
		return steadyTTL
	}
	return testTTL
}

// configOf is what the handles of tests have in common.
func configOf(server *zookeeper.Server, namespace string) zkcompat.Config {
	return zkcompat.Config{
		Servers: server.Addresses(), Namespace: namespace, SessionTimeout: testTTL, ConnectionTimeout: time.Minute,
	}
}
