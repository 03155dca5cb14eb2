package executions

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// lookedAt are executions of which each that is looked at is counted.
type lookedAt struct {
	Rounds
	t       *testing.T
	running map[int]*Execution
	at      int
}

func (l *lookedAt) All() iter.Seq[*Execution] {
	l.t.Error("all are looked at")
	return func(func(*Execution) bool) {}
}

func (l *lookedAt) Of(item int) *Execution {
	l.at++
	return l.running[item]
}

// Of a job with many items, only those are looked at of which something has changed, or whose begin was confirmed after
// the view showed what came of it: each is held once, and again if the registry refuses that.
func TestHoldLooksAtWhatHasChanged(t *testing.T) {
	t.Parallel()
	session, control := backend.NewSession(7, time.Hour, backend.NewClock(), 0)
	defer control.Lose(registry.ErrClosed)
	under := room.NewAttachment(context.Background(), session)
	tree := jobtree.For("orders")
	v := room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: "me"}, Tree: tree, Applied: 12, Attached: under, State: jobtree.StateOf("orders", registry.NewSnapshot(12, nil)),
	}}
	running := make(map[int]*Execution)
	looks := &lookedAt{t: t, running: running}
	x := New(nil, looks)
	holds := func(looked int, items ...int) (batch room.Batch) {
		t.Helper()
		looks.at = 0
		batch = x.Hold(v)
		require.Equal(t, looked, looks.at)
		require.Len(t, batch, len(items))
		for i, item := range items {
			require.Equal(t, tree.ItemRunning(item), batch[i].Txn.Then[0].Path)
		}
		return batch
	}
	for n := range 1000 {
		running[n] = x.New(v, &Execution{Item: n, Under: under, Token: 20}, jobtree.Item{}) // which the view does not show yet
	}
	holds(1000)
	holds(0)
	v.Applied = 21
	x.Observe(jobtree.Touched{Items: []int{3}})
	batch := holds(1, 3)
	holds(0)
	require.False(t, batch[0].Refused(registry.ErrUnavailable))
	holds(1, 3)
	x.Observe(jobtree.Touched{Items: []int{1000}}) // which does not run here
	holds(1)

	x.Observe(jobtree.Touched{Items: []int{1000}}) // the view is ahead of what is confirmed
	holds(1)
	running[1000] = x.New(v, &Execution{Item: 1000, Under: under, Token: 20}, jobtree.Item{})
	holds(1, 1000)

	x.Observe(jobtree.Touched{Items: []int{5}})
	control.Suspend()
	holds(0)
	control.Renew(0)
	holds(1, 5)

	running[7].returned = true // and waits to hear how its end went
	x.Observe(jobtree.Touched{Items: []int{7}})
	holds(1)
}
