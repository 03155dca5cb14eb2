package scheduler_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
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
				require.NoError(t, a.ended())
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
				require.NoError(t, a.ended())
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
			require.NoError(t, a.ended())
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
				require.Equal(t, name == "deaf", a.ended() != nil)
				require.NoError(t, session.Err())
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// cutsAtLeave is a registry that is cut off when instance a asks it to take part no more, twice.
type cutsAtLeave struct {
	registry.Registry
	reg  *memory.Registry
	cuts atomic.Int32
}

func (c *cutsAtLeave) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if slices.ContainsFunc(txn.Then, func(w registry.Write) bool {
		return w.Kind == registry.WriteDelete && w.Path == jobtree.For("orders").Instance(fullID("a"))
	}) && c.cuts.Add(1) <= 2 {
		c.reg.Cut()
	}
	return c.Registry.Commit(ctx, txn)
}

// The session is lost while a job is being left, and its lease is taken up again with the nodes: no
// instance stays behind that nobody runs.
func TestALostSessionWhileAJobIsLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("orders", "index", 2))
		reg := c.server.Open("test")
		_, stop := c.serveOver(&cutsAtLeave{Registry: reg, reg: reg}, c.record("a", nil))
		c.serveJobs("b", nil, "send")
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{fullID("a")}, c.members())
		c.store(ofClass("orders", "send", 2))
		synctest.Wait()
		session, err := reg.Session(t.Context())
		require.NoError(t, err)
		<-session.Done()
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		reg.Heal()
		sleepUntil(time.Minute)
		reg.Heal() // the second try was cut off, too
		sleepUntil(3 * time.Minute)
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners())
		require.NoError(t, stop())
		require.NoError(t, reg.Close(context.Background()))
	})
}
