package scheduler_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
)

// A scheduler stops while the registry does not answer, and its handle stays open. Nobody else can take back
// what it holds under the session, so it goes with that.
func TestNothingRemainsOfAStopWithoutARegistry(t *testing.T) {
	t.Parallel()
	const long = 10 * time.Minute
	ghosts := func(c *cluster) []string {
		return append(c.nodes("/orders/instances"), append(c.nodes("/orders/leader/election/instance"), c.nodes("/orders/sharding/0/running")...)...)
	}
	for name, work := range map[string]job.HandlerFunc{"idle": nil, "running": took(8 * time.Second)} {
		t.Run("lost session, "+name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", work, jobOf(1))
				sleepUntil(6 * time.Second)
				c.server.Stop()
				sleepUntil(20 * time.Second)
				a.cancel()
				require.NoError(t, <-a.done)
				a.done <- nil
				c.server.Start() // it gives every session its full time again
				require.NotEmpty(t, ghosts(c))
				time.Sleep(time.Minute)
				require.Empty(t, ghosts(c))
			})
		})
		t.Run("long session, "+name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.launchOver(c.server.Open("test", memory.WithTTL(long)), "a", work, jobOf(1))
				<-a.Ready()
				sleepUntil(6 * time.Second)
				a.registry.Cut()
				a.cancel()
				require.NoError(t, <-a.done)
				a.done <- nil
				a.registry.Heal()
				require.NotEmpty(t, ghosts(c))
				time.Sleep(long + time.Minute)
				require.Empty(t, ghosts(c))
			})
		})
	}
	t.Run("join", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, c *cluster) {
			c.change(jobOf(1))
			reg := c.server.Open("test", memory.WithTTL(long))
			reg.HoldBack(math.MaxInt, 30*time.Second)
			a := c.launchOver(reg, "a", nil, jobOf(1))
			sleepUntil(time.Second)
			a.cancel()
			require.NoError(t, <-a.done)
			a.done <- nil
			require.Empty(t, ghosts(c))
			sleepUntil(32 * time.Second)
			require.NotEmpty(t, ghosts(c), "the join was carried out late")
			time.Sleep(long + time.Minute)
			require.Empty(t, ghosts(c))
		})
	})
}

// A stop that could say all leaves the session to whoever else uses the handle, though code did not return.
func TestAStopKeepsTheSession(t *testing.T) {
	t.Parallel()
	deaf := func(context.Context, job.ShardingContext) error { time.Sleep(time.Hour); return nil }
	for name, work := range map[string]job.HandlerFunc{"idle": nil, "running": took(8 * time.Second), "deaf": deaf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", work, jobOf(3))
				session, err := a.registry.Session(t.Context())
				require.NoError(t, err)
				sleepUntil(6 * time.Second)
				a.cancel()
				require.Equal(t, name == "deaf", <-a.done != nil)
				a.done <- nil
				require.NoError(t, session.Err())
				time.Sleep(2 * time.Hour)
			})
		})
	}
}
