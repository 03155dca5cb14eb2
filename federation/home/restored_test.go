package home_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// restore has a registry hold of the job what a backup holds, at higher revisions than ever, as etcdutl's --bump-revision does.
func (w *world) restore(name string, backup map[string]string) {
	w.t.Helper()
	for path := range w.nodes(name) {
		_, err := w.handles[name].Commit(w.t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(path)}})
		require.NoError(w.t, err)
	}
	for path, value := range backup {
		_, err := w.handles[name].Commit(w.t.Context(), registry.Txn{Then: []registry.Write{registry.Put(path, value)}})
		require.NoError(w.t, err)
	}
}

// older is a store whose config node was created when it says, as one that comes back with a backup, which has kept that.
type older struct {
	*memory.Registry
	created registry.Revision
}

func (o older) aged(n registry.Node) registry.Node {
	if n.Path == orders.Config() {
		n.Created = o.created
	}
	return n
}

func (o older) Get(ctx context.Context, path string) (registry.Node, error) {
	n, err := o.Registry.Get(ctx, path)
	return o.aged(n), err
}

func (o older) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	nodes, newest, err := o.Registry.List(ctx, path)
	for i, n := range nodes {
		nodes[i] = o.aged(n)
	}
	return nodes, newest, err
}

// diesBeforeItArrives moves the job until the mover dies, right before the commit that stores it in its new home.
func (w *world) diesBeforeItArrives(to string) {
	w.t.Helper()
	died := w.directory(func(name string, txn registry.Txn, do func() error) error {
		for _, write := range txn.Then {
			if name == to && write.Path == orders.Tokens() && !tries(txn) {
				return errDied
			}
		}
		return do()
	})
	_, err := died.Move(w.t.Context(), "orders", to, home.MoveOptions{})
	require.ErrorIs(w.t, err, errDied)
}

// A mover died when it had kept the job's place, and the former home was restored from a backup of before the move. There the
// job is, for all who look, and from there it moves, to wherever.
func TestTheFormerHomeOfAHalfDoneMoveIsRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, way := range [][]string{{"a", "dir"}, {"a", "b"}, {"dir", "b"}} {
			from, to := way[0], way[1]
			for _, next := range names {
				for _, claimed := range []bool{false, true} {
					w := newWorld(t)
					w.store(from)
					backup := w.nodes(from)
					w.diesBeforeItArrives(to)
					w.restore(from, backup)
					p, err := w.directory(nil).Find(t.Context(), "orders")
					require.NoError(t, err)
					require.Equal(t, []any{from, true, ""}, []any{p.Registry, p.Exists, p.From}, way)
					if claimed {
						p = w.claimed()
						require.Equal(t, []any{from, true, ""}, []any{p.Registry, p.Exists, p.From}, way)
					}
					w.move(next)
					p = w.claimed()
					require.Equal(t, []any{next, true, ""}, []any{p.Registry, p.Exists, p.From}, way)
					w.atMostOneUsable()
					if next != from {
						require.Contains(t, w.nodes(next), orders.ItemRecord(0), "all of it has moved")
						require.Len(t, w.nodes(from), 1, "where it went")
					}
				}
			}
		}
	})
}

// moveAgain moves a job that is nowhere to where it has left for.
func (w *world) moveAgain(to string) {
	w.t.Helper()
	moved, err := w.directory(nil).Move(w.t.Context(), "orders", to, home.MoveOptions{Again: true})
	require.NoError(w.t, err)
	require.True(w.t, moved.Done)
}

// A mover died when it had kept the job's place, or when the job had arrived, and the new home was restored from a backup of
// before. What the former home keeps is all that there is of the job, and stays, whoever asks; it is copied once more when
// somebody says so, also if he dies anywhere.
func TestTheNewHomeOfAHalfDoneMoveIsRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, way := range [][]string{{"a", "dir"}, {"a", "b"}, {"dir", "b"}} {
			from, to := way[0], way[1]
			for _, was := range []string{"", at(from), at("c")} { // the job has been there before, or not
				if to == "dir" && was == at("c") {
					continue // it says where the job is
				}
				for dies, over := 0, false; !over; dies++ {
					w := newWorld(t)
					w.store(from)
					backup := map[string]string{}
					if was != "" {
						w.put(to, was)
						backup[orders.Config()] = was
					}
					if from != "dir" && to != "dir" {
						w.put("dir", at(from))
					}
					if dies%2 == 0 {
						w.diesBeforeItArrives(to)
					} else {
						w.diesWhenItHasArrived(from, to)
					}
					w.restore(to, backup)
					kept := w.nodes(from)
					require.Greater(t, len(kept), 1)
					for _, dry := range []bool{true, false} {
						for _, next := range names {
							moved, err := w.directory(nil).Move(t.Context(), "orders", next, home.MoveOptions{DryRun: dry})
							require.ErrorIs(t, err, home.ErrLost, "%v to %s", way, next)
							require.False(t, moved.Done)
						}
					}
					_, err := w.directory(nil).Find(t.Context(), "orders")
					require.ErrorIs(t, err, home.ErrLost)
					_, err = w.directory(nil).Claim(t.Context(), "orders", func(string) string { return to })
					require.ErrorIs(t, err, home.ErrLost)
					_, err = w.directory(nil).Move(t.Context(), "orders", to, home.MoveOptions{Again: true, DryRun: true})
					require.NoError(t, err)
					require.Equal(t, kept, w.nodes(from))

					count := 0
					mortal := w.directory(func(_ string, _ registry.Txn, do func() error) error {
						if count++; count > dies {
							return errDied
						}
						return do()
					})
					if _, err = mortal.Move(t.Context(), "orders", to, home.MoveOptions{Again: true}); err == nil {
						over = true
					}
					w.moveAgain(to)
					w.livesOnlyIn(to)
				}
			}
		}
	})
}

