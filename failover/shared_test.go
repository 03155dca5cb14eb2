package failover_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// sharedState is [stateOf] of a job that Java instances share.
func sharedState(common []registry.Node, different ...registry.Node) *jobtree.State {
	nodes := append(common[:len(common):len(common)], different...)
	return readShared(registry.NewSnapshot(100, nodes))
}

func readShared(snapshot registry.Snapshot) *jobtree.State {
	return jobtree.SharedStateOf("orders", snapshot)
}

const javaID = "10.0.0.9@-@7"

func TestTakenOver(t *testing.T) {
	t.Parallel()
	common := []registry.Node{
		owned(tree.Instance(survivor), "", 9, 2),
		owned(tree.Instance(javaID), "", 9, 9),
		node(tree.ItemInstance(item), survivor, 10),
	}
	for name, test := range map[string]struct {
		different []registry.Node
		want      bool
	}{
		"nobody took what runs no more":    {[]registry.Node{recordNode(running(t, true))}, false},
		"Java runs it":                     {[]registry.Node{recordNode(running(t, true)), owned(tree.ItemRunning(item), "", 30, 9)}, false},
		"Java runs what it claimed":        {[]registry.Node{recordNode(running(t, true)), owned(tree.ItemRunning(item), "", 30, 9), owned(tree.ItemFailover(item), javaID, 30, 9)}, true},
		"Java is about to run it":          {[]registry.Node{recordNode(running(t, true)), owned(tree.ItemFailover(item), javaID, 30, 9)}, true},
		"its own mark is there":            {[]registry.Node{recordNode(running(t, true)), owned(tree.ItemRunning(item), lost, 20, 1)}, false},
		"Java took the mark of one alive":  {[]registry.Node{recordNode(running(t, true)), owned(tree.ItemRunning(item), "", 30, 9), owned(tree.Instance(lost), "", 8, 1)}, false},
		"it waits, and the wish is there":  {[]registry.Node{recordNode(waiting(t)), node(tree.FailoverItem(item), "", 20)}, false},
		"it waits, and the wish was taken": {[]registry.Node{recordNode(waiting(t))}, true},
		"it was given up":                  {[]registry.Node{recordNode(interrupted(t))}, false},
		"it is idle":                       {[]registry.Node{recordNode(idle(t))}, false},
		"there is no record":               {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sharedState(common, test.different...)
			require.Equal(t, test.want, failover.TakenOver(s, item))
			require.False(t, test.want && failover.Lost(s, item), "it is one or the other")
			require.False(t, failover.TakenOver(stateOf(common, test.different...), item), "where there is no Java")
			if !test.want {
				return
			}
			require.False(t, failover.Claimable(s, item))
			txn, err := failover.Yield(s, item, now)
			require.NoError(t, err)
			record, err := jobtree.DecodeRecord(registry.Node{Path: txn.Then[0].Path, Value: txn.Then[0].Value})
			require.NoError(t, err)
			require.Equal(t, jobtree.ItemInterrupted, record.State)
			require.Equal(t, jobtree.Lost, record.Current.Outcome)
		})
	}
}

// A regular run of a Java instance, to which the item came, is none of the execution that was lost.
func TestLostWhileJavaRunsTheItem(t *testing.T) {
	t.Parallel()
	ran := recordNode(running(t, true))
	for name, test := range map[string]struct {
		different []registry.Node
		want      bool
	}{
		"nothing runs":                    {nil, true},
		"Java runs its next fire":         {[]registry.Node{owned(tree.ItemRunning(item), "", 30, 9)}, true},
		"Java claimed it":                 {[]registry.Node{owned(tree.ItemFailover(item), javaID, 30, 9)}, false},
		"its own mark is there":           {[]registry.Node{owned(tree.ItemRunning(item), lost, 20, 1)}, false},
		"Java took the mark of one alive": {[]registry.Node{owned(tree.ItemRunning(item), "", 30, 9), owned(tree.Instance(lost), "", 8, 1)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sharedState([]registry.Node{owned(tree.Instance(javaID), "", 9, 9), ran}, test.different...)
			require.Equal(t, test.want, failover.Lost(s, item))
			txn, err := failover.Declare(s, item, now, 3)
			require.NoError(t, err)
			require.Contains(t, txn.If, registry.NotOwnedBy(tree.ItemRunning(item), 1))
			require.Contains(t, txn.If, registry.Absent(tree.ItemFailover(item)))
		})
	}
}

