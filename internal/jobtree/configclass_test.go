package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

func TestAClassStays(t *testing.T) {
	t.Parallel()
	unnamed, named, other := job.Config{Name: "orders"}, job.Config{Name: "orders", Class: "orders"}, job.Config{Name: "orders", Class: "other"}
	require.Empty(t, jobtree.ClassStays(unnamed, unnamed))
	require.Empty(t, jobtree.ClassStays(unnamed, named), "without a name, a class is named as the job is")
	require.Empty(t, jobtree.ClassStays(other, other))
	require.Contains(t, jobtree.ClassStays(unnamed, other), `must stay "orders": `)
	require.Contains(t, jobtree.ClassStays(other, unnamed), `must stay "other": `)
}
