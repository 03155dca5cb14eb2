package registrytest

import (
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func ownerCases() []testCase {
	return []testCase{
		{name: "NodeShowsItsOwner", run: nodeShowsItsOwner},
		{name: "UpdateKeepsTheOwner", run: updateKeepsTheOwner},
		{name: "UpdateOfNothingConflicts", run: updateOfNothingConflicts},
		{name: "PlainPutOnOwnedIsRefused", run: plainPutOnOwnedIsRefused},
		{name: "OverwriteIsAPut", run: overwriteIsAPut},
		{name: "OverwriteOfOwnedIsRefusedOrForGood", run: overwriteOfOwnedIsRefusedOrForGood},
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

func overwriteIsAPut(e *env) {
	p := e.open()
	created := e.commit(p, registry.Overwrite("/plain", "1"))
	require.Equal(e, registry.Node{Path: "/plain", Value: "1", Created: created, Revision: created}, e.get(p, "/plain"))
	changed, err := p.Commit(e.ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged("/plain", created)},
		Then: []registry.Write{registry.Overwrite("/plain", "2")},
	})
	require.NoError(e, err)
	want := registry.Node{Path: "/plain", Value: "2", Created: created, Revision: changed}
	require.Equal(e, want, e.get(p, "/plain"))
	_, err = p.Commit(e.ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged("/plain", created)},
		Then: []registry.Write{registry.Overwrite("/plain", "3")},
	})
	require.Equal(e, want, e.conflict(err).Found)
	require.Equal(e, want, e.get(p, "/plain"))
}

// overwriteOfOwnedIsRefusedOrForGood tries what must not happen and does: a node that a session owns is there where no
// session ever owns one. What is written then must not go with that session.
func overwriteOfOwnedIsRefusedOrForGood(e *env) {
	p, other := e.open(), e.open()
	v := e.view(other, registry.Root)
	for _, path := range []string{"/known", "/unknown"} {
		e.commit(p, registry.PutOwned(path, "as put", e.session(p)))
	}
	owned := e.get(p, "/known")
	var taken []registry.Node
	for path, conditions := range map[string][]registry.Condition{
		"/known": {registry.Unchanged("/known", owned.Revision)}, "/unknown": nil,
	} {
		revision, err := other.Commit(e.ctx, registry.Txn{If: conditions, Then: []registry.Write{registry.Overwrite(path, "written")}})
		if errors.Is(err, registry.ErrOwned) {
			require.Equal(e, "as put", e.get(p, path).Value)
			continue
		}
		require.NoError(e, err)
		n := e.get(p, path)
		require.Equal(e, registry.Node{Path: path, Value: "written", Created: n.Created, Revision: revision}, n)
		e.waitRevision(v, revision)
		require.Equal(e, n, v.Snapshot().Get(path))
		taken = append(taken, n)
	}
	require.NoError(e, p.Close(e.ctx))
	require.ElementsMatch(e, taken, e.list(other, registry.Root), "what was written is nobody's")
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