// diesWhenItHasArrived moves the job until the mover dies, right after the commit that stores it in its new home.
func (w *world) diesWhenItHasArrived(from, to string) {
	w.t.Helper()
	died := w.directory(func(name string, _ registry.Txn, do func() error) error {
		if len(w.nodes(to)) > 1 && (name == from || name == "dir") {
			return errDied
		}
		return do()
	})
	_, err := died.Move(w.t.Context(), "orders", to, home.MoveOptions{})
	require.ErrorIs(w.t, err, errDied)
}

// The new home was restored, and has a job of this name: an older one, as the job had been there before, or one that a process has
// created anew. That is the job for all who look. What the former home keeps is not deleted for it, nor overwritten.
func TestAnotherJobIsInANewHomeThatWasRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, changed := range []bool{false, true} {
			w := newWorld(t)
			w.store("a")
			w.diesBeforeItArrives("b")
			w.restore("b", map[string]string{orders.Config(): config(t)})
			if changed {
				w.put("b", config(t))
			}
			kept := w.nodes("a")
			moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{Again: true})
			require.NoError(t, err)
			require.Len(t, moved.Notes, 1)
			require.Contains(t, moved.Notes[0], "a keeps a copy of it")
			_, err = w.directory(nil).Move(t.Context(), "orders", "a", home.MoveOptions{})
			require.ErrorIs(t, err, home.ErrLost)
			require.Equal(t, kept, w.nodes("a"))
			require.Equal(t, map[string]string{orders.Config(): config(t)}, w.nodes("b"))
			w.remove("b")
			w.moveAgain("b")
			w.livesOnlyIn("b")
		}
	})
}

// The new home had the job before, and was restored from a backup of then. What is written to that copy since, and were it more
// than all that was written before, does not make it the one that has arrived, also when it moves on.
func TestAnOlderCopyThatIsWrittenTo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, arrived := range []bool{false, true} {
			w := newWorld(t)
			w.store("b")
			first, err := w.handles["b"].Get(t.Context(), orders.Config())
			require.NoError(t, err)
			backup := w.nodes("b")
			w.move("a")
			if arrived {
				w.diesWhenItHasArrived("a", "b")
			} else {
				w.diesBeforeItArrives("b")
			}
			kept := w.nodes("a")
			w.restore("b", backup)
			w.put("b", config(t))
			d, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
				if name == "b" {
					return older{w.handles[name], first.Created}, nil
				}
				return w.handles[name], nil
			})
			require.NoError(t, err)
			moved, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.NoError(t, err)
			require.Len(t, moved.Notes, 1)
			require.Contains(t, moved.Notes[0], "a keeps a copy of it")
			_, err = d.Move(t.Context(), "orders", "a", home.MoveOptions{})
			require.ErrorIs(t, err, home.ErrLost)
			require.Equal(t, kept, w.nodes("a"))
			for range 2 { // the second time, it is only cleaned up
				_, err = d.Move(t.Context(), "orders", "c", home.MoveOptions{})
				require.NoError(t, err)
			}
			p, err := d.Claim(t.Context(), "orders", func(string) string { return "dir" })
			require.NoError(t, err)
			require.Equal(t, []any{"c", true}, []any{p.Registry, p.Exists})
			delete(kept, orders.Config())
			left := w.nodes("a")
			delete(left, orders.Config())
			require.Equal(t, kept, left)
		}
	})
}

// A mover dies when it has closed a job, to whose new home the directory or a third registry led before, though nothing was there.
// The job is on its way, for all who look.
func TestAMoverDiesBeforeItKeepsThePlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, to := range []string{"b", "dir"} {
			w := newWorld(t)
			w.store("a")
			w.put("c", at(to))
			if to != "dir" {
				w.put("dir", at(to))
			}
			w.diesBefore(to)
			require.Empty(t, w.nodes(to))
			p := w.claimed()
			require.Equal(t, []any{to, false, "a"}, []any{p.Registry, p.Exists, p.From})
			w.move(to)
			w.livesOnlyIn(to)
		}
	})
}

// The directory says that the job is in its new home, which was restored from a backup of before. Whoever moves it is told.
func TestARestoredHomeOfWhichTheDirectoryTells(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		w.diesBeforeItArrives("b")
		w.restore("b", nil)
		w.put("dir", at("b"))
		kept := w.nodes("a")
		for _, to := range []string{"a", "b"} {
			moved, err := w.directory(nil).Move(t.Context(), "orders", to, home.MoveOptions{})
			require.ErrorIs(t, err, home.ErrLost)
			require.False(t, moved.Done)
			require.Equal(t, kept, w.nodes("a"))
		}
		_, err := w.directory(nil).Claim(t.Context(), "orders", func(string) string { return "b" })
		require.ErrorIs(t, err, home.ErrLost, "and no process creates it anew")
		w.moveAgain("b")
		w.livesOnlyIn("b")
	})
}
