package failover_test

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory" //nolint:depguard // tests judge transactions by committing them
)

// tb is what [testing.T] and rapid.T have in common.
type tb interface {
	require.TestingT
	Helper()
	Context() context.Context
	Cleanup(func())
}

// world is a registry that tests change between a decision and its commit.
type world struct {
	tb
	server   *memory.Server
	registry *memory.Registry
	sessions map[string]*registry.Session // by instance
}

func newWorld(tb tb) *world {
	w := &world{tb: tb, server: memory.NewServer(), sessions: make(map[string]*registry.Session)}
	w.registry, _ = w.open()
	return w
}

// open gives a new process's handle and its session, which only ends with the test or with close.
func (w *world) open() (*memory.Registry, *registry.Session) {
	w.Helper()
	r := w.server.Open("test", memory.WithTTL(time.Hour))
	w.Cleanup(func() { _ = r.Close(context.Background()) })
	session, err := r.Session(w.Context())
	require.NoError(w, err)
	return r, session
}

// join has an instance live, under a session of its own.
func (w *world) join(instance string) {
	w.Helper()
	if w.sessions[instance] == nil {
		_, w.sessions[instance] = w.open()
	}
	w.do(registry.PutOwned(tree.Instance(instance), "", w.sessions[instance]))
}

// do makes a change that nothing guards.
func (w *world) do(writes ...registry.Write) registry.Revision {
	w.Helper()
	revision, err := w.registry.Commit(w.Context(), registry.Txn{Then: writes})
	require.NoError(w, err)
	return revision
}

// rewrite writes a node again as it is, or anew: a change to all who go by revisions.
func (w *world) rewrite(path string) {
	w.Helper()
	n, err := w.registry.Get(w.Context(), path)
	if err != nil {
		require.ErrorIs(w, err, registry.ErrNotFound)
	}
	w.do(registry.Put(path, n.Value))
}

func (w *world) state() *jobtree.State {
	w.Helper()
	nodes, revision, err := w.registry.List(w.Context(), tree.Root())
	require.NoError(w, err)
	return jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
}

// commit commits a decision. It returns the guard that refused it, nil if none did.
func (w *world) commit(txn registry.Txn) *registry.Condition {
	w.Helper()
	_, err := w.registry.Commit(w.Context(), txn)
	var conflict *registry.ConflictError
	if errors.As(err, &conflict) {
		return &conflict.Condition
	}
	require.NoError(w, err)
	return nil
}
