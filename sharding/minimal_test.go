package sharding_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/sharding"
)

var minimalMovement = sharding.StrategyFunc(sharding.MinimalMovement)

func moved(from, to sharding.Assignment) int {
	n := 0
	for item, instance := range to {
		if from.Instance(item) != instance {
			n++
		}
	}
	return n
}

// Tries every assignment there is and takes the best of the balanced ones.
func TestMinimalMovementAgainstAllAssignments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t, 3, 6)
		got := run(t, minimalMovement, r)
		require.Equal(t, fewestMoves(r, nil), moved(r.Current, got))
	})
}

func fewestMoves(r sharding.Request, head sharding.Assignment) int {
	if len(head) == r.Total {
		if !balanced(r, head) {
			return r.Total + 1
		}
		return moved(r.Current, head)
	}
	fewest := r.Total + 1
	for _, instance := range r.Instances {
		fewest = min(fewest, fewestMoves(r, append(head[:len(head):len(head)], instance)))
	}
	return fewest
}

func balanced(r sharding.Request, a sharding.Assignment) bool {
	fewest, most := r.Total, 0
	for _, instance := range r.Instances {
		n := len(a.Items(instance))
		fewest, most = min(fewest, n), max(most, n)
	}
	return most-fewest <= 1
}

// Every instance can keep what it holds up to total/k, and as many instances as total mod k says can
// keep one item beyond that.
func TestMinimalMovementAgainstTheBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t, 30, 500)
		got := run(t, minimalMovement, r)

		current := sharding.NewAssignment(r.Total)
		copy(current, r.Current)
		block, extra, kept := r.Total/len(r.Instances), r.Total%len(r.Instances), 0
		for _, instance := range r.Instances {
			held := len(current.Items(instance))
			kept += min(held, block)
			if held > block && extra > 0 {
				kept++
				extra--
			}
		}
		require.Equal(t, r.Total-kept, moved(r.Current, got))
	})
}

func TestMinimalMovementSettles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t, 20, 200)
		r.Current = run(t, minimalMovement, r)
		require.Equal(t, r.Current, run(t, minimalMovement, r))
	})
}

func TestMinimalMovementStartsAsAverageAllocation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t, 20, 200)
		r.Current = nil
		average := run(t, sharding.StrategyFunc(sharding.AverageAllocation), r)
		require.Equal(t, average, run(t, minimalMovement, r))
	})
}

func TestMinimalMovementByExample(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		current   sharding.Assignment
		instances []string
		total     int
		want      sharding.Assignment
	}{
		{
			name:      "one joins and takes the highest items of the fullest",
			current:   sharding.Assignment{"b", "b", "a", "a", "b"},
			instances: []string{"a", "b", "c"}, total: 5,
			want: sharding.Assignment{"b", "b", "a", "a", "c"},
		},
		{
			name:      "one leaves and only its items move",
			current:   sharding.Assignment{"b", "b", "a", "a", "c", "c"},
			instances: []string{"a", "b"}, total: 6,
			want: sharding.Assignment{"b", "b", "a", "a", "b", "a"},
		},
		{
			name:      "all are replaced",
			current:   sharding.Assignment{"a", "a", "b"},
			instances: []string{"c", "d"}, total: 3,
			want: sharding.Assignment{"d", "c", "d"},
		},
		{
			name:      "the total grows and new items fill the gaps",
			current:   sharding.Assignment{"b", "a"},
			instances: []string{"a", "b"}, total: 5,
			want: sharding.Assignment{"b", "a", "b", "a", "b"},
		},
		{
			name:      "the total shrinks below what was balanced",
			current:   sharding.Assignment{"b", "b", "a", "a"},
			instances: []string{"a", "b"}, total: 2,
			want: sharding.Assignment{"b", "a"},
		},
		{
			name:      "fewer items than instances",
			current:   sharding.Assignment{"a", "a"},
			instances: []string{"a", "b", "c"}, total: 2,
			want: sharding.Assignment{"a", "c"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, minimalMovement, sharding.Request{
				Job: "orders", Instances: row.instances, Total: row.total, Current: row.current,
			})
			require.Equal(t, row.want, got)
		})
	}
}
