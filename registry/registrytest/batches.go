package registrytest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func batchCases() []testCase {
	return []testCase{
		{name: "EmptyBatchHasNoOutcome", run: emptyBatchHasNoOutcome},
		{name: "EachHasItsOwnOutcome", run: eachHasItsOwnOutcome},
		{name: "OverlappingOnesAreDoneInOrder", run: overlappingOnesAreDoneInOrder},
		{name: "ManyMoreThanOneRequestHolds", run: manyMoreThanOneRequestHolds},
		{name: "RefusedOneHarmsOnlyItself", run: refusedOneHarmsOnlyItself},
	}
}

func emptyBatchHasNoOutcome(e *env) { require.Empty(e, e.open().CommitAll(e.ctx, nil)) }

func eachHasItsOwnOutcome(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/there", ""), registry.PutOwned("/owned", "", e.session(p)))
	outcomes := p.CommitAll(e.ctx, []registry.Txn{
		{Then: []registry.Write{registry.Put("/1", "")}},
		{If: []registry.Condition{registry.Absent("/there")}, Then: []registry.Write{registry.Put("/2", "")}},
		{Then: []registry.Write{registry.Put("/owned", "")}},
		{Then: []registry.Write{registry.Update("/absent", ""), registry.Put("/4", "")}},
		{},
		{If: []registry.Condition{registry.Present("/there")}, Then: []registry.Write{registry.Put("/6", "")}},
	})
	require.Len(e, outcomes, 6)
	require.NoError(e, outcomes[0].Err)
	require.Equal(e, e.get(p, "/1").Revision, outcomes[0].Revision)
	require.Equal(e, registry.Absent("/there"), e.conflict(outcomes[1].Err).Condition)
	require.ErrorIs(e, outcomes[2].Err, registry.ErrOwned)
	require.Equal(e, registry.Present("/absent"), e.conflict(outcomes[3].Err).Condition)
	require.ErrorIs(e, outcomes[4].Err, registry.ErrInvalid)
	require.NoError(e, outcomes[5].Err)
	require.Equal(e, e.get(p, "/6").Revision, outcomes[5].Revision)
	for _, o := range outcomes {
		require.True(e, o.Err == nil || o.Revision == 0)
	}
	require.Equal(e, []string{"/1", "/6", "/owned", "/there"}, paths(e.list(p, registry.Root)))
}

func overlappingOnesAreDoneInOrder(e *env) {
	p := e.open()
	outcomes := p.CommitAll(e.ctx, []registry.Txn{
		{If: []registry.Condition{registry.Absent("/a")}, Then: []registry.Write{registry.Put("/a", "1")}},
		{If: []registry.Condition{registry.Absent("/a")}, Then: []registry.Write{registry.Put("/never", "")}},
		{Then: []registry.Write{registry.Update("/a", "2"), registry.Put("/a/below", "")}},
		{Then: []registry.Write{registry.DeleteTree("/a")}},
		{If: []registry.Condition{registry.Absent("/a/below")}, Then: []registry.Write{registry.Put("/a/below", "again")}},
		{If: []registry.Condition{registry.Present("/a/below")}, Then: []registry.Write{registry.Put("/seen", "")}},
		{Then: []registry.Write{registry.Delete("/a/below"), registry.Put("/last", "")}},
		{Then: []registry.Write{registry.Put("/last", "really")}},
	})
	var last registry.Revision
	for i, o := range outcomes {
		if i == 1 {
			require.Equal(e, registry.Absent("/a"), e.conflict(o.Err).Condition)
			continue
		}
		require.NoError(e, o.Err, "transaction %d", i)
		require.Greater(e, o.Revision, last, "transaction %d", i)
		last = o.Revision
	}
	require.Equal(e, []string{"/last", "/seen"}, paths(e.list(p, registry.Root)))
	require.Equal(e, "really", e.get(p, "/last").Value)
}

func manyMoreThanOneRequestHolds(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/there", ""))
	const n = 500
	txns := make([]registry.Txn, n)
	for i := range txns {
		guard := registry.Present("/there")
		if i%10 == 7 {
			guard = registry.Absent("/there")
		}
		txns[i] = registry.Txn{
			If: []registry.Condition{guard},
			Then: []registry.Write{
				registry.Put(fmt.Sprintf("/items/%d/running", i), "me"), registry.Put(fmt.Sprintf("/items/%d/record", i), ""),
			},
		}
	}
	outcomes := p.CommitAll(e.ctx, txns)
	require.Len(e, outcomes, n)
	for i, o := range outcomes {
		if i%10 == 7 {
			require.ErrorIs(e, o.Err, registry.ErrConflict)
		} else {
			require.NoError(e, o.Err)
		}
	}
	require.Len(e, e.list(p, "/items"), 2*n*9/10)
}

func refusedOneHarmsOnlyItself(e *env) {
	p, dead := e.open(), e.open()
	gone := e.session(dead)
	require.NoError(e, dead.Close(e.ctx))
	txns := []registry.Txn{
		{Then: []registry.Write{registry.Put("/good/1", "")}},
		{Then: []registry.Write{registry.PutOwned("/bad", "", gone)}},
		{Then: []registry.Write{registry.PutOwned("/good/2", "", e.session(p))}},
	}
	if e.backend.MaxOps > 0 {
		txns = append(txns, tooMany(e), registry.Txn{Then: []registry.Write{registry.Put("/good/3", "")}})
	}
	outcomes := p.CommitAll(e.ctx, txns)
	require.NoError(e, outcomes[0].Err)
	require.ErrorIs(e, outcomes[1].Err, registry.ErrSessionLost)
	require.NoError(e, outcomes[2].Err)
	if e.backend.MaxOps > 0 {
		require.ErrorIs(e, outcomes[3].Err, registry.ErrTooLarge)
		require.NoError(e, outcomes[4].Err)
	}
	require.Empty(e, e.list(p, "/bad"))
	require.Len(e, e.list(p, "/good"), len(txns)/2+1)
}
