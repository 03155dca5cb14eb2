package registrytest

import (
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func clockCases() []testCase {
	return []testCase{
		{name: "IsATimeOrUnsupported", run: isATimeOrUnsupported},
		{name: "Advances", needs: []Ability{ServerTime}, run: serverTimeAdvances},
	}
}

func isATimeOrUnsupported(e *env) {
	now, err := e.open().ServerTime(e.ctx)
	if _, lacking := e.backend.Lacks[ServerTime]; lacking {
		require.ErrorIs(e, err, registry.ErrUnsupported)
		return
	}
	require.False(e, errors.Is(err, registry.ErrUnsupported), "declare it in Lacks: %v", err)
	require.NoError(e, err)
	require.WithinDuration(e, time.Now(), now, 30*time.Second, "store and test run on one machine")
}

func serverTimeAdvances(e *env) {
	p := e.open()
	before, err := p.ServerTime(e.ctx)
	require.NoError(e, err)
	time.Sleep(e.ttls(1))
	after, err := p.ServerTime(e.ctx)
	require.NoError(e, err)
	require.InDelta(e, e.store.TTL.Seconds(), after.Sub(before).Seconds(), 2.5, "exact to about a second")
	require.False(e, after.Before(before))
	require.Empty(e, e.list(p, registry.Root), "asking leaves no node behind")
}
