package migrate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// walked is a registry that lists nodes level by level, as ZooKeeper does. Something happens when those down to a depth were
// read, and before those below them are.
type walked struct {
	*memory.Registry
	depth   int
	between func()
}

func (s walked) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	first, revision, err := s.Registry.List(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	s.between()
	then, _, err := s.Registry.List(ctx, path)
	var nodes []registry.Node
	for _, n := range first {
		if strings.Count(n.Path, "/") <= s.depth {
			nodes = append(nodes, n)
		}
	}
	for _, n := range then {
		if strings.Count(n.Path, "/") > s.depth {
			nodes = append(nodes, n)
		}
	}
	return nodes, revision, err
}

// The last execution of a side ends while a mover reads that side: its checkpoint was read before that, and its mark after. The
// other side goes on from what the execution saved all the same.
func TestTheLastExecutionEndsWhileAMoverReads(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"forth": false, "back": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.has(w.source, "/orders/config", configOf(w, nil))
				way, from, to := direction(migrate.Move), w.source, w.target
				if back {
					require.True(w, w.goes(migrate.Move).Done)
					way, from, to = migrate.Return, w.target, w.source
				}
				w.has(from, "/orders/offset/0", "page 7", "/orders/sharding/0/running", "")
				ends := walked{from, 3, func() {
					if all := w.nodes(from); strings.Contains(all["/orders/config"], `"disabled":true`) {
						if _, runs := all["/orders/sharding/0/running"]; runs {
							w.write(from, registry.Put("/orders/offset/0", "page 8"), registry.Delete("/orders/sharding/0/running"))
						}
					}
				}}
				source, target := migrate.Side(ends), migrate.Side(to)
				if back {
					source, target = to, ends
				}
				report, err := way(w.Context(), source, target, applyMove)
				require.NoError(w, err)
				require.True(w, report.Complete(), report)
				require.Equal(w, "page 8", w.nodes(to)["/orders/offset/0"])
			})
		})
	}
}

// Java claims a lost execution while a mover reads, in whose list is neither that it is lost nor the claim.
func TestAClaimWhileAMoverReads(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.live()
		began, claimed, runs := time.Now(), false, true
		claims := walked{w.source, 4, func() {
			if !claimed && time.Since(began) >= 10*time.Second {
				claimed = true
				w.write(w.source, registry.Put("/orders/sharding/0/failover", javaAt), registry.Delete("/orders/leader/failover/items/0"))
				time.AfterFunc(time.Minute, func() {
					runs = false
					_, _ = w.source.Commit(context.Background(), registry.Txn{Then: []registry.Write{registry.Delete("/orders/sharding/0/failover")}})
				})
			}
		}}
		w.write(w.source, registry.Put("/orders/leader/failover/items/0", ""))
		taken := false
		target := side{Registry: w.target, before: func() error { return nil }, after: func() error {
			_, there := w.sides()
			taken = taken || there && runs
			return nil
		}}
		report, err := migrate.Move(w.Context(), latchless{claims}, target, applyMove)
		require.NoError(w, err)
		require.True(w, report.Complete(), report)
		require.True(w, claimed)
		require.False(w, taken, "the target runs the job while the source runs what it has claimed")
	})
}

// latchless holds nobody back in its latches.
type latchless struct{ walked }

func (latchless) Latch(ctx context.Context, _ string, fn func(context.Context) error) error {
	return fn(ctx)
}

// What is copied of a job whose last instance leaves while it is read is what it has left.
func TestTheLastInstanceLeavesWhileAJobIsCopied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has(w.source, "/orders/config", configOf(w, func(c *job.Config) { c.Failover = true }), "/orders/offset/0", "page 7", "/orders/sharding/0/running", "")
	source := walked{w.source, 3, func() {
		w.write(w.source, registry.Put("/orders/offset/0", "page 8"), registry.Delete("/orders/sharding/0/running"))
	}}
	report, err := migrate.Run(t.Context(), source, w.target, migrate.Options{Apply: true})
	require.NoError(t, err)
	require.True(t, report.Complete(), report)
	require.Equal(t, "page 8", w.nodes(w.target)["/orders/offset/0"])
}

// silentView is a registry that is lost between a list and a view of it, which then waits for it.
type silentView struct{ side }

func (silentView) View(ctx context.Context, _ string, _ ...func(string) bool) (*registry.View, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A registry that is lost while it is read is told to whoever reads it, as one that was lost before.
func TestARegistryIsLostWhileItIsRead(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.hasEverything()
		source, target := w.watched(nothing, nothing)
		_, err := migrate.Move(w.Context(), silentView{source}, target, applyMove)
		require.ErrorIs(w, err, registry.ErrUnavailable)
		_, err = migrate.Move(w.Context(), source, silentView{target}, applyMove)
		require.ErrorIs(w, err, registry.ErrUnavailable)
		_, err = migrate.Run(w.Context(), silentView{source}, target, apply)
		require.ErrorIs(w, err, registry.ErrUnavailable)
	})
}
