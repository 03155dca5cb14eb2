package sharding

// AverageAllocation is the default strategy. Each instance gets a block of Total/k neighbouring
// items, in descending order of the instance ids; the items that are left over at the end go one
// each to the first instances. Three instances and eight items: [0 1 6], [2 3 7], [4 5].
//
// It looks at neither the job nor the current assignment: when an instance comes or goes, most items
// move. [MinimalMovement] moves the fewest.
func AverageAllocation(r Request) (Assignment, error) {
	r, err := r.normal()
	if err != nil {
		return nil, err
	}
	return average(r.Instances, r.Total), nil
}

// average spreads the items over the instances in the given order.
func average(instances []string, total int) Assignment {
	a := NewAssignment(total)
	if len(instances) == 0 {
		return a
	}
	block := total / len(instances)
	for item := range a {
		if j := item - block*len(instances); j >= 0 {
			a[item] = instances[j] // left over
		} else {
			a[item] = instances[item/block]
		}
	}
	return a
}
