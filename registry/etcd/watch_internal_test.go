package etcd

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// A view that is about to start when its watch is denied has the reason, and nobody joins that watch afterwards.
func TestAViewThatStartsOnADeniedWatch(t *testing.T) {
	t.Parallel()
	r := &Registry{life: context.Background()}
	r.hub = newHub(r)
	w := newWatch(r.hub, "/job", keyRange{}, 10)
	f := newFollower("/job", nil)
	r.hub.watches[w] = true
	joined, err := r.hub.joinPresent(f)
	require.NoError(t, err)
	require.True(t, joined)
	w.endAll(registry.ErrDenied)
	v := r.started(t.Context(), f, registry.NewSnapshot(10, nil))
	require.ErrorIs(t, v.Err(), registry.ErrDenied)
	joined, err = r.hub.joinPresent(newFollower("/job/a", nil))
	require.NoError(t, err)
	require.False(t, joined)
	require.Empty(t, r.hub.watches)
	require.Zero(t, r.hub.parts)
}