// Of a claim whose instance had not begun, whatever runs may be what was claimed.
func TestDeclareForeignOfAClaim(t *testing.T) {
	t.Parallel()
	s := sharedState(nil, configNode(t, nil), recordNode(interrupted(t)), node(tree.ItemInstance(item), survivor, 10))
	txn, err := failover.DeclareForeign(s, item, failover.Foreign{Instance: javaID, Session: 9, Token: 44, Claim: 44}, now, 3)
	require.NoError(t, err)
	require.Subset(t, txn.If, []registry.Condition{registry.Absent(tree.ItemRunning(item)), registry.NotOwnedBy(tree.Instance(javaID), 9)})
}

// A Java execution that was lost waits, for the newest fire that it may stand for, and can be claimed.
func TestDeclareForeign(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		record registry.Node
		fire   time.Time
		source job.Source
	}{
		"an item that only Java ran":  {absent(tree.ItemRecord(item)), noon, job.Scheduled},
		"the fire is not known":       {absent(tree.ItemRecord(item)), time.Time{}, job.Manual},
		"one that ran here before":    {recordNode(idle(t)), noon.Add(time.Hour), job.Scheduled},
		"that fire has run here":      {recordNode(idle(t)), noon, job.Manual},
		"it was interrupted before":   {recordNode(interrupted(t)), noon.Add(time.Hour), job.Scheduled},
		"the fire is an earlier one":  {recordNode(idle(t)), noon.Add(-time.Hour), job.Manual},
		"the fire is not known, idle": {recordNode(idle(t)), time.Time{}, job.Manual},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sharedState(nil, configNode(t, nil), test.record, node(tree.ItemInstance(item), survivor, 10))
			txn, err := failover.DeclareForeign(s, item, failover.Foreign{Instance: javaID, Session: 9, Token: 44, Fire: test.fire}, now, 3)
			require.NoError(t, err)
			require.Contains(t, txn.Then, registry.Put(tree.FailoverItem(item), ""))
			record, err := jobtree.DecodeRecord(registry.Node{Path: txn.Then[0].Path, Value: txn.Then[0].Value})
			require.NoError(t, err)
			require.Equal(t, jobtree.ItemWaiting, record.State)
			require.Equal(t, test.source, record.Current.Source)
			require.Equal(t, int64(44), record.Current.Token)
			require.Equal(t, s.Item(item).Record.Value.Trigger, record.Trigger, "a request that is pending is not swallowed")
			require.Zero(t, record.Current.Trigger, "nobody asked for it")
			require.Equal(t, test.source == job.Manual, record.Current.ByHand())
			if test.source == job.Scheduled {
				require.Equal(t, test.fire, record.LastFire)
			}
			_, err = record.Claim(jobtree.Claim{Instance: survivor, Session: 2, Time: now})
			require.NoError(t, err)
		})
	}
}

func TestDeclareForeignNeedsAnItemThatNeitherRunsNorWaits(t *testing.T) {
	t.Parallel()
	for want, record := range map[error]registry.Node{
		jobtree.ErrItemRunning: recordNode(running(t, true)),
		jobtree.ErrItemWaiting: recordNode(waiting(t)),
	} {
		_, err := failover.DeclareForeign(sharedState(nil, record), item, failover.Foreign{Instance: javaID, Session: 9, Token: 44}, now, 3)
		require.ErrorIs(t, err, want)
	}
	_, err := failover.Yield(sharedState(nil, recordNode(idle(t))), item, now)
	require.ErrorIs(t, err, jobtree.ErrItemNotWaiting)
}
