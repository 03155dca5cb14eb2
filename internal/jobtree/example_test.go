package jobtree_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Paths are built by a Tree and taken apart by Parse.
func ExampleParse() {
	path := jobtree.For("orders").ItemRunning(3)
	fmt.Println(path)
	name, ok := jobtree.Parse(path)
	fmt.Println(name.Job, name.Kind == jobtree.KindItemRunning, name.Item, ok)
	_, ok = jobtree.Parse("/orders/sharding/03/running")
	fmt.Println(ok)
	// Output:
	// /orders/sharding/3/running
	// orders true 3 true
	// false
}

// An execution is lost with its instance, and another instance runs it again.
func ExampleRecord() {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	begin := jobtree.Begin{
		Instance: "10.0.0.1@-@7", Session: 0x1f, Source: job.Scheduled, Fire: noon, Failover: true, Time: noon,
	}
	record, _ := jobtree.Record{}.Begin(begin) // committed at revision 17: its token
	record, _ = record.DeclareLost(17, noon.Add(time.Minute), 3)
	fmt.Println(record.State)

	begin.Fire = noon.Add(5 * time.Minute)
	_, err := record.Begin(begin)
	fmt.Println(err, errors.Is(err, jobtree.ErrItemWaiting))

	record, _ = record.Claim(jobtree.Claim{Instance: "10.0.0.2@-@9", Session: 0x2f, Time: noon.Add(time.Minute)})
	fmt.Println(record.State, "by", record.Current.Instance, "for the fire of", record.Current.Fire.Format(time.TimeOnly))
	// Output:
	// waiting
	// begin of an item that is waiting: item waits for failover true
	// running by 10.0.0.2@-@9 for the fire of 12:00:00
}

// A State follows a view of the job; here it looks once.
func ExampleStateOf() {
	tree := jobtree.For("orders")
	snapshot := registry.NewSnapshot(9, []registry.Node{
		{Path: tree.Instance("10.0.0.1@-@7"), Created: 5, Revision: 5, Session: 0x1f},
		{Path: tree.Epoch(), Value: `{"term":4,"counter":1,"total":2}`, Created: 6, Revision: 6},
		{Path: tree.ItemInstance(1), Value: "10.0.0.1@-@7", Created: 6, Revision: 6},
		{Path: tree.ItemRecord(1), Value: `{"state":"asleep"}`, Created: 7, Revision: 7},
	})
	state := jobtree.StateOf("orders", snapshot)
	fmt.Printf("%q %q\n", state.Owner(0), state.Owner(1))
	fmt.Println(state.Item(1).Record.Err)
	// Output:
	// "" "10.0.0.1@-@7"
	// /orders/sharding/1/record: state is "\"asleep\"", must be one of ["idle" "running" "waiting" "interrupted"]
}
