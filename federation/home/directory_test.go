package home_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// put stores a config node of the job.
func (w *world) put(name, text string) {
	w.t.Helper()
	_, err := w.handles[name].Commit(w.t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.Config(), text)}})
	require.NoError(w.t, err)
}

func at(registry string) string { return jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: registry}) }

// without is a directory of a process that does not reach a registry.
func (w *world) without(gone string) *home.Directory {
	w.t.Helper()
	d, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
		if name == gone {
			return nil, errors.New("no answer")
		}
		return w.handles[name], nil
	})
	require.NoError(w.t, err)
	return d
}

func TestFind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		job := config(t)
		for name, test := range map[string]struct {
			nodes map[string]string
			gone  string
			want  home.Place
			err   error
		}{
			"nowhere":                               {},
			"nowhere, one is away":                  {gone: "b", err: home.ErrAway},
			"in the directory":                      {nodes: map[string]string{"dir": job}, want: home.Place{Registry: "dir", Exists: true}},
			"in the directory, another is away":     {nodes: map[string]string{"dir": job}, gone: "a", want: home.Place{Registry: "dir", Exists: true}},
			"the directory says so":                 {nodes: map[string]string{"dir": at("a"), "a": job}, want: home.Place{Registry: "a", Exists: true}},
			"the directory says so, it was never":   {nodes: map[string]string{"dir": at("a")}, want: home.Place{Registry: "a"}},
			"its home is away":                      {nodes: map[string]string{"dir": at("a"), "a": job}, gone: "a", want: home.Place{Registry: "a"}, err: home.ErrAway},
			"the directory is away":                 {nodes: map[string]string{"dir": at("a"), "a": job}, gone: "dir", want: home.Place{Registry: "a", Exists: true}},
			"the directory is away and may be it":   {nodes: map[string]string{"a": at("dir")}, gone: "dir", err: home.ErrAway},
			"it was there before":                   {nodes: map[string]string{"b": job}, want: home.Place{Registry: "b", Exists: true}},
			"it was removed in the directory":       {nodes: map[string]string{"b": at("dir")}, want: home.Place{Registry: "dir"}},
			"from one to the next":                  {nodes: map[string]string{"dir": at("a"), "a": at("b"), "b": job}, want: home.Place{Registry: "b", Exists: true}},
			"in two":                                {nodes: map[string]string{"a": job, "b": job}, err: home.ErrTwice},
			"in a circle":                           {nodes: map[string]string{"dir": at("a"), "a": at("b"), "b": at("a")}, err: home.ErrLost},
			"in one that nobody knows":              {nodes: map[string]string{"dir": at("z")}, want: home.Place{Registry: "z"}, err: home.ErrLost},
			"those who know something do not agree": {nodes: map[string]string{"a": at("b"), "b": at("dir")}, want: home.Place{Registry: "dir"}},
		} {
			w := newWorld(t)
			for registry, text := range test.nodes {
				w.put(registry, text)
			}
			p, err := w.without(test.gone).Find(t.Context(), "orders")
			require.ErrorIs(t, err, test.err, name)
			require.Equal(t, []any{test.want.Registry, test.want.Exists, test.want.From}, []any{p.Registry, p.Exists, p.From}, name)
			if test.err != nil {
				require.ErrorContains(t, err, `find job "orders"`)
			}
		}
	})
}

// A job that no registry knows gets the home of the first rule, and others hear of that.
func TestClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rule := func(registry string) func(string) string { return func(string) string { return registry } }
		w := newWorld(t)
		d := w.directory(nil)
		p, err := d.Claim(t.Context(), "orders", rule("b"))
		require.NoError(t, err)
		require.Equal(t, "b", p.Registry)
		p, err = d.Claim(t.Context(), "orders", rule("a"))
		require.NoError(t, err)
		require.Equal(t, "b", p.Registry)
		require.Equal(t, map[string]string{orders.Config(): at("b")}, w.nodes("dir"))
		_, err = d.Claim(t.Context(), "mail", rule("z"))
		require.ErrorIs(t, err, home.ErrInvalidOption)
		_, err = w.without("a").Claim(t.Context(), "mail", rule("b"))
		require.ErrorIs(t, err, home.ErrAway)

		w = newWorld(t) // one that was there before: the directory is told
		w.put("a", config(t))
		p, err = w.directory(nil).Claim(t.Context(), "orders", rule("b"))
		require.NoError(t, err)
		require.Equal(t, "a", p.Registry)
		require.Equal(t, at("a"), w.nodes("dir")[orders.Config()])

		w = newWorld(t) // what keeps a place for a move that was over is taken away
		w.put("dir", at("b"))
		w.put("b", jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "a", Move: "X", Arriving: true}))
		p, err = w.directory(nil).Claim(t.Context(), "orders", rule("a"))
		require.NoError(t, err)
		require.Equal(t, "b", p.Registry)
		require.Empty(t, w.nodes("b"))
	})
}

// A name whose job was removed goes where somebody moves it.
func TestANameIsMovedWithoutAJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put("dir", at("b"))
		moved, err := w.directory(nil).Move(t.Context(), "orders", "a", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Done)
		require.Len(t, moved.Notes, 1)
		p, err := w.directory(nil).Find(t.Context(), "orders")
		require.NoError(t, err)
		require.Equal(t, "a", p.Registry)
		require.False(t, p.Exists)
		_, err = w.directory(nil).Move(t.Context(), "nobody", "a", home.MoveOptions{})
		require.ErrorIs(t, err, home.ErrRefused)
	})
}
