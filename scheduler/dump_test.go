package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler"
)

// A dump tells of a job that pauses, and why, as long as it does.
func TestADumpTellsOfAPause(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(2))
		paused := func() string {
			d, err := ordersOf(t, a).Dump(t.Context())
			require.NoError(t, err)
			return d.Paused
		}
		require.Empty(t, paused())
		put(t, c.server, "/orders/config", edited(t, `"jobParameter":""`, `"jobParameter":["hunter2"]`))
		sleepUntil(time.Second)
		require.Contains(t, paused(), "jobParameter is")
		require.NotContains(t, paused(), "hunter2")
		require.Equal(t, a.Health(t.Context()).Jobs[0].Config, paused())
		c.change(jobOf(2))
		sleepUntil(2 * time.Second)
		require.Empty(t, paused())
	})
}

// A dump sets what this process sees beside what the registry has.
func TestDump(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(2))
		sleepUntil(6 * time.Second)
		d, err := ordersOf(t, a).Dump(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, d.Nodes)
		for _, n := range d.Nodes {
			require.True(t, n.Agrees(), n.Path)
		}
		a.registry.SetLatency(300 * time.Millisecond)
		path := jobtree.For("orders").ItemDisabled(1)
		put(t, c.server, path, "")
		d, err = ordersOf(t, a).Dump(t.Context())
		require.NoError(t, err)
		require.Contains(t, d.Nodes, scheduler.DumpNode{Path: path, Seen: true}, "by the time of the answer it is seen")
		gone := ordersOf(t, a)
		require.NoError(t, gone.Leave(t.Context()))
		_, err = gone.Dump(t.Context())
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
	})
}
