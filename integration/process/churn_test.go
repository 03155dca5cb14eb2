//go:build linux

package process_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// TestNothingGrowsWithRestarts has many instances join a job and die at once, which real processes
// would be too slow for: these are handles of their own in this process, over a real store. Nothing that
// belongs to one of them may stay.
func TestNothingGrowsWithRestarts(t *testing.T) {
	t.Parallel()
	onBoth(t, nothingGrowsWithRestarts)
}

func nothingGrowsWithRestarts(env environment) {
	t := env.t
	const deaths, together = 50, 10
	at := registryConfig{Kind: env.kind, Addresses: env.addresses, Namespace: newNamespace(t), TTL: 2 * time.Second}
	rec := env.record()
	cfg := jobOf("orders", "0/2 * * * * ?", 12, "10ms", "400ms")
	cfg.Failover = true

	survivor := startLocal(t, at, "127.0.0.200@-@host", cfg)
	view, err := survivor.reg.View(t.Context(), registry.Root)
	require.NoError(t, err)
	atRest := func(s registry.Snapshot) bool {
		state := jobtree.StateOf(cfg.Name, s)
		return balanced(1)(state) && allIdle(state) && state.Leader.Instance == "127.0.0.200@-@host"
	}
	before := pathsAt(t, view, atRest)
	for first := 0; first < deaths; first += together {
		var dying sync.WaitGroup
		for n := first; n < first+together; n++ {
			crashing := startLocal(t, at, fmt.Sprintf("127.0.0.%d@-@guest", n+1), cfg)
			dying.Go(crashing.vanish)
		}
		dying.Wait()
	}
	after := pathsAt(t, view, atRest)
	require.Equal(t, before, after)
	survivor.leave()
	rec.finish()
	require.Greater(t, len(owners(rec.states(at.Namespace))), deaths)
	require.Eventually(t, func() bool {
		alive, err := rec.sessions(at.Namespace)
		return err == nil && len(alive) == 0
	}, waitTimeout, 50*time.Millisecond, "sessions are left")
}

// pathsAt returns the paths of all nodes once the registry is as wanted, but for those of missed fires,
// which come and go.
func pathsAt(t *testing.T, view *registry.View, wanted func(registry.Snapshot) bool) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	s, err := view.WaitFor(ctx, wanted)
	require.NoError(t, err)
	paths := make(map[string]bool)
	for n := range s.All() {
		if name, ok := jobtree.Parse(n.Path); !ok || name.Kind != jobtree.KindItemMisfire {
			paths[n.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// localInstance is an instance in this process.
type localInstance struct {
	t    *testing.T
	reg  registryHandle
	s    *scheduler.Scheduler
	stop context.CancelFunc
	done chan error
}

// startLocal starts an instance and returns when it takes part.
func startLocal(t *testing.T, at registryConfig, id string, cfg job.Config) *localInstance {
	t.Helper()
	reg, err := at.open(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(reg.Vanish)
	s, err := scheduler.New(reg, scheduler.WithInstanceID(id))
	require.NoError(t, err)
	_, err = s.Add(t.Context(), cfg, job.HandlerFunc(spend))
	require.NoError(t, err)
	in := &localInstance{t: t, reg: reg, s: s, done: make(chan error, 1)}
	var ctx context.Context
	ctx, in.stop = context.WithCancel(context.Background())
	t.Cleanup(in.stop)
	go func() { in.done <- s.Run(ctx) }()
	select {
	case <-s.Ready():
	case err := <-in.done:
		require.NoError(t, err, "Run")
	case <-time.After(waitTimeout):
		require.Fail(t, id+" does not take part")
	}
	return in
}

// vanish ends the instance as a crash would.
func (in *localInstance) vanish() {
	in.s.Vanish()
	in.reg.Vanish()
	if err := <-in.done; !errors.Is(err, scheduler.ErrVanished) {
		in.t.Errorf("Run: %v", err)
	}
}

// leave ends the instance gracefully.
func (in *localInstance) leave() {
	in.t.Helper()
	in.stop()
	require.NoError(in.t, <-in.done)
	// On a busy machine the store may not hear of it: then the session goes by itself.
	if err := in.reg.Close(context.Background()); !errors.Is(err, registry.ErrUnavailable) {
		require.NoError(in.t, err)
	}
}
