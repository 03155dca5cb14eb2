package lost

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// worldOf is what an instance sees of a job whose only item was begun by an instance that is gone.
func worldOf(t *testing.T) room.View {
	t.Helper()
	cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1, Failover: true}
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	tree := jobtree.For("orders")
	record, err := jobtree.Record{}.Begin(jobtree.Begin{
		Instance: "gone", Session: 7, Round: "round", Time: time.Now(), Fire: time.Now(), Source: job.Scheduled, Failover: true,
	})
	require.NoError(t, err)
	return room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: "here", Clock: &fires.ClockCheck{Wall: time.Now}}, Tree: tree, Usable: true, Config: &cfg,
		State: jobtree.StateOf("orders", registry.NewSnapshot(9, []registry.Node{
			{Path: tree.Config(), Value: text, Created: 1, Revision: 1},
			{Path: tree.ItemRecord(0), Value: jobtree.EncodeRecord(record), Created: 5, Revision: 5},
		})),
	}}
}

func nothing(int) registry.Revision { return 0 }

// ports note when the room asks to be woken.
type ports struct {
	room.Ports
	life  context.Context
	wakes []time.Duration
}

func (p *ports) Life() context.Context { return p.life }
func (p *ports) Wake(in time.Duration) { p.wakes = append(p.wakes, in) }
func (p *ports) Log() *slog.Logger     { return slog.New(slog.DiscardHandler) }

// What was running when its instance was lost is declared lost: at once as a rule, and a third of a TTL later by a
// process that has lost its own session.
func TestWhenAnExecutionIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &ports{life: t.Context()}
		x := Executions{Ports: p}
		v := worldOf(t)
		require.Empty(t, x.Decide(v, nothing), "nothing was noted")
		x.Observe(jobtree.Touched{Instances: true})
		batch := x.Decide(v, nothing)
		require.Len(t, batch, 1)
		require.Contains(t, batch[0].Txn.If, registry.Unchanged(v.Tree.ItemRecord(0), 5))
		require.True(t, slices.ContainsFunc(batch[0].Txn.Then, func(w registry.Write) bool { return w.Path == v.Tree.ItemRecord(0) }))
		require.Empty(t, x.Decide(v, nothing), "it was looked at")

		x.LookAgain(0)
		require.Empty(t, x.Decide(v, func(int) registry.Revision { return 5 }), "its code has not returned to this process")

		x.SessionLost()
		x.Joined(6 * time.Second)
		x.LookAgain(0)
		require.Empty(t, x.Decide(v, nothing), "the others may come back, too")
		require.Equal(t, []time.Duration{2 * time.Second}, p.wakes)
		time.Sleep(2 * time.Second)
		require.Len(t, x.Decide(v, nothing), 1)
	})
}
