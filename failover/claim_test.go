package failover_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// afterALoss is a tree in which item 2 waits for a claimant.
func afterALoss(tb testing.TB) []registry.Node {
	tb.Helper()
	return []registry.Node{
		configNode(tb, nil),
		node(tree.Epoch(), `{"term":2,"counter":1,"total":4}`, 4),
		node(tree.Server("10.0.0.2"), "", 5),
		owned(tree.Instance(survivor), "", 9, 2),
		node(tree.ItemInstance(item), survivor, 12),
		recordNode(waiting(tb)),
		node(tree.FailoverItem(item), "", 21),
	}
}

func TestClaimable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		different []registry.Node
		want      bool
	}{
		"it waits":                    {nil, true},
		"it waits and does not ask":   {[]registry.Node{absent(tree.FailoverItem(item))}, true},
		"without an epoch":            {[]registry.Node{absent(tree.Epoch())}, true},
		"it runs":                     {[]registry.Node{recordNode(running(t, true))}, false},
		"it is idle":                  {[]registry.Node{recordNode(idle(t))}, false},
		"it was given up":             {[]registry.Node{recordNode(interrupted(t))}, false},
		"it never ran":                {[]registry.Node{absent(tree.ItemRecord(item))}, false},
		"its record cannot be read":   {[]registry.Node{node(tree.ItemRecord(item), `{"state":"waiting"}`, 20)}, false},
		"something runs":              {[]registry.Node{owned(tree.ItemRunning(item), lost, 20, 1)}, false},
		"it is disabled":              {[]registry.Node{node(tree.ItemDisabled(item), "", 30)}, false},
		"it is the last item":         {[]registry.Node{node(tree.Epoch(), `{"term":2,"counter":2,"total":3}`, 30)}, true},
		"it is the first surplus one": {[]registry.Node{node(tree.Epoch(), `{"term":2,"counter":2,"total":2}`, 30)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(afterALoss(t), test.different...)
			require.Equal(t, test.want, failover.Claimable(s, item))
			require.False(t, failover.Claimable(s, item+1), "another item")
		})
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	stopped := func() time.Duration { return 0 }
	session, _ := backend.NewSession(2, time.Hour, stopped, 0)
	claimant := failover.Claimant{Instance: survivor, Session: session, Round: "r1", Time: now}
	for name, test := range map[string]struct {
		different []registry.Node
		asks      registry.Condition
		server    registry.Condition
		epoch     registry.Condition
	}{
		"of an item that asks": {
			nil,
			registry.Unchanged(tree.FailoverItem(item), 21),
			registry.Unchanged(tree.Server("10.0.0.2"), 5),
			registry.Unchanged(tree.Epoch(), 4),
		},
		"where less is said": {
			[]registry.Node{absent(tree.FailoverItem(item)), absent(tree.Server("10.0.0.2")), absent(tree.Epoch())},
			registry.Absent(tree.FailoverItem(item)),
			registry.Absent(tree.Server("10.0.0.2")),
			registry.Absent(tree.Epoch()),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			txn, record, err := failover.Claim(stateOf(afterALoss(t), test.different...), item, claimant)
			require.NoError(t, err)
			require.Equal(t, jobtree.ItemRunning, record.State)
			require.Equal(t, 1, record.Reruns)
			require.Equal(t, noon, record.LastFire)
			require.Equal(t, &jobtree.Execution{
				Instance: survivor, Session: 2, Source: job.Failover, Fire: noon, Begin: now, Failover: true, Round: "r1",
			}, record.Current)
			require.Equal(t, registry.Txn{
				If: []registry.Condition{
					registry.Unchanged(tree.ItemRecord(item), 20),
					test.asks,
					registry.Absent(tree.ItemDisabled(item)),
					test.server,
					test.epoch,
					registry.Unchanged(tree.Config(), configNode(t, nil).Revision),
					registry.CreatedAt(tree.Instance(survivor), 9),
					registry.Absent(tree.ItemRunning(item)),
				},
				Then: []registry.Write{
					registry.Delete(tree.FailoverItem(item)),
					registry.PutOwned(tree.ItemFailover(item), survivor, session),
					registry.PutOwned(tree.ItemRunning(item), survivor, session),
					registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record)),
				},
			}, txn)
		})
	}
}

func TestClaimIsRefused(t *testing.T) {
	t.Parallel()
	session, _ := backend.NewSession(2, time.Hour, func() time.Duration { return 0 }, 0)
	for name, test := range map[string]struct {
		different registry.Node
		claimant  failover.Claimant
		want      error
	}{
		"of an item that runs":      {recordNode(running(t, true)), failover.Claimant{Instance: survivor, Session: session}, jobtree.ErrItemNotWaiting},
		"of an item that is idle":   {recordNode(idle(t)), failover.Claimant{Instance: survivor, Session: session}, jobtree.ErrItemNotWaiting},
		"of an item without record": {absent(tree.ItemRecord(item)), failover.Claimant{Instance: survivor, Session: session}, jobtree.ErrItemNotWaiting},
		"by nobody":                 {recordNode(waiting(t)), failover.Claimant{Session: session}, registry.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			txn, record, err := failover.Claim(stateOf(afterALoss(t), test.different), item, test.claimant)
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, "item 2: ")
			require.Zero(t, txn)
			require.Zero(t, record)
		})
	}
}
