package sharding

import "slices"

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
