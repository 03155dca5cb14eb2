package sharding_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/sharding"
)

func answer(a ...string) sharding.StrategyFunc {
	return func(sharding.Request) (sharding.Assignment, error) { return a, nil }
}

func TestRunRefusesBrokenAssignments(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		strategy sharding.Strategy
		want     string
	}{
		{"nothing", answer(), "it has 0 items, want 3"},
		{"too short", answer("a", "b"), "it has 2 items, want 3"},
		{"too long", answer("a", "b", "a", "b"), "it has 4 items, want 3"},
		{"a gap", answer("a", "", "b"), "item 1 belongs to no instance"},
		{"a stranger", answer("a", "b", "c"), `item 2 belongs to "c", which is not among the instances ["b" "a"]`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a, err := sharding.Run(row.strategy, sharding.Request{Job: "orders", Instances: []string{"a", "b"}, Total: 3})
			require.ErrorIs(t, err, sharding.ErrInvalidAssignment)
			require.EqualError(t, err, `assign 3 items of job "orders": invalid assignment: `+row.want)
			require.Nil(t, a)
		})
	}
}

func TestRunCatchesPanics(t *testing.T) {
	t.Parallel()
	panics := func(value any) error {
		_, err := sharding.Run(sharding.StrategyFunc(func(sharding.Request) (sharding.Assignment, error) {
			panic(value)
		}), sharding.Request{Job: "orders", Instances: []string{"a"}, Total: 1})
		return err
	}

	err := panics("no zone")
	require.EqualError(t, err, `assign 1 items of job "orders": panic: no zone`)
	var caught *job.PanicError
	require.ErrorAs(t, err, &caught)
	require.Equal(t, "no zone", caught.Value)
	require.Contains(t, string(caught.Stack), "TestRunCatchesPanics")

	require.ErrorIs(t, panics(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF)
}

func TestRunOutlivesAStrategyThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	a, err := sharding.Run(sharding.StrategyFunc(func(sharding.Request) (sharding.Assignment, error) {
		runtime.Goexit()
		return nil, nil
	}), sharding.Request{Job: "orders", Instances: []string{"a"}, Total: 1})
	require.ErrorIs(t, err, job.ErrGoexit)
	require.Nil(t, a)
}

func TestRunWrapsTheStrategysError(t *testing.T) {
	t.Parallel()
	noZone := errors.New("no zone")
	fails := func(sharding.Request) (sharding.Assignment, error) { return sharding.Assignment{"a"}, noZone }
	a, err := sharding.Run(sharding.StrategyFunc(fails),
		sharding.Request{Job: "orders", Instances: []string{"a"}, Total: 1})
	require.ErrorIs(t, err, noZone)
	require.Nil(t, a)
}

func TestRunRefusesBadRequests(t *testing.T) {
	t.Parallel()
	_, err := sharding.Run(answer(), sharding.Request{Job: "orders", Total: -1})
	require.ErrorIs(t, err, sharding.ErrInvalidRequest)
	require.EqualError(t, err, `invalid sharding request: job "orders": total is -1, want 0 or more`)

	_, err = sharding.Run(answer(), sharding.Request{Job: "orders", Instances: []string{"a", ""}})
	require.ErrorIs(t, err, sharding.ErrInvalidRequest)
	require.EqualError(t, err, `invalid sharding request: job "orders": instances ["a" ""] have an empty id`)
}

// What no memory can hold is an error like any other.
func TestRunRefusesTooManyItems(t *testing.T) {
	t.Parallel()
	for _, instances := range [][]string{nil, {"a"}} {
		for _, total := range []int{10_000_001, math.MaxInt32, math.MaxInt} {
			_, err := sharding.Run(answer(), sharding.Request{Job: "orders", Instances: instances, Total: total})
			require.ErrorIs(t, err, sharding.ErrInvalidRequest)
			require.EqualError(t, err, fmt.Sprintf(`invalid sharding request: job "orders": total is %d, want at most 10000000`, total))
		}
	}
}

// However many instances there are, and however long their ids, errors are for people to read.
func TestErrorsOfManyInstancesAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	var many []string
	for n := range 3000 {
		many = append(many, fmt.Sprintf("10.0.0.%04d@-@%s", n, long))
	}
	_, err := sharding.Run(answer(long), sharding.Request{Job: long, Instances: many, Total: 1})
	require.ErrorIs(t, err, sharding.ErrInvalidAssignment)
	require.ErrorContains(t, err, "and 2990 more")
	require.Less(t, len(err.Error()), 10_000)
	_, err = sharding.Run(answer(), sharding.Request{Job: long, Instances: append(many, ""), Total: 1})
	require.ErrorIs(t, err, sharding.ErrInvalidRequest)
	require.Less(t, len(err.Error()), 10_000)
}

func TestRunDoesNotAskWithoutInstances(t *testing.T) {
	t.Parallel()
	never := func(sharding.Request) (sharding.Assignment, error) { panic("asked") }
	a, err := sharding.Run(sharding.StrategyFunc(never), sharding.Request{Total: 2, Current: sharding.Assignment{"a"}})
	require.NoError(t, err)
	require.Equal(t, sharding.NewAssignment(2), a)
}

func TestRunGivesTheStrategyACopyInNormalForm(t *testing.T) {
	t.Parallel()
	request := sharding.Request{
		Job:       "orders",
		Instances: []string{"a", "c", "b", "c"},
		Total:     3,
		Current:   sharding.Assignment{"c", "gone"},
	}
	scribble := func(r sharding.Request) (sharding.Assignment, error) {
		require.Equal(t, sharding.Request{
			Job:       "orders",
			Instances: []string{"c", "b", "a"},
			Total:     3,
			Current:   sharding.Assignment{"c", "gone", ""},
		}, r)
		for i := range r.Instances {
			r.Instances[i] = "evil"
			r.Current[i] = "evil"
		}
		return r.Current, nil
	}
	_, err := sharding.Run(sharding.StrategyFunc(scribble), request)
	require.ErrorContains(t, err, `item 0 belongs to "evil", which is not among the instances ["c" "b" "a"]`)
	require.Equal(t, []string{"a", "c", "b", "c"}, request.Instances)
	require.Equal(t, sharding.Assignment{"c", "gone"}, request.Current)
}
