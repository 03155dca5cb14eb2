package registrytest

import (
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func conditionCases() []testCase {
	return []testCase{
		{name: "EachKindHoldsAndFails", run: eachKindHoldsAndFails},
		{name: "ConflictNamesTheFirstThatFailed", run: conflictNamesTheFirstThatFailed},
		{name: "ConflictTellsWhatTheViewMissed", run: conflictTellsWhatTheViewMissed},
		{name: "RefusedTransactionWritesNothing", run: refusedTransactionWritesNothing},
		{name: "JudgedOnTheStateBeforeTheTransaction", run: judgedOnTheStateBefore},
	}
}

func eachKindHoldsAndFails(e *env) {
	p, other := e.open(), e.open()
	mine := e.session(p)
	created := e.commit(p, registry.Put("/there", "1"), registry.Put("/parent/child", ""))
	changed := e.commit(p, registry.Put("/there", "2"))
	e.commit(p, registry.PutOwned("/mine", "", mine))
	e.commit(other, registry.PutOwned("/theirs", "", e.session(other)))
	tests := []struct {
		condition registry.Condition
		holds     bool
	}{
		{registry.Absent("/absent"), true},
		{registry.Absent("/parent"), true},
		{registry.Absent("/there"), false},
		{registry.Absent("/mine"), false},
		{registry.Present("/there"), true},
		{registry.Present("/absent"), false},
		{registry.Present("/parent"), false},
		{registry.Unchanged("/there", changed), true},
		{registry.Unchanged("/there", created), false},
		{registry.Unchanged("/there", changed+1), false},
		{registry.Unchanged("/absent", changed), false},
		{registry.Unchanged("/absent", 0), true},
		{registry.Unchanged("/there", 0), false},
		{registry.CreatedAt("/there", created), true},
		{registry.CreatedAt("/there", changed), false},
		{registry.CreatedAt("/absent", created), false},
		{registry.NotOwnedBy("/mine", mine.ID()), false},
		{registry.NotOwnedBy("/theirs", mine.ID()), true},
		{registry.NotOwnedBy("/there", mine.ID()), true},
		{registry.NotOwnedBy("/absent", mine.ID()), true},
	}
	for _, tt := range tests {
		revision, err := p.Commit(e.ctx, registry.Txn{
			If:   []registry.Condition{tt.condition},
			Then: []registry.Write{registry.Put("/result", tt.condition.String())},
		})
		if tt.holds {
			require.NoError(e, err, tt.condition)
			require.Equal(e, revision, e.get(p, "/result").Revision)
			continue
		}
		conflict := e.conflict(err)
		require.Equal(e, tt.condition, conflict.Condition)
		require.Equal(e, e.get(p, tt.condition.Path), conflict.Found, tt.condition)
		require.False(e, conflict.Ambiguous)
		require.NotEqual(e, tt.condition.String(), e.get(p, "/result").Value)
	}
}

func conflictNamesTheFirstThatFailed(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/there", ""))
	stated := registry.Txn{
		If:   []registry.Condition{registry.Present("/there"), registry.Absent("/there"), registry.Present("/absent")},
		Then: []registry.Write{registry.Put("/result", "")},
	}
	_, err := p.Commit(e.ctx, stated)
	require.Equal(e, registry.Absent("/there"), e.conflict(err).Condition)

	implied := registry.Txn{
		If:   []registry.Condition{registry.Present("/there")},
		Then: []registry.Write{registry.Put("/result", ""), registry.Update("/absent", "")},
	}
	_, err = p.Commit(e.ctx, implied)
	require.Equal(e, registry.Present("/absent"), e.conflict(err).Condition)
	require.False(e, e.get(p, "/result").Exists())
}

func conflictTellsWhatTheViewMissed(e *env) {
	p, other := e.open(), e.open()
	read := e.commit(p, registry.Put("/jobs/a", "as read"))
	view := e.view(p, "/jobs")
	e.commit(other, registry.Put("/jobs/a", "as changed"))
	_, err := p.Commit(e.ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged("/jobs/a", read)},
		Then: []registry.Write{registry.Put("/jobs/b", "")},
	})
	conflict := e.conflict(err)
	require.Equal(e, "as changed", conflict.Found.Value)
	e.waitRevision(view, conflict.Revision)
	require.Equal(e, conflict.Found, view.Snapshot().Get("/jobs/a"))
}

func refusedTransactionWritesNothing(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/keep/1", "old"), registry.Put("/keep/2", "old"), registry.Put("/guard", ""))
	before := e.list(p, registry.Root)
	_, err := p.Commit(e.ctx, registry.Txn{
		If: []registry.Condition{registry.Present("/guard"), registry.Absent("/guard")},
		Then: []registry.Write{
			registry.Put("/keep/1", "new"), registry.Delete("/keep/2"), registry.Put("/more", ""), registry.DeleteTree("/guard"),
			registry.PutOwned("/owned", "", e.session(p)),
		},
	})
	require.ErrorIs(e, err, registry.ErrConflict)
	require.Equal(e, before, e.list(p, registry.Root))
}

func judgedOnTheStateBefore(e *env) {
	p := e.open()
	revision, err := p.Commit(e.ctx, registry.Txn{
		If:   []registry.Condition{registry.Absent("/a"), registry.Absent("/a/b")},
		Then: []registry.Write{registry.Put("/a", ""), registry.Put("/a/b", "")},
	})
	require.NoError(e, err)
	for _, n := range e.list(p, registry.Root) {
		require.Equal(e, revision, n.Revision, "all writes carry the commit's revision")
	}
}
