package sharding_test

import (
	"fmt"

	"github.com/elasticron/elasticron/sharding"
)

// An instance joins, and the strategy moves no more items than it must.
func Example() {
	strategies := sharding.Default()
	strategy, err := strategies.Lookup(sharding.NameMinimal)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := sharding.Request{Job: "orders", Instances: []string{"10.0.0.1", "10.0.0.2"}, Total: 6}
	for range 2 {
		assignment, err := sharding.Run(strategy, request)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(assignment.ByInstance())
		request.Instances = append(request.Instances, "10.0.0.3")
		request.Current = assignment
	}
	// Output:
	// map[10.0.0.1:[3 4 5] 10.0.0.2:[0 1 2]]
	// map[10.0.0.1:[3 4] 10.0.0.2:[0 1] 10.0.0.3:[2 5]]
}

// A strategy of your own: the first instance does all the work, and the others stand by.
func ExampleRegistry_Register() {
	strategies := sharding.Default()
	err := strategies.Register("one-for-all", sharding.StrategyFunc(
		func(r sharding.Request) (sharding.Assignment, error) {
			a := sharding.NewAssignment(r.Total)
			for item := range a {
				a[item] = r.Instances[0]
			}
			return a, nil
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	strategy, err := strategies.Lookup("one-for-all")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sharding.Run(strategy, sharding.Request{Job: "orders", Instances: []string{"a", "b"}, Total: 3}))
	// Output: [b b b] <nil>
}

// Elastic-Job's names are known, and for what is unknown the error tells what would be known.
func ExampleRegistry_Lookup() {
	var strategies sharding.Registry
	_ = strategies.Register("average", sharding.StrategyFunc(sharding.AverageAllocation))

	_, err := strategies.Lookup("ROUND_ROBIN")
	fmt.Println(err)
	_, err = sharding.Default().Lookup("ROUND_ROBIN")
	fmt.Println(err)
	// Output:
	// unknown sharding strategy "ROUND_ROBIN", registered are: average
	// <nil>
}
