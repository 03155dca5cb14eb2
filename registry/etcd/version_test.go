package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for _, fine := range []string{"3.5.13", "3.5.21", "3.6.0-rc.1", "3.7.3", "4.0.0", "", "next"} {
		require.NoError(t, checkVersion(fine), fine)
	}
	for _, old := range []string{"3.5.12", "3.5.8", "3.4.30", "2.3.8", "3.5.12-dirty"} {
		err := checkVersion(old)
		require.ErrorIs(t, err, registry.ErrUnsupported)
		require.ErrorContains(t, err, "etcd "+old+", want 3.5.13 or later")
	}
}
