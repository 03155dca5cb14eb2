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

func nothingGrowsWithRestarts(g ground) {
	t := g.t
	const deaths, together = 50, 10
	at := place{Kind: g.kind, Addresses: g.addresses, Namespace: newNamespace(t), TTL: 2 * time.Second}
	tape := g.record()
	cfg := jobOf("orders", "* * * * * ?", 12, "10ms", "400ms")
	cfg.Failover = true

	host := join(t, at, "127.0.0.200@-@host", cfg)
	view, err := host.reg.View(t.Context(), registry.Root)
	require.NoError(t, err)
	atRest := func(s registry.Snapshot) bool {
		state := jobtree.StateOf(cfg.Name, s)
		return balanced(1)(state) && allIdle(state) && state.Leader.Instance == "127.0.0.200@-@host"
	}
	before := pathsAt(t, view, atRest)
	for first := 0; first < deaths; first += together {
		var dying sync.WaitGroup
		for n := first; n < first+together; n++ {
			guest := join(t, at, fmt.Sprintf("127.0.0.%d@-@guest", n+1), cfg)
			dying.Go(guest.vanish)
		}
		dying.Wait()
	}
	after := pathsAt(t, view, atRest)
	require.Equal(t, before, after)
	host.leave()
	tape.finish()
	require.Greater(t, len(owners(tape.states(at.Namespace))), deaths)
	require.Eventually(t, func() bool {
		alive, err := tape.sessions(at.Namespace)
		return err == nil && len(alive) == 0
	}, patience, 50*time.Millisecond, "sessions are left")
}

// pathsAt returns the paths of all nodes once the registry is as wanted, but for those of missed fires,
// which come and go.
func pathsAt(t *testing.T, view *registry.View, wanted func(registry.Snapshot) bool) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

// guest is an instance in this process.
type guest struct {
	t    *testing.T
	reg  handle
	s    *scheduler.Scheduler
	stop context.CancelFunc
	done chan error
}

// join starts an instance and returns when it takes part.
func join(t *testing.T, at place, id string, cfg job.Config) *guest {
	t.Helper()
	reg, err := at.open(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(reg.Vanish)
	s, err := scheduler.New(reg, scheduler.WithInstanceID(id))
	require.NoError(t, err)
	require.NoError(t, s.Add(t.Context(), cfg, job.SimpleFunc(spend)))
	g := &guest{t: t, reg: reg, s: s, done: make(chan error, 1)}
	var ctx context.Context
	ctx, g.stop = context.WithCancel(context.Background())
	t.Cleanup(g.stop)
	go func() { g.done <- s.Run(ctx) }()
	select {
	case <-s.Ready():
	case err := <-g.done:
		require.NoError(t, err, "Run")
	case <-time.After(patience):
		require.Fail(t, id+" does not take part")
	}
	return g
}

// vanish ends the instance as a crash would.
func (g *guest) vanish() {
	g.s.Vanish()
	g.reg.Vanish()
	if err := <-g.done; !errors.Is(err, scheduler.ErrVanished) {
		g.t.Errorf("Run: %v", err)
	}
}

// leave ends the instance gracefully.
func (g *guest) leave() {
	g.t.Helper()
	g.stop()
	require.NoError(g.t, <-g.done)
	require.NoError(g.t, g.reg.Close(context.Background()))
}
