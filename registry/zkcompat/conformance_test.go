package zkcompat_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/registrytest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	registrytest.Run(t, description())
}

// A handle that shows a view takes what transactions concern from there, and has them share multis. What ends sessions
// and handles has little to do with that, and takes long.
func TestConformanceUnderAView(t *testing.T) {
	t.Parallel()
	backend := description()
	start := backend.Start
	backend.Start = func(tb testing.TB, needs []registrytest.Ability) *registrytest.Store {
		tb.Helper()
		if !slices.Contains(needs, registrytest.Steady) || strings.Contains(tb.Name(), "/Closing/") {
			tb.Skip("TestConformance runs what ends sessions and handles")
		}
		s := start(tb, needs)
		s.Open, s.OpenSteady = viewing(s.Open), viewing(s.OpenSteady)
		return s
	}
	registrytest.Run(t, backend)
}

// viewing has handles show all of their namespace. It is there before: the transaction that makes it goes by itself, and views
// show its parents a moment later, so that what a case sends right after would not share multis either.
func viewing(open func(testing.TB, string) *registrytest.Participant) func(testing.TB, string) *registrytest.Participant {
	return func(tb testing.TB, namespace string) *registrytest.Participant {
		tb.Helper()
		p := open(tb, namespace)
		for _, w := range []registry.Write{registry.Put("/first", ""), registry.Delete("/first")} {
			_, err := p.Commit(tb.Context(), registry.Txn{Then: []registry.Write{w}, Repeat: registry.RepeatHarmless})
			require.NoError(tb, err)
		}
		_, err := p.View(tb.Context(), registry.Root)
		require.NoError(tb, err)
		return p
	}
}

// Handles are connected to different servers of three, each of which may lag behind the one through which another handle wrote.
// Faults are the same on one server, and large trees take long.
func TestConformanceOnAnEnsemble(t *testing.T) {
	t.Parallel()
	zookeeper.Need(t)
	servers := zookeeper.StartEnsemble(t, 3)
	backend := description()
	var opened atomic.Int64
	backend.Start = func(tb testing.TB, needs []registrytest.Ability) *registrytest.Store {
		tb.Helper()
		if !slices.Equal(needs, []registrytest.Ability{registrytest.Steady}) || strings.Contains(tb.Name(), "/Size/") {
			tb.Skip("TestConformance runs this")
		}
		s := store(tb, servers[0], needs)
		s.Open = func(tb testing.TB, namespace string) *registrytest.Participant {
			tb.Helper()
			server := servers[int(opened.Add(1))%len(servers)]
			return participant(tb, server, namespace, needs, steadyTTL)
		}
		s.OpenSteady = s.Open
		return s
	}
	registrytest.Run(t, backend)
}
