package failover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// afterACrash is a tree of scope "assigned" in which lost was idle when it crashed.
func afterACrash(tb testing.TB) []registry.Node {
	tb.Helper()
	return []registry.Node{
		configNode(tb, nil),
		node(tree.Epoch(), `{"term":2,"counter":1,"total":4}`, 4),
		owned(tree.Instance(survivor), "", 9, 2),
		node(tree.ItemInstance(item), lost, 12),
		recordNode(idle(tb)),
	}
}

func TestCrashed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		different []registry.Node
		want      bool
	}{
		"the owner is gone":        {nil, true},
		"it was given up":          {[]registry.Node{recordNode(interrupted(t))}, true},
		"another one left":         {[]registry.Node{node(tree.FailoverLeft("10.0.0.3@-@1"), "", 14)}, true},
		"failover is off":          {[]registry.Node{configNode(t, func(c *job.Config) { c.Failover = false })}, false},
		"nothing is recorded":      {[]registry.Node{configNode(t, func(c *job.Config) { c.Unmonitored = true })}, false},
		"the scope is the default": {[]registry.Node{configNode(t, func(c *job.Config) { c.FailoverScope = "" })}, false},
		"the scope is running": {
			[]registry.Node{configNode(t, func(c *job.Config) { c.FailoverScope = job.FailoverRunning })}, false,
		},
		"there is no configuration":   {[]registry.Node{absent(tree.Config())}, false},
		"the owner lives":             {[]registry.Node{owned(tree.Instance(lost), "", 8, 1)}, false},
		"the owner is back":           {[]registry.Node{owned(tree.Instance(lost), "", 30, 4)}, false},
		"the owner left":              {[]registry.Node{node(tree.FailoverLeft(lost), "", 14)}, false},
		"the item belongs to another": {[]registry.Node{node(tree.ItemInstance(item), survivor, 30)}, false},
		"the item belongs to nobody":  {[]registry.Node{absent(tree.ItemInstance(item))}, false},
		"the item is surplus":         {[]registry.Node{node(tree.Epoch(), `{"term":2,"counter":2,"total":2}`, 30)}, false},
		"the item is disabled":        {[]registry.Node{node(tree.ItemDisabled(item), "", 30)}, false},
		"it runs, elsewhere":          {[]registry.Node{owned(tree.ItemRunning(item), survivor, 30, 2)}, false},
		"it was running":              {[]registry.Node{recordNode(running(t, true))}, false},
		"another one ran it again":    {[]registry.Node{recordNode(rerun(t, survivor))}, false},
		"another one had run it again before it was the owner's": {
			[]registry.Node{recordNode(rerun(t, survivor)), node(tree.ItemInstance(item), lost, 1000)}, true,
		},
		"the owner had run it again":    {[]registry.Node{recordNode(rerun(t, lost))}, true},
		"it waits already":              {[]registry.Node{recordNode(waiting(t))}, false},
		"it never ran":                  {[]registry.Node{absent(tree.ItemRecord(item))}, false},
		"its record cannot be read":     {[]registry.Node{node(tree.ItemRecord(item), "{", 20)}, false},
		"the next owner is in force":    {[]registry.Node{node(tree.ItemNext(item), `{"term":2,"counter":1,"owner":"10.0.0.2@-@9"}`, 4)}, false},
		"the next owner has yet to be":  {[]registry.Node{node(tree.ItemNext(item), `{"term":2,"counter":2,"owner":"10.0.0.2@-@9"}`, 30)}, true},
		"the next owner in force is it": {[]registry.Node{node(tree.ItemInstance(item), survivor, 3), node(tree.ItemNext(item), `{"term":2,"counter":1,"owner":"10.0.0.1@-@7"}`, 4)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(afterACrash(t), test.different...)
			require.Equal(t, test.want, failover.Crashed(s, item))
			require.False(t, failover.Crashed(s, item+1), "another item")
			if test.want {
				_, err := failover.Requeue(s, item)
				require.NoError(t, err)
			}
		})
	}
}

func TestRequeue(t *testing.T) {
	t.Parallel()
	requeued, err := idle(t).Requeue()
	require.NoError(t, err)
	writes := []registry.Write{
		registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(requeued)),
		registry.Put(tree.FailoverItem(item), ""),
	}
	for name, test := range map[string]struct {
		different []registry.Node
		want      []registry.Condition
	}{
		"the owner is in instance": {nil, []registry.Condition{
			registry.Unchanged(tree.ItemInstance(item), 12),
			registry.Absent(tree.ItemNext(item)),
		}},
		"the owner is in next": {
			[]registry.Node{
				node(tree.ItemInstance(item), survivor, 12),
				node(tree.ItemNext(item), `{"term":2,"counter":1,"owner":"10.0.0.1@-@7"}`, 13),
			},
			[]registry.Condition{
				registry.Unchanged(tree.ItemInstance(item), 12),
				registry.Unchanged(tree.ItemNext(item), 13),
				registry.Unchanged(tree.Epoch(), 4),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			txn, err := failover.Requeue(stateOf(afterACrash(t), test.different...), item)
			require.NoError(t, err)
			require.Equal(t, registry.Txn{
				If: append(test.want,
					registry.Unchanged(tree.ItemRecord(item), 20),
					registry.Absent(tree.ItemRunning(item)),
					registry.Absent(tree.Instance(lost)),
					registry.Unchanged(tree.Config(), 3),
				),
				Then:   writes,
				Repeat: registry.RepeatCreation,
			}, txn)
		})
	}
}

func TestRequeueNeedsAnExecutionToRepeat(t *testing.T) {
	t.Parallel()
	for want, different := range map[error]registry.Node{
		jobtree.ErrItemRunning: recordNode(running(t, true)),
		jobtree.ErrItemWaiting: recordNode(waiting(t)),
		jobtree.ErrNeverRan:    absent(tree.ItemRecord(item)),
	} {
		txn, err := failover.Requeue(stateOf(afterACrash(t), different), item)
		require.ErrorIs(t, err, want)
		require.Zero(t, txn)
	}
}
