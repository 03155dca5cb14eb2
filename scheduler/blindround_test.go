package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Who cannot see whether the started hook has run goes by the time alone: items wait as long as they may, and then run.
func TestWhatWaitsForTheStartedHookWithoutAView(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.started = 3 * time.Second
		g.work = func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				time.Sleep(8 * time.Second)
			}
			return nil
		}
		a := g.join("a", jobOf(2))
		sleepUntil(11 * time.Second)
		g.read()
		a.registry.Deny("/orders", false) // item 0 waits for item 1, which still runs for the fire of second 5
		sleepUntil(12900 * time.Millisecond)
		require.NotContains(t, g.read(), "item 0 begins")
		sleepUntil(13100 * time.Millisecond)
		require.Contains(t, g.read(), "item 0 begins")
		sleepUntil(20 * time.Second)
		require.Equal(t, jobtree.Success, c.state().Item(0).Record.Value.Current.Outcome)
		a.registry.Allow()
	})
}

// When others are to get the items of an instance without a view, they get those that wait for a hook, too.
func TestWhatWaitsForTheStartedHookGoesToOthersWithoutAView(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.started, g.ended = 50*time.Second, 55*time.Second
		mine, first := 0, true
		g.work = func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item != mine && first {
				first = false
				time.Sleep(70 * time.Second)
			}
			return nil
		}
		a := g.join("a", minutely(2))
		g.join("b", minutely(2))
		sleepUntil(4 * time.Second)
		for c.state().Owner(mine) != fullID("a") {
			mine++
		}
		sleepUntil(66 * time.Second)
		require.True(t, c.state().Item(mine).Running.Exists(), "it waits for the other one's")
		g.read()
		a.registry.Deny("/orders", false)
		sleepUntil(74 * time.Second)
		require.Equal(t, map[string]int{fullID("b"): 2}, c.ownersOf("orders"))
		require.Equal(t, fullID("b"), c.state().Item(mine).Running.Value)
		sleepUntil(80 * time.Second)
		lines := g.read()
		require.Len(t, linesWith(lines, "started 1m5s on"), 1, "%q", lines)
		require.Len(t, linesWith(lines, "item"), 2, "%q", lines)
		a.registry.Allow()
	})
}

// The outcome of a hook that runs while its instance cannot see the job is recorded: who leaves need not wait for more than the
// hook and the code that waited for it.
func TestAHookThatEndsWithoutAView(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, a *instance){
		"leave": func(t *testing.T, a *instance) { require.NoError(t, ordersOf(t, a).Leave(t.Context())) },
		"stop":  func(t *testing.T, a *instance) { a.stop(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				g := withHooks(c)
				g.hook = func(_ context.Context, phase string) error {
					if phase == "started" {
						time.Sleep(4 * time.Second)
					}
					return nil
				}
				a := g.join("a", minutely(2))
				session := a.Health(t.Context()).Session.ID
				sleepUntil(6 * time.Second)
				a.registry.Deny("/orders", false)
				sleepUntil(7 * time.Second)
				gone := make(chan struct{})
				go func() { leave(t, a); close(gone) }()
				select {
				case <-gone:
				case <-time.After(4 * time.Second):
					require.Fail(t, "it waits")
				}
				synctest.Wait()
				s := c.state()
				require.Empty(t, s.Instances)
				require.False(t, s.Barrier(jobtree.PhaseStarted).Hook.Exists())
				require.Equal(t, jobtree.BarrierSuccess, s.Barrier(jobtree.PhaseStarted).Round.Value.Outcome)
				require.Len(t, linesWith(g.read(), "item"), 2, "the hook has run")
				require.Equal(t, session, a.Health(t.Context()).Session.ID, "other jobs were not interrupted")
				a.registry.Allow()
			})
		})
	}
}
