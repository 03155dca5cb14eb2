package failover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

func state3(nodes ...registry.Node) *jobtree.State {
	return jobtree.ElasticJob3StateOf("orders", registry.NewSnapshot(100, nodes))
}

// config3 is the configuration of a job with failover as ElasticJob 3.x has it.
func config3() registry.Node {
	return node(tree.Config(), "cron: 0 0 0 * * ?\nfailover: true\njobName: orders\nmonitorExecution: true\nshardingTotalCount: 10\n", 1)
}

// The mark that a gone instance left is what shows that its execution was lost, and it goes with the declaration.
func TestDeclareTakesTheMarkAlong(t *testing.T) {
	t.Parallel()
	record := recordNode(running(t, true))
	mark := node(tree.ItemRunning(item), lost, record.Revision)
	mark.Created = record.Revision
	alive := state3(config3(), record, mark, owned(tree.Instance(lost), "", 8, 1))
	require.False(t, failover.Lost(alive, item))
	s := state3(config3(), record, mark)
	require.True(t, failover.Lost(s, item))
	txn, err := failover.Declare(s, item, now, 3)
	require.NoError(t, err)
	require.Contains(t, txn.If, registry.Unchanged(tree.ItemRunning(item), mark.Revision))
	require.NotContains(t, txn.If, registry.NotOwnedBy(tree.ItemRunning(item), 1), "which is true of what nobody owns")
	require.Contains(t, txn.Then, registry.Delete(tree.ItemRunning(item)))
	require.Contains(t, txn.Then, registry.Put(tree.FailoverItem(item), ""))
}

// What an instance of ElasticJob 3.x lost is declared by the mark that it left, or by the wish for a claimant that another
// instance made of that.
func TestDeclareForeignOfElasticJob3(t *testing.T) {
	t.Parallel()
	mark, wish := node(tree.ItemRunning(item), javaID, 44), node(tree.FailoverItem(item), "", 45)
	for name, test := range map[string]struct {
		nodes []registry.Node
		run   failover.Foreign
		want  []registry.Condition
		write bool // takes the mark away
	}{
		"its mark": {
			[]registry.Node{mark},
			failover.Foreign{Instance: javaID, Token: 44},
			[]registry.Condition{registry.Unchanged(tree.ItemRunning(item), 44), registry.Absent(tree.Instance(javaID))},
			true,
		},
		"its mark, and another has its id": {
			[]registry.Node{mark, owned(tree.Instance(javaID), "", 47, 9)},
			failover.Foreign{Instance: javaID, Token: 44},
			[]registry.Condition{registry.Unchanged(tree.ItemRunning(item), 44), registry.CreatedAt(tree.Instance(javaID), 47)},
			true,
		},
		"another took its mark away": {
			[]registry.Node{wish},
			failover.Foreign{Instance: javaID, Token: 44},
			[]registry.Condition{
				registry.Absent(tree.Instance(javaID)), registry.Absent(tree.ItemRunning(item)), registry.Unchanged(tree.FailoverItem(item), 45),
			},
			false,
		},
		"a claim alone": {
			[]registry.Node{node(tree.ItemFailovering(item), javaID, 46)},
			failover.Foreign{Instance: javaID, Token: 46, Claim: 46},
			[]registry.Condition{
				registry.Absent(tree.Instance(javaID)), registry.Unchanged(tree.ItemFailovering(item), 46),
				registry.Absent(tree.ItemRunning(item)), registry.Absent(tree.FailoverItem(item)),
			},
			false,
		},
		"a wish alone": {
			[]registry.Node{wish},
			failover.Foreign{Instance: javaID, Token: 45, Wish: 45},
			[]registry.Condition{registry.Unchanged(tree.FailoverItem(item), 45), registry.Absent(tree.ItemRunning(item))},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := state3(append(test.nodes, config3(), node(tree.ItemInstance(item), survivor, 10))...)
			test.run.Fire = noon
			txn, err := failover.DeclareForeign(s, item, test.run, now, 3)
			require.NoError(t, err)
			require.Subset(t, txn.If, test.want)
			require.Contains(t, txn.If, registry.Absent(tree.ItemFailover(item)))
			require.Contains(t, txn.Then, registry.Delete(tree.ItemFailovering(item)), "else it is claimed once more")
			require.Equal(t, test.write, contains(txn.Then, registry.Delete(tree.ItemRunning(item))))
			for _, c := range txn.If {
				require.False(t, c.Kind == registry.CondNotOwnedBy && c.Session == 0, "%s", c)
			}
			record, err := jobtree.DecodeRecord(registry.Node{Path: txn.Then[0].Path, Value: txn.Then[0].Value})
			require.NoError(t, err)
			require.Equal(t, jobtree.ItemWaiting, record.State)
		})
	}
}

func contains(writes []registry.Write, want registry.Write) bool {
	for _, w := range writes {
		if w == want {
			return true
		}
	}
	return false
}

// A claim leaves marks that outlive the claimant, so that others see what it was running.
func TestAClaimThatOutlivesItsClaimant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(survivor)
	session := w.sessions[survivor]
	s := state3(config3(), recordNode(waiting(t)), node(tree.FailoverItem(item), "", 20), node(tree.ItemInstance(item), survivor, 10))
	txn, _, err := failover.Claim(s, item, failover.Claimant{Instance: survivor, Session: session, Time: now})
	require.NoError(t, err)
	require.Contains(t, txn.If, registry.Absent(tree.ItemRunning(item)))
	require.Contains(t, txn.Then, registry.Put(tree.ItemRunning(item), survivor))
	require.Contains(t, txn.Then, registry.Put(tree.ItemFailovering(item), survivor))
	require.Contains(t, txn.Then, registry.PutOwned(tree.ItemFailover(item), survivor, session))
}
