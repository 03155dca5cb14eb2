package scheduler_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// state returns what the registry says of the job "orders" when all that happens at this moment has
// happened.
func (c *cluster) state() *jobtree.State {
	c.t.Helper()
	synctest.Wait()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	nodes, revision, err := reg.List(c.t.Context(), "/orders")
	require.NoError(c.t, err)
	return jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
}

// owners returns how many items each instance owns, by its short name.
func (c *cluster) owners() map[string]int {
	c.t.Helper()
	owners := make(map[string]int)
	s := c.state()
	for n := range s.Total() {
		owners[s.Owner(n)]++
	}
	return owners
}

// crash ends an instance without a word: its session is left to run out, as after SIGKILL.
func (i *instance) crash(t *testing.T) {
	t.Helper()
	i.Vanish() // before its registry does: else Run may end because that is closed
	i.registry.Vanish()
	require.ErrorIs(t, i.ended(), scheduler.ErrVanished)
	synctest.Wait() // what it ran returns now that its context was cancelled, and Run does not wait for that
}

// Who waits for the former session of its id, and hears late that it has ended, takes it for no process of
// the same id.
func TestNewsOfAFormerSessionThatComeLate(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(3 * time.Second)
		a.crash(t)
		late := memory.WithDelays(func(m memory.Message) time.Duration {
			if m.Kind == memory.Event {
				return time.Minute
			}
			return 0
		})
		again := c.launchOver(c.server.Open("test", late), "a", nil, jobOf(1))
		select {
		case <-again.Ready():
		case err := <-again.done:
			again.done <- nil
			require.NoError(t, err)
		}
		require.Less(t, time.Since(bubbleStart), 3*time.Minute)
	})
}

func TestItemsMoveWhenAnInstanceJoins(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(6))
		sleepUntil(time.Second)
		require.Equal(t, map[string]int{fullID("a"): 6}, c.owners())
		c.start("b", nil, jobOf(6))
		sleepUntil(1100 * time.Millisecond)
		require.Equal(t, map[string]int{fullID("a"): 3, fullID("b"): 3}, c.owners())
	})
}

func TestItemsMoveAtOnceWhenAnInstanceStops(t *testing.T) {
	t.Parallel()
	for _, stopped := range []string{"a", "b"} { // a leads
		t.Run(stopped, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				instances := map[string]*instance{"a": c.start("a", nil, jobOf(6)), "b": c.start("b", nil, jobOf(6))}
				c.start("c", nil, jobOf(6))
				sleepUntil(2 * time.Second)
				instances[stopped].stop(t)
				time.Sleep(200 * time.Millisecond)
				owners := c.owners()
				require.NotContains(t, owners, fullID(stopped))
				require.Len(t, owners, 2)
				require.NotEmpty(t, c.state().Leader.Instance)
			})
		})
	}
}

func TestItemsMoveWhenAnInstanceDies(t *testing.T) {
	t.Parallel()
	for _, dead := range []string{"a", "b"} { // a leads
		t.Run(dead, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				instances := map[string]*instance{"a": c.start("a", nil, jobOf(6)), "b": c.start("b", nil, jobOf(6))}
				c.start("c", nil, jobOf(6))
				sleepUntil(2 * time.Second)
				instances[dead].crash(t)
				time.Sleep(6 * time.Second) // a TTL of 5 s and half a second are promised
				owners := c.owners()
				require.NotContains(t, owners, fullID(dead))
				require.Len(t, owners, 2)
			})
		})
	}
}

// A long run stays where it is while its item moves, and delays nobody.
func TestOwnershipMovesWhileARunGoesOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		long := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 0 && sc.Fire.Equal(bubbleStart.Add(5*time.Second)) {
				time.Sleep(22 * time.Second)
			}
			return nil
		}
		c.start("a", long, jobOf(4))
		sleepUntil(6 * time.Second)
		c.start("b", nil, jobOf(4))
		sleepUntil(7 * time.Second)
		require.Equal(t, fullID("b"), c.state().Owner(0))
		require.Equal(t, fullID("a"), c.state().Item(0).Running.Value)
		sleepUntil(26 * time.Second)
		c.take()
		sleepUntil(29 * time.Second)
		var got []string
		for _, r := range c.take() {
			got = append(got, r.String())
		}
		require.Equal(t, []string{
			"item 0 fire 5s scheduled on a",
			"item 0 fire 25s misfire on b",
		}, got)
	})
}

func TestNothingOfAnInstanceIsLeftAfterAStop(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(2)).stop(t)
		s := c.state()
		require.Empty(t, s.Instances)
		require.Empty(t, s.Servers)
		require.Zero(t, s.Leader)
		for n := range 2 {
			require.False(t, s.Item(n).Running.Exists())
		}
	})
}

func TestAStopWaitsForRunningItems(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Second); return nil }
		a := c.start("a", slow, jobOf(2))
		c.start("b", slow, jobOf(2))
		sleepUntil(6 * time.Second)
		a.stop(t)
		require.Equal(t, 15*time.Second, time.Since(bubbleStart).Truncate(time.Second))
		runs := c.take()
		for _, r := range runs {
			require.NoError(t, r.cause)
		}
		sleepUntil(16 * time.Second) // b may have begun what came from a before its own item ended, and gathers ends
		for n := range 2 {
			counts := c.state().Item(n).Record.Value.Counts
			require.Equal(t, jobtree.Counts{Success: 1}, counts, "item %d", n)
		}
	})
}

// After a registry outage longer than the session, the instance registers anew and goes on.
func TestALostSessionIsReplaced(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var causes []error
		work := func(ctx context.Context, sc job.ShardingContext) error {
			select {
			case <-ctx.Done():
				causes = append(causes, context.Cause(ctx))
				return ctx.Err()
			case <-time.After(20 * time.Second):
				return nil
			}
		}
		a := c.start("a", work, jobOf(1))
		sleepUntil(6 * time.Second)
		a.registry.Cut()
		sleepUntil(12 * time.Second)
		require.Len(t, causes, 1)
		require.ErrorIs(t, causes[0], registry.ErrSessionLost)
		sleepUntil(13 * time.Second)
		a.registry.Heal()
		sleepUntil(16 * time.Second)
		require.True(t, c.state().Item(0).Running.Exists(), "the fire of second 15 runs")
		synctest.Wait()
	})
}
