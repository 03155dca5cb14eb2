package memory_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

const ttl = 6 * time.Second

// world is a test in virtual time with a server of its own.
type world struct {
	*testing.T
	server *memory.Server
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, test func(w *world), options ...memory.ServerOption) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(&world{t, memory.NewServer(options...)}) })
}

// open returns a handle with a session, which ends with the test.
func (w *world) open(options ...memory.Option) *memory.Registry {
	w.Helper()
	r := w.server.Open("shop", append([]memory.Option{memory.WithTTL(ttl)}, options...)...)
	w.Cleanup(func() {
		r.Resume()
		r.Heal()
		_ = r.Close(context.WithoutCancel(w.Context())) // a test that closes it has judged the result
	})
	w.session(r)
	return r
}

func (w *world) session(r *memory.Registry) *registry.Session {
	w.Helper()
	s, err := r.Session(w.Context())
	require.NoError(w, err)
	return s
}

func (w *world) commit(r *memory.Registry, writes ...registry.Write) registry.Revision {
	w.Helper()
	revision, err := r.Commit(w.Context(), registry.Txn{Then: writes})
	require.NoError(w, err)
	return revision
}

func (w *world) view(r *memory.Registry) *registry.View {
	w.Helper()
	v, err := r.View(w.Context(), registry.Root)
	require.NoError(w, err)
	return v
}

// value returns what a handle finds at path; "absent" if nothing.
func (w *world) value(r *memory.Registry, path string) string {
	w.Helper()
	n, err := r.Get(w.Context(), path)
	if err != nil {
		require.ErrorIs(w, err, registry.ErrNotFound)
		return "absent"
	}
	return n.Value
}

func (w *world) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(w.Context(), d)
	w.Cleanup(cancel)
	return ctx
}
