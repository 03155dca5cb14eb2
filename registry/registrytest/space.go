package registrytest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func spaceCases() []testCase {
	return []testCase{
		{name: "FullStoreStillDeletes", needs: []Ability{Full, Steady}, run: fullStoreStillDeletes},
		{name: "FullStoreKeepsSessions", needs: []Ability{Full}, run: fullStoreKeepsSessions},
	}
}

func fullStoreStillDeletes(e *env) {
	p := e.open()
	view := e.view(p, registry.Root)
	session := e.session(p)
	e.commit(p, registry.Put("/a", "1"), registry.Put("/b", "1"), registry.Put("/c/d", "1"))
	e.store.Fill()
	for _, w := range []registry.Write{registry.Put("/new", ""), registry.PutOwned("/new", "", session), registry.Update("/a", "2")} {
		_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{w, registry.Delete("/b")}})
		require.ErrorIs(e, err, registry.ErrNoSpace)
	}
	require.Equal(e, "1", e.get(p, "/b").Value)
	revision, err := p.Commit(e.ctx, registry.Txn{
		If:   []registry.Condition{registry.Present("/a")},
		Then: []registry.Write{registry.Delete("/b"), registry.DeleteTree("/c")},
	})
	require.NoError(e, err, "deletes make room")
	e.waitRevision(view, revision)
	require.Equal(e, 1, view.Snapshot().Len())

	e.store.Free()
	e.commit(p, registry.Put("/new", ""))
	require.Equal(e, []string{"/a", "/new"}, paths(e.list(p, registry.Root)))
}

func fullStoreKeepsSessions(e *env) {
	e.despiteStalls(func() error {
		p := e.open()
		session := e.session(p)
		created := e.commit(p, registry.PutOwned("/owned", "", session))
		e.store.Fill()
		defer e.store.Free()
		time.Sleep(e.ttls(2))
		if err := session.Err(); err != nil { // and a full store gives no other one
			return err
		}
		if next := e.session(p); next != session {
			return fmt.Errorf("another session is in force: %w", session.Err())
		}
		if got := e.get(p, "/owned").Revision; got != created {
			return fmt.Errorf("it was put at %s, and is of %s", created, got)
		}
		return nil
	})
}
