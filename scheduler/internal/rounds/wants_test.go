package rounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// An item whose begin by hand is being taken back still wants the request, whatever its record says
// for the moment.
func TestWhatIsTakenBackWantsItsTrigger(t *testing.T) {
	t.Parallel()
	record := jobtree.Record{State: jobtree.ItemIdle, Trigger: 7}
	r, v := &Rounds{claiming: noItem, items: make(map[int]*item)}, room.View{Facts: &room.Facts{Applied: 9, State: jobtree.StateOf("orders", registry.NewSnapshot(9, []registry.Node{
		{Path: jobtree.For("orders").ItemRecord(0), Value: jobtree.EncodeRecord(record), Created: 5, Revision: 9},
	}))}}
	require.False(t, r.Wants(v, 0, 7), "it ran")
	r.items[0] = &item{running: &executions.Execution{Undo: true}}
	require.True(t, r.Wants(v, 0, 7), "its begin is being taken back")
	r.items[0] = &item{wrote: 10}
	require.True(t, r.Wants(v, 0, 7), "its end is not shown yet")
	r.items[0] = &item{running: &executions.Execution{}, wrote: 9}
	require.False(t, r.Wants(v, 0, 7), "it runs")
}

// Whether an item whose record cannot be read has run for a request, nobody knows, but for one that runs since before
// the request: its record can be read once its end is recorded, and it runs for the request then.
func TestWhatRunsWithoutARecordWantsALaterRequest(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	record := registry.Node{Path: tree.ItemRecord(0), Value: "no record", Created: 5, Revision: 9}
	wants := func(request registry.Revision, nodes ...registry.Node) bool {
		v := room.View{Facts: &room.Facts{Applied: 9, State: jobtree.StateOf("orders", registry.NewSnapshot(9, nodes))}}
		return (&Rounds{claiming: noItem}).Wants(v, 0, request)
	}
	mark := registry.Node{Path: tree.ItemRunning(0), Value: "10.0.0.1@-@1", Created: 7, Revision: 7, Session: 3}
	require.False(t, wants(8, record), "nothing runs")
	require.True(t, wants(8, record, mark), "it runs since before the request")
	require.False(t, wants(6, record, mark), "it may run for the request")
}
