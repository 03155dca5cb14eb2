package sharding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/sharding"
)

// What Elastic-Job-Lite 2.1.5 assigned, in its own words: the items of the instances "3", "2" and
// "1", which it lists in descending order.
func TestSameAsElasticJob(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		strategy sharding.StrategyFunc
		job      string
		total    int
		want     map[string][]int
	}{
		{"average 3/2", sharding.AverageAllocation, "j", 2, items([]int{0}, []int{1}, nil)},
		{"average 3/4", sharding.AverageAllocation, "j", 4, items([]int{0, 3}, []int{1}, []int{2})},
		{"average 3/8", sharding.AverageAllocation, "j", 8, items([]int{0, 1, 6}, []int{2, 3, 7}, []int{4, 5})},
		{"average 3/10", sharding.AverageAllocation, "j", 10, items([]int{0, 1, 2, 9}, []int{3, 4, 5}, []int{6, 7, 8})},
		{"odevity even", sharding.OdevityByName, "test_job", 4, items([]int{2}, []int{1}, []int{0, 3})},
		{"odevity odd", sharding.OdevityByName, "a", 4, items([]int{0, 3}, []int{1}, []int{2})},
		{"rotate by 1", sharding.RotateByName, "t_job", 4, items([]int{2}, []int{0, 3}, []int{1})},
		{"rotate by 0", sharding.RotateByName, "test_job", 4, items([]int{0, 3}, []int{1}, []int{2})},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := row.strategy(sharding.Request{
				Job:       row.job,
				Instances: []string{"10.0.0.1", "10.0.0.3", "10.0.0.2"},
				Total:     row.total,
			})
			require.NoError(t, err)
			require.Equal(t, row.want, got.ByInstance())
		})
	}
}

func items(of3, of2, of1 []int) map[string][]int {
	all := map[string][]int{"10.0.0.3": of3, "10.0.0.2": of2, "10.0.0.1": of1}
	for instance, list := range all {
		if list == nil {
			delete(all, instance)
		}
	}
	return all
}

// The hash of this name is -2³¹, whose absolute value Java cannot tell. With two instances it works
// there all the same, with three it throws.
func TestRotateByTheSmallestHash(t *testing.T) {
	t.Parallel()
	rotate := func(instances ...string) sharding.Assignment {
		a, err := sharding.RotateByName(sharding.Request{
			Job: "polygenelubricants", Instances: instances, Total: len(instances),
		})
		require.NoError(t, err)
		return a
	}
	require.Equal(t, sharding.Assignment{"b", "a"}, rotate("a", "b"))
	require.Equal(t, sharding.Assignment{"b", "a", "c"}, rotate("a", "b", "c"))
}
