package sharding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/sharding"
)

func TestAssignmentInstance(t *testing.T) {
	t.Parallel()
	a := sharding.Assignment{"x", "", "y"}
	require.Equal(t, "x", a.Instance(0))
	require.Equal(t, "", a.Instance(1))
	require.Equal(t, "y", a.Instance(2))
	require.Equal(t, "", a.Instance(3))
	require.Equal(t, "", a.Instance(-1))
	require.Equal(t, "", sharding.Assignment(nil).Instance(0))
}

func TestAssignmentListsItemsByInstance(t *testing.T) {
	t.Parallel()
	a := sharding.Assignment{"x", "", "y", "x"}
	require.Equal(t, []int{0, 3}, a.Items("x"))
	require.Equal(t, []int{1}, a.Items(""))
	require.Nil(t, a.Items("z"))
	require.Equal(t, map[string][]int{"x": {0, 3}, "": {1}, "y": {2}}, a.ByInstance())
	require.Empty(t, sharding.Assignment(nil).ByInstance())
}

func TestNewAssignmentBelongsToNone(t *testing.T) {
	t.Parallel()
	require.Equal(t, sharding.Assignment{"", "", ""}, sharding.NewAssignment(3))
}
