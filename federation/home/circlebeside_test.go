package home_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// Words that name each other in a circle do not mean that there is no job, if a registry has it: it is found there, moved from
// there, and nobody deletes a word. If a registry does not answer, nobody can tell.
func TestACircleBesideAJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, words := range []map[string]string{{"dir": "c", "c": "dir"}, {"dir": "c", "c": "a", "a": "c"}, {"c": "a", "a": "c"}} {
			begin := func() *world {
				w := newWorld(t)
				w.store("b")
				for name, to := range words {
					w.put(name, at(to))
				}
				return w
			}
			w := begin()
			p, err := w.directory(nil).Find(t.Context(), "orders")
			require.NoError(t, err)
			require.Equal(t, "b", p.Registry)
			require.True(t, p.Exists)
			before := w.all(names...)
			p = w.claimed()
			require.Equal(t, "b", p.Registry)
			for name := range words {
				require.Equal(t, before[name], w.all(name)[name], "nobody breaks the circle")
			}
			w.move("b")
			require.Equal(t, config(t), w.nodes("b")[orders.Config()])
			require.Equal(t, at("b"), w.nodes("dir")[orders.Config()], "the directory is put right")
			w.move("a")
			w.livesOnlyIn("a")
			w = begin()
			w.move("a")
			w.livesOnlyIn("a")

			w = begin()
			w.diesBefore("a")
			p, err = w.directory(nil).Find(t.Context(), "orders")
			require.NoError(t, err)
			require.Equal(t, []string{"b", "a"}, []string{p.From, p.Registry})
			w.move("a")
			w.livesOnlyIn("a")

			w = begin()
			silent, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
				if name == "b" {
					return nil, errors.New("no answer")
				}
				return w.handles[name], nil
			})
			require.NoError(t, err)
			before = w.all(names...)
			_, err = silent.Find(t.Context(), "orders")
			require.ErrorIs(t, err, home.ErrAway)
			_, err = silent.Claim(t.Context(), "orders", func(string) string { return "a" })
			require.ErrorIs(t, err, home.ErrAway)
			_, err = silent.Move(t.Context(), "orders", "a", home.MoveOptions{})
			require.ErrorIs(t, err, home.ErrAway)
			require.Equal(t, before, w.all(names...))
		}
	})
}

// A job that has left one registry and not arrived in another is no job that is nowhere.
func TestACircleBesideAJobThatMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put("dir", at("c"))
		w.put("c", at("dir"))
		w.put("b", jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "a", Move: "X", Config: config(t)}))
		p := w.claimed()
		require.Equal(t, []string{"b", "a"}, []string{p.From, p.Registry})
		require.Equal(t, at("dir"), w.nodes("c")[orders.Config()])
	})
}
