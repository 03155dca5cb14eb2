package scheduler

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Java instances are asked in as many transactions as it takes, each as it was read; those of this library are not.
func TestARequestToManyJavaInstances(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	nodes := []registry.Node{{Path: tree.Instance("10.0.0.1@-@go"), Created: 1, Revision: 1, Session: 7}}
	for n := range 250 {
		nodes = append(nodes, registry.Node{Path: tree.Instance(fmt.Sprintf("10.0.1.%d@-@7", n)), Created: 1, Revision: registry.Revision(2 + n), Session: 8})
	}
	s := jobtree.SharedStateOf("orders", registry.NewSnapshot(300, nodes))
	require.Empty(t, javaInstances(s, false), "there are none")
	first, others := requestTxns(s, "text", javaInstances(s, true))
	require.Len(t, first.Then, 1+triggerTogether)
	require.Len(t, others, 150)
	asked := make(map[string]registry.Revision)
	for _, txn := range append(others, first) {
		require.LessOrEqual(t, len(txn.If)+len(txn.Then), 2*128)
		for _, w := range txn.Then {
			if w.Path == tree.Triggered() {
				require.Equal(t, "text", w.Value)
				continue
			}
			require.Equal(t, jobtree.InstanceTriggered, w.Value)
			require.Contains(t, txn.If, registry.Unchanged(w.Path, s.Instance(w.Path[len(tree.Instances())+1:]).Revision))
			asked[w.Path]++
		}
	}
	require.Len(t, asked, 250)
	require.NotContains(t, asked, tree.Instance("10.0.0.1@-@go"))
}
