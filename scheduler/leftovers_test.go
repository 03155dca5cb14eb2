package scheduler_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// Hundreds of starts and deaths leave the tree with the nodes that it began with.
func TestHundredsOfStartsAndDeathsLeaveNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("keeper", nil, jobOf(3))
		sleepUntil(6 * time.Second)
		before := nodesOf(t, c)
		for n := range 200 {
			i := c.launch(fmt.Sprintf("%d", n), nil, jobOf(3))
			<-i.Ready()
			if n%2 == 0 {
				i.crash(t)
			} else {
				i.stop(t)
			}
		}
		time.Sleep(20 * time.Second)
		require.Equal(t, before, nodesOf(t, c))
	})
}

// Nor do leaves of a disabled job, which nobody leads, and so nobody tidies.
func TestLeavesOfADisabledJobLeaveNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(2)
		cfg.Failover, cfg.FailoverScope, cfg.Disabled = true, job.FailoverAssigned, true
		c.start("keeper", nil, cfg)
		sleepUntil(6 * time.Second)
		before := nodesOf(t, c)
		for n := range 5 {
			i := c.launch(fmt.Sprintf("%d", n), nil, cfg)
			<-i.Ready()
			i.stop(t)
		}
		require.Equal(t, before, nodesOf(t, c))
	})
}

// nodesOf lists the paths of the job's nodes, but for marks of what runs just now.
func nodesOf(t *testing.T, c *cluster) []string {
	t.Helper()
	paths := slices.Sorted(maps.Keys(stored(t, c.server)))
	return slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/running") })
}

// A leader removes what stands in the tree for no reason, at intervals.
func TestALeaderRemovesWhatIsLeftOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(2))
		sleepUntil(6 * time.Second)
		before := nodesOf(t, c)
		put(t, c.server, "/orders/instances/"+fullID("ghost"), "")
		put(t, c.server, "/orders/servers/10.9.9.9", "")
		put(t, c.server, "/orders/leader/failover/items/1", "")
		sleepUntil(11 * time.Minute)
		require.Equal(t, before, nodesOf(t, c))
		require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
	})
}

// removing is a registry that notes in which turns records are deleted, and how many at a time.
type removing struct {
	*memory.Registry
	mu    sync.Mutex
	sizes []int
	turns map[registry.Turn]bool // but for their ends
}

func (r *removing) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	r.mu.Lock()
	if name, _ := jobtree.Parse(txns[0].Then[0].Path); name.Kind == jobtree.KindItemRecord && txns[0].Then[0].Kind == registry.WriteDelete {
		r.sizes = append(r.sizes, len(txns))
		for _, txn := range txns {
			turn := txn.Turn
			if time.Until(turn.Until) > time.Second {
				turn.Share = "for long"
			}
			turn.Until = time.Time{}
			r.turns[turn] = true
		}
	}
	r.mu.Unlock()
	return r.Registry.CommitAll(ctx, txns)
}

// What is left of a job that had many more items a leader removes bit by bit, where nothing else waits: neither the job nor the
// others of the process stand meanwhile. It is told of as often.
func TestALeaderRemovesMuchBitByBit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &removing{Registry: c.server.Open("test", memory.WithTTL(time.Minute)), turns: make(map[registry.Turn]bool)}
		log := new(bytes.Buffer)
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(2), c.record("a", nil))))
		i := c.run(s, reg.Registry)
		<-s.Ready()
		sleepUntil(6 * time.Second)
		before := nodesOf(t, c)
		for item := range 2500 {
			put(t, c.server, jobtree.For("orders").ItemRecord(2+item), `{"state":"idle"}`)
		}
		sleepUntil(11 * time.Minute)
		require.Equal(t, before, nodesOf(t, c))
		require.Equal(t, []int{1000, 1000, 500}, reg.sizes)
		require.Equal(t, map[registry.Turn]bool{{Rank: registry.RankLast, Share: "orders"}: true}, reg.turns)
		i.stop(t)
		require.Equal(t, 3, strings.Count(log.String(), "removed what was left over"))
		require.Contains(t, log.String(), "nodes=500")
	})
}
