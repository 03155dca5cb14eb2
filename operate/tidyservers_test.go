package operate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func TestServersAreTidied(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.refused(operate.CauseAlready, errOf(g.op.TidyServers(t.Context(), theJob, nil, silent())))
	g.do(registry.Put(nodes.Server("10.0.0.1"), ""), registry.Put(nodes.Server("10.0.0.8"), ""), registry.Put(nodes.Server("10.0.0.9"), "DISABLED"))
	g.refused(operate.CauseAlive, errOf(g.op.TidyServers(t.Context(), theJob, []string{"10.0.0.1"}, silent())))
	g.refused(operate.CauseUnknownTarget, errOf(g.op.TidyServers(t.Context(), theJob, []string{"10.0.0.7"}, silent())))
	r, err := g.op.TidyServers(t.Context(), theJob, nil, silent())
	require.NoError(t, err)
	require.Equal(t, []operate.Change{{What: "server 10.0.0.8", Before: "enabled", After: "forgotten"}}, r.Changes)
	require.Contains(t, g.refused(operate.CauseAlready, errOf(g.op.TidyServers(t.Context(), theJob, nil, silent()))).Error(), "of which there are 1")
	r, err = g.op.TidyServers(t.Context(), theJob, []string{"10.0.0.9", "10.0.0.9"}, silent())
	require.NoError(t, err)
	require.Equal(t, []string{"server 10.0.0.9 was disabled, and starts enabled if it comes back"}, r.Warnings)
	require.True(t, g.node(nodes.Server("10.0.0.1")).Exists())
	require.False(t, g.node(nodes.Server("10.0.0.9")).Exists())
}

// What one transaction does not take is left for the next time.
func TestManyServersAreTidied(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for n := range 210 {
		g.do(registry.Put(nodes.Server(fmt.Sprintf("10.0.1.%d", n)), ""))
	}
	for _, left := range []string{"110 more are left", "10 more are left", ""} {
		r, err := g.op.TidyServers(t.Context(), theJob, nil, silent())
		require.NoError(t, err)
		require.LessOrEqual(t, len(r.Changes), 100)
		if left == "" {
			require.Empty(t, r.Warnings)
			continue
		}
		require.Len(t, r.Warnings, 1)
		require.Contains(t, r.Warnings[0], left)
	}
	g.refused(operate.CauseAlready, errOf(g.op.TidyServers(t.Context(), theJob, nil, silent())))
}
