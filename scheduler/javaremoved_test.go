package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// A job that is shared with Java and removed takes the nodes of its instances with it. They are not shut down by that: they go
// on when it is stored again, whatever goes first.
func TestAJobBesideJavaIsRemovedAndComesBack(t *testing.T) {
	t.Parallel()
	type side struct {
		start func(*cluster) *instance
		store func(*cluster)
	}
	shared, three := sharedJob(1), failingOver(1)
	sides := map[string]side{
		"2.1.5": {
			func(c *cluster) *instance { return c.startShared("a", nil, shared) },
			func(c *cluster) { c.java().store(shared) },
		},
		"3.x": {
			func(c *cluster) *instance { return c.startBeside3("a", nil, three) },
			func(c *cluster) { c.elasticJob3(javaID).store(three) },
		},
	}
	removals := map[string]func(*cluster){
		"all at once": func(*cluster) {},
		"the instance first": func(c *cluster) {
			c.java().do(registry.Delete(orders.Instance(fullID("a"))))
			time.Sleep(500 * time.Millisecond)
		},
		"the configuration first": func(c *cluster) {
			c.java().do(registry.Delete(orders.Config()))
			time.Sleep(5 * time.Second)
		},
	}
	pauses := map[string]time.Duration{"it is back at once": 0, "it is back soon": 100 * time.Millisecond, "it is back later": 20 * time.Second}
	for layout, side := range sides {
		for removal, begin := range removals {
			for again, pause := range pauses {
				t.Run(layout+", "+removal+", "+again, func(t *testing.T) {
					t.Parallel()
					inBubble(t, func(t *testing.T, c *cluster) {
						a := side.start(c)
						sleepUntil(26 * time.Second)
						require.Len(t, c.take(), 5)
						begin(c)
						c.removeJob("orders")
						time.Sleep(pause)
						side.store(c)
						time.Sleep(10 * time.Second)
						c.take()
						time.Sleep(20 * time.Second)
						require.Len(t, c.take(), 4)
						_, j := a.look(t)
						require.False(t, j.ShutDown)
						require.True(t, j.Joined)

						c.java().do(registry.Delete(orders.Instance(fullID("a")))) // as the console shuts it down
						time.Sleep(5 * time.Second)
						c.take()
						time.Sleep(20 * time.Second)
						require.Empty(t, c.take())
						_, j = a.look(t)
						require.True(t, j.ShutDown)
						a.stop(t)
					})
				})
			}
		}
	}
}

// A job that is removed and stored again while the process cannot see it has no good cron of the former one.
func TestAnotherJobHasNoFormerCron(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startShared("a", nil, sharedJob(1))
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 1)
		a.registry.Deny("/orders", false)
		bad := sharedJob(1)
		bad.Cron = "every now and then"
		j := c.java()
		j.do(registry.Delete(orders.Config()))
		j.store(bad)
		a.registry.Allow()
		sleepUntil(26 * time.Second)
		_, health := a.look(t)
		require.Empty(t, health.Blind)
		require.Empty(t, c.take())
	})
}
