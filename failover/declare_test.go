package failover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

func TestLost(t *testing.T) {
	t.Parallel()
	common := []registry.Node{
		owned(tree.Instance(survivor), "", 9, 2),
		recordNode(running(t, true)),
	}
	for name, test := range map[string]struct {
		different []registry.Node
		want      bool
	}{
		"mark and instance are gone": {nil, true},
		"without failover, too":      {[]registry.Node{recordNode(running(t, false))}, true},
		"the instance is back, under a new session": {
			[]registry.Node{owned(tree.Instance(lost), "", 30, 4)}, true,
		},
		"nobody lives":                          {[]registry.Node{absent(tree.Instance(survivor))}, true},
		"the item is surplus":                   {[]registry.Node{node(tree.Epoch(), `{"term":1,"counter":1,"total":1}`, 4)}, true},
		"the mark is there":                     {[]registry.Node{owned(tree.ItemRunning(item), lost, 20, 1)}, false},
		"the mark is there, of another session": {[]registry.Node{owned(tree.ItemRunning(item), survivor, 20, 2)}, false},
		"the instance lives under that session": {[]registry.Node{owned(tree.Instance(lost), "", 8, 1)}, false},
		"it ended":                              {[]registry.Node{recordNode(idle(t))}, false},
		"it was declared lost":                  {[]registry.Node{recordNode(waiting(t))}, false},
		"it was given up":                       {[]registry.Node{recordNode(interrupted(t))}, false},
		"the record cannot be read":             {[]registry.Node{node(tree.ItemRecord(item), `{"state":"running"}`, 20)}, false},
		"there is no record":                    {[]registry.Node{absent(tree.ItemRecord(item))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(common, test.different...)
			require.Equal(t, test.want, failover.Lost(s, item))
			require.False(t, failover.Lost(s, item+1), "another item")
		})
	}
}

func TestDeclare(t *testing.T) {
	t.Parallel()
	rerun := func(times int) jobtree.Record {
		r := waiting(t)
		for range times {
			claimed, err := r.Claim(jobtree.Claim{Instance: lost, Session: 1, Time: noon})
			require.NoError(t, err)
			r, err = claimed.DeclareLost(19, noon, 0)
			require.NoError(t, err)
		}
		claimed, err := r.Claim(jobtree.Claim{Instance: lost, Session: 1, Time: noon})
		require.NoError(t, err)
		return claimed
	}
	for name, test := range map[string]struct {
		record jobtree.Record
		limit  int
		want   jobtree.ItemState
	}{
		"failover was on":        {running(t, true), 3, jobtree.ItemWaiting},
		"failover was off":       {running(t, false), 3, jobtree.ItemInterrupted},
		"one rerun is left":      {rerun(1), 3, jobtree.ItemWaiting},
		"the reruns are used up": {rerun(2), 3, jobtree.ItemInterrupted},
		"reruns have no limit":   {rerun(9), 0, jobtree.ItemWaiting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf([]registry.Node{recordNode(test.record)})
			require.True(t, failover.Lost(s, item))
			txn, err := failover.Declare(s, item, now, test.limit)
			require.NoError(t, err)

			declared, err := s.Item(item).Record.Value.DeclareLost(20, now, test.limit)
			require.NoError(t, err)
			require.Equal(t, test.want, declared.State)
			writes := []registry.Write{registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(declared))}
			if test.want == jobtree.ItemWaiting {
				writes = append(writes, registry.Put(tree.FailoverItem(item), ""))
			}
			require.Equal(t, registry.Txn{
				If: []registry.Condition{
					registry.Unchanged(tree.ItemRecord(item), 20),
					registry.Absent(tree.ItemRunning(item)),
					registry.NotOwnedBy(tree.Instance(lost), 1),
				},
				Then: writes,
			}, txn)
		})
	}
}

// The token of the lost execution is the revision of its begin, which is the record's own.
func TestDeclareRecordsTheToken(t *testing.T) {
	t.Parallel()
	txn, err := failover.Declare(stateOf([]registry.Node{recordNode(running(t, true))}), item, now, 0)
	require.NoError(t, err)
	record, err := jobtree.DecodeRecord(node(txn.Then[0].Path, txn.Then[0].Value, 21))
	require.NoError(t, err)
	outcome, known := record.Ended(20)
	require.True(t, known)
	require.Equal(t, jobtree.Lost, outcome)
	require.Equal(t, now, record.Current.End)
}

func TestDeclareNeedsAnExecution(t *testing.T) {
	t.Parallel()
	for _, record := range []jobtree.Record{idle(t), waiting(t), interrupted(t)} {
		txn, err := failover.Declare(stateOf([]registry.Node{recordNode(record)}), item, now, 0)
		require.ErrorIs(t, err, jobtree.ErrItemNotRunning)
		require.Zero(t, txn)
	}
}
