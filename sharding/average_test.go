package sharding_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/sharding"
)

// The rule as it is told, one instance after the other: instance j of k gets the block of total/k
// items from j*(total/k) on, and of the items after the last block, one goes to each from the first.
func TestAverageAllocationIsBlocksAndLeftOvers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t, 20, 200)
		got := run(t, sharding.StrategyFunc(sharding.AverageAllocation), r)
		slices.Sort(r.Instances) // for what is drawn, Go's order is Java's
		slices.Reverse(r.Instances)

		k := len(r.Instances)
		size := r.Total / k
		next := size * k
		for j, instance := range r.Instances {
			var want []int
			for item := j * size; item < (j+1)*size; item++ {
				want = append(want, item)
			}
			if next < r.Total {
				want = append(want, next)
				next++
			}
			require.Equal(t, want, got.Items(instance), "items of %q, number %d", instance, j)
		}
	})
}

func TestOdevityAndRotateRenameInstancesOnly(t *testing.T) {
	t.Parallel()
	for name, strategy := range map[string]sharding.StrategyFunc{
		"odevity": sharding.OdevityByName,
		"rotate":  sharding.RotateByName,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				r := drawRequest(t, 20, 200)
				average := run(t, sharding.StrategyFunc(sharding.AverageAllocation), r)
				got := run(t, strategy, r)
				renamed := make(map[string]string)
				for item, instance := range average {
					if _, seen := renamed[instance]; !seen {
						renamed[instance] = got[item]
					}
					require.Equal(t, renamed[instance], got[item], "item %d", item)
				}
			})
		})
	}
}
