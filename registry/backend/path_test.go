package backend_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

func TestCheckSubtree(t *testing.T) {
	t.Parallel()
	for _, path := range []string{registry.Root, "/a", "/orders/sharding/0/instance", "/...", "/a..b", "/作业/ä b=c"} {
		require.NoError(t, backend.CheckSubtree(path), "%q", path)
	}
	for _, path := range []string{"", "a/b", "/a/", "//", "//a", "/a//b", "/.", "/a/..", "/a\x00", "/\xff"} {
		require.ErrorIs(t, backend.CheckSubtree(path), registry.ErrInvalid, "%q", path)
	}
}
