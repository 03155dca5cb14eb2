package failover_test

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Item 0 is recorded as running, but neither its mark nor its instance is there any more. Whoever
// sees that may declare it lost: the transaction holds only while it is still so.
func ExampleDeclare() {
	tree := jobtree.For("orders")
	state := jobtree.StateOf("orders", registry.NewSnapshot(30, []registry.Node{
		{Path: tree.ItemRecord(0), Created: 17, Revision: 17, Value: `{"state":"running",` +
			`"lastFire":"2026-01-02T12:00:00Z","before":{"state":"idle"},"current":{"instance":"10.0.0.1@-@7",` +
			`"session":"1f","source":"scheduled","fire":"2026-01-02T12:00:00Z","failover":true}}`},
	}))
	fmt.Println("lost:", failover.Lost(state, 0))

	txn, err := failover.Declare(state, 0, time.Date(2026, 1, 2, 12, 1, 0, 0, time.UTC), 3)
	if err != nil {
		fmt.Println(err)
	}
	for _, condition := range txn.If {
		fmt.Println("if", condition)
	}
	for _, write := range txn.Then {
		fmt.Println("put", write.Path)
	}
	// Output:
	// lost: true
	// if /orders/sharding/0/record unchanged since 17
	// if /orders/sharding/0/running absent
	// if /orders/instances/10.0.0.1@-@7 not owned by session 1f
	// put /orders/sharding/0/record
	// put /orders/leader/failover/items/0
}
