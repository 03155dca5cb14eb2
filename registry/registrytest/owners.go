package registrytest

import (
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func ownerCases() []testCase {
	return []testCase{
		{name: "NodeShowsItsOwner", run: nodeShowsItsOwner},
		{name: "UpdateKeepsTheOwner", run: updateKeepsTheOwner},
		{name: "UpdateOfNothingConflicts", run: updateOfNothingConflicts},
		{name: "PlainPutOnOwnedIsRefused", run: plainPutOnOwnedIsRefused},
		{name: "OwnedPutOnlyCreates", run: ownedPutOnlyCreates},
		{name: "DeletedNodeCanHaveAnotherOwner", run: deletedNodeCanHaveAnotherOwner},
	}
}

func nodeShowsItsOwner(e *env) {
	p, other := e.open(), e.open()
	session := e.session(p)
	revision := e.commit(p, registry.PutOwned("/owned", "v", session), registry.Put("/plain", "v"))
	want := registry.Node{Path: "/owned", Value: "v", Created: revision, Revision: revision, Session: session.ID()}
	require.Equal(e, want, e.get(other, "/owned"))
	require.Equal(e, want, e.list(other, "/owned")[0])
	require.Equal(e, want, e.view(other, registry.Root).Snapshot().Get("/owned"))
	require.False(e, e.get(other, "/plain").Ephemeral())
}

func updateKeepsTheOwner(e *env) {
	p, other := e.open(), e.open()
	session := e.session(p)
	created := e.commit(p, registry.PutOwned("/owned", "1", session), registry.Put("/plain", "1"))
	changed := e.commit(other, registry.Update("/owned", "2"), registry.Update("/plain", "2"))
	require.Equal(e,
		registry.Node{Path: "/owned", Value: "2", Created: created, Revision: changed, Session: session.ID()}, e.get(p, "/owned"))
	require.Equal(e,
		registry.Node{Path: "/plain", Value: "2", Created: created, Revision: changed}, e.get(p, "/plain"))

	require.NoError(e, p.Close(e.ctx))
	require.Equal(e, []string{"/plain"}, paths(e.list(other, registry.Root)), "the updated node still goes with its owner")
}

func updateOfNothingConflicts(e *env) {
	p := e.open()
	_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Update("/absent", "")}})
	require.Equal(e, registry.Present("/absent"), e.conflict(err).Condition)
	require.Empty(e, e.list(p, registry.Root))
}

func plainPutOnOwnedIsRefused(e *env) {
	p, other := e.open(), e.open()
	e.commit(p, registry.PutOwned("/owned", "as put", e.session(p)))
	before := e.get(p, "/owned")
	for _, writer := range []*Participant{p, other} {
		_, err := writer.Commit(e.ctx, registry.Txn{
			If:   []registry.Condition{registry.Present("/owned")},
			Then: []registry.Write{registry.Put("/beside", ""), registry.Put("/owned", "taken")},
		})
		require.ErrorIs(e, err, registry.ErrOwned)
		require.NotErrorIs(e, err, registry.ErrConflict)
	}
	require.Equal(e, []registry.Node{before}, e.list(p, registry.Root))
}

func ownedPutOnlyCreates(e *env) {
	p, other := e.open(), e.open()
	e.commit(p, registry.PutOwned("/mine", "", e.session(p)), registry.Put("/plain", ""))
	e.commit(other, registry.PutOwned("/theirs", "", e.session(other)))
	before := e.list(p, registry.Root)
	for _, path := range []string{"/mine", "/plain", "/theirs"} {
		_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.PutOwned(path, "taken", e.session(p))}, Repeat: registry.RepeatOwned})
		conflict := e.conflict(err)
		require.Equal(e, registry.Absent(path), conflict.Condition)
		require.Equal(e, e.get(p, path), conflict.Found)
	}
	require.Equal(e, before, e.list(p, registry.Root))
}

func deletedNodeCanHaveAnotherOwner(e *env) {
	p, other := e.open(), e.open()
	e.commit(p, registry.PutOwned("/place", "p", e.session(p)))
	e.commit(other, registry.Delete("/place"))
	e.commit(other, registry.PutOwned("/place", "other", e.session(other)))
	require.NoError(e, p.Close(e.ctx))
	require.Equal(e, "other", e.get(other, "/place").Value, "the first owner's end takes only what it still owns")

	e.commit(other, registry.Delete("/place"))
	e.commit(other, registry.Put("/place", "persistent"))
	require.False(e, e.get(other, "/place").Ephemeral())
}
