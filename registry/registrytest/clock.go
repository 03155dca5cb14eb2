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
	const exact = 2500 * time.Millisecond // a second or so at both ends
	began := time.Now()
	before, err := p.ServerTime(e.ctx)
	require.NoError(e, err)
	told := time.Now()
	time.Sleep(e.ttls(1))
	least := time.Since(told)
	after, err := p.ServerTime(e.ctx)
	require.NoError(e, err)
	most := time.Since(began)
	require.Greater(e, after.Sub(before), least-exact)
	require.Less(e, after.Sub(before), most+exact)
	require.False(e, after.Before(before))
	require.Empty(e, e.list(p, registry.Root), "asking leaves no node behind")
}
