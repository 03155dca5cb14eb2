package sharding

import "slices"

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
