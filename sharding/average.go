package sharding

import "slices"

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

// OdevityByName is [AverageAllocation] that starts from the other end of the instances for about
// half of the jobs, so that jobs with few items do not all burden the same instances. A job whose
// name has an odd Java hash goes through the instance ids in descending order, one with an even hash
// in ascending order. (Elastic-Job's manual says the opposite of what its code does; this is the
// code.)
func OdevityByName(r Request) (Assignment, error) {
	r, err := r.normal()
	if err != nil {
		return nil, err
	}
	if hashJava(r.Job)%2 == 0 {
		slices.Reverse(r.Instances)
	}
	return average(r.Instances, r.Total), nil
}

// RotateByName is [AverageAllocation] that starts at an instance that depends on the job's name, so
// that many jobs with few items burden all instances. In descending order of the instance ids it
// starts at number abs(hash) mod k, where hash is the Java hash of the name.
func RotateByName(r Request) (Assignment, error) {
	r, err := r.normal()
	if err != nil {
		return nil, err
	}
	if len(r.Instances) > 0 {
		start := offsetJava(hashJava(r.Job), len(r.Instances))
		r.Instances = slices.Concat(r.Instances[start:], r.Instances[:start])
	}
	return average(r.Instances, r.Total), nil
}
