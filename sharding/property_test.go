package sharding_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/sharding"
)

// forEachBuiltin checks a property of every built-in strategy, under each of its names.
func forEachBuiltin(t *testing.T, property func(*rapid.T, sharding.Strategy)) {
	t.Helper()
	t.Parallel()
	strategies := sharding.Default()
	for _, name := range strategies.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strategy, err := strategies.Lookup(name)
			require.NoError(t, err)
			rapid.Check(t, func(t *rapid.T) { property(t, strategy) })
		})
	}
}

// drawRequest draws a request with at least one instance. The current assignment may be too short,
// too long, incomplete, and may name instances that are gone.
func drawRequest(t *rapid.T, maxInstances, maxTotal int) sharding.Request {
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé作😀]{1,3}`), 1, maxInstances, rapid.ID)
	live := ids.Draw(t, "live")
	owners := append(ids.Draw(t, "gone"), append(live, live...)...)
	return sharding.Request{
		Job:       rapid.String().Draw(t, "job"),
		Instances: live,
		Total:     rapid.IntRange(0, maxTotal).Draw(t, "total"),
		Current:   rapid.SliceOfN(rapid.SampledFrom(append(owners, "")), 0, maxTotal).Draw(t, "current"),
	}
}

func run(t require.TestingT, strategy sharding.Strategy, r sharding.Request) sharding.Assignment {
	a, err := sharding.Run(strategy, r)
	require.NoError(t, err)
	return a
}

func TestEveryItemOnceAndBalanced(t *testing.T) {
	forEachBuiltin(t, func(t *rapid.T, strategy sharding.Strategy) {
		r := drawRequest(t, 20, 200)
		a, err := strategy.Assign(r)
		require.NoError(t, err)
		require.Len(t, a, r.Total)

		counted := 0
		for _, instance := range r.Instances {
			n := len(a.Items(instance))
			require.GreaterOrEqual(t, n, r.Total/len(r.Instances), "items of %q", instance)
			require.LessOrEqual(t, n, (r.Total+len(r.Instances)-1)/len(r.Instances), "items of %q", instance)
			counted += n
		}
		require.Equal(t, r.Total, counted, "items that belong to an instance of the request")
	})
}

func TestInstancesAreASet(t *testing.T) {
	forEachBuiltin(t, func(t *rapid.T, strategy sharding.Strategy) {
		r := drawRequest(t, 20, 200)
		want, err := strategy.Assign(r)
		require.NoError(t, err)

		twice := r
		twice.Instances = rapid.Permutation(append(r.Instances, r.Instances...)).Draw(t, "instances, twice each")
		got, err := strategy.Assign(twice)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestStrategiesDoNotChangeTheirRequest(t *testing.T) {
	forEachBuiltin(t, func(t *rapid.T, strategy sharding.Strategy) {
		r := drawRequest(t, 20, 200)
		before := sharding.Request{
			Job:       r.Job,
			Instances: slices.Clone(r.Instances),
			Total:     r.Total,
			Current:   slices.Clone(r.Current),
		}
		a, err := strategy.Assign(r)
		require.NoError(t, err)
		for item := range a {
			a[item] = "overwritten"
		}
		require.Equal(t, before, r)
	})
}

func TestRunAgreesWithTheStrategy(t *testing.T) {
	forEachBuiltin(t, func(t *rapid.T, strategy sharding.Strategy) {
		r := drawRequest(t, 20, 200)
		want, err := strategy.Assign(r)
		require.NoError(t, err)
		require.Equal(t, want, run(t, strategy, r))
	})
}

func TestWithoutInstancesNothingIsAssigned(t *testing.T) {
	forEachBuiltin(t, func(t *rapid.T, strategy sharding.Strategy) {
		r := drawRequest(t, 5, 20)
		r.Instances = nil
		a, err := strategy.Assign(r)
		require.NoError(t, err)
		require.Equal(t, sharding.NewAssignment(r.Total), a)
	})
}

func TestBadRequestsAreRefused(t *testing.T) {
	forEachBuiltin(t, func(t *rapid.T, strategy sharding.Strategy) {
		r := drawRequest(t, 5, 20)
		r.Total = -rapid.IntRange(1, 100).Draw(t, "minus total")
		_, err := strategy.Assign(r)
		require.ErrorIs(t, err, sharding.ErrInvalidRequest)

		r = drawRequest(t, 5, 20)
		r.Instances = append(r.Instances, "")
		_, err = strategy.Assign(r)
		require.ErrorIs(t, err, sharding.ErrInvalidRequest)
	})
}
