package home_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// remove removes the job in a registry, as an operator does.
func (w *world) remove(name string) {
	w.t.Helper()
	op, err := operate.New(w.handles[name], operate.By("bert", "test"))
	require.NoError(w.t, err)
	_, err = op.Remove(w.t.Context(), "orders", operate.Options{Force: true})
	require.NoError(w.t, err)
}

// move moves the job or its name.
func (w *world) move(to string) {
	w.t.Helper()
	moved, err := w.directory(nil).Move(w.t.Context(), "orders", to, home.MoveOptions{})
	require.NoError(w.t, err)
	require.True(w.t, moved.Done)
}

// claimed is where a process creates the job that a rule puts into dir.
func (w *world) claimed() home.Place {
	w.t.Helper()
	p, err := w.directory(nil).Claim(w.t.Context(), "orders", func(string) string { return "dir" })
	require.NoError(w.t, err)
	return p
}

// create creates the job in a registry, unless something stands in its place.
func (w *world) create(name string) error {
	text, err := jobtree.EncodeConfig(declared)
	if err == nil {
		_, err = w.handles[name].Commit(w.t.Context(), registry.Txn{
			If: []registry.Condition{registry.Absent(orders.Config())}, Then: []registry.Write{registry.Put(orders.Config(), text)},
		})
	}
	return err
}

// livesAgain asserts that a process which declares the job finds one place for it, and can create it there.
func (w *world) livesAgain(want string) {
	w.t.Helper()
	p := w.claimed()
	if !p.Exists {
		require.NoError(w.t, w.create(p.Registry))
		p = w.claimed()
	}
	require.True(w.t, p.Exists)
	if want != "" {
		require.Equal(w.t, want, p.Registry)
	}
	w.atMostOneUsable()
}

// The name of a job that was removed goes back to where the job has been, and on from there, and the job can be created in
// each of these places. Also if whoever moves the name dies in between.
func TestANameGoesBackToWhereTheJobHasBeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, route := range [][]string{
			{"a", "b", "-", "a"},
			{"dir", "b", "-", "dir"},
			{"a", "b", "-", "a", "c", "a", "b"},
			{"a", "dir", "b", "-", "dir", "a", "dir"},
			{"a", "b", "c", "-", "a"},
			{"a", "b", "c", "-", "b", "dir", "a", "c"},
		} {
			for _, after := range []bool{false, true} {
				for at, over := 0, false; !over; at++ {
					w := newWorld(t)
					w.store(route[0])
					here, count, removed := route[0], 0, false
					over = true
					for _, to := range route[1:] {
						if to == "-" {
							w.remove(here)
							removed = true
							continue
						}
						d := w.directory(func(_ string, _ registry.Txn, do func() error) error {
							if !removed {
								return do()
							}
							count++
							if count == at+1 {
								if after {
									_ = do()
								}
								return errDied
							}
							return do()
						})
						if _, err := d.Move(t.Context(), "orders", to, home.MoveOptions{}); err != nil {
							require.ErrorIs(t, err, errDied)
							over = false
							w.move(to)
						}
						here = to
						p, err := w.directory(nil).Find(t.Context(), "orders")
						require.NoError(t, err, route)
						require.Equal(t, []any{to, !removed, ""}, []any{p.Registry, p.Exists, p.From})
					}
					w.livesAgain(here)
				}
			}
		}
	})
}

// A mover dies when the job has arrived, which is removed then. Its name goes back when the job was moved there again and removed,
// and nothing is left there.
func TestANameGoesBackBehindAMoverThatDied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for to, others := range map[string]string{"b": "dir", "dir": "b"} {
			w := newWorld(t)
			w.store("a")
			died := w.directory(func(name string, _ registry.Txn, do func() error) error {
				if name == "a" && len(w.nodes(to)) > 1 {
					return errDied
				}
				return do()
			})
			_, err := died.Move(t.Context(), "orders", to, home.MoveOptions{})
			require.ErrorIs(t, err, errDied)
			require.Greater(t, len(w.nodes("a")), 1)
			w.remove(to)
			_, err = w.directory(nil).Move(t.Context(), "orders", "a", home.MoveOptions{})
			require.ErrorIs(t, err, home.ErrLost)
			require.Greater(t, len(w.nodes("a")), 1)
			w.moveAgain(to)
			w.remove(to)
			w.move("a")
			require.Empty(t, w.nodes("a"))
			w.livesAgain("a")
			w.move(others)
			w.livesAgain(others)
		}
	})
}

// A mover sleeps before one of its transactions while others complete the move, move the job on to the directory and remove it
// there. What it says when it wakes up keeps nobody from creating the job again.
func TestAMoverSleepsWhileTheJobIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, others := range [][]string{{"b"}, {"b", "dir"}, {"b", "dir", "-", "b"}, {"b", "dir", "-", "a"}, {"b", "a"}, {"b", "c", "dir"}} {
			for at, over := 1, false; !over; at++ {
				w := newWorld(t)
				w.store("a")
				here := "a"
				count := 0
				over = true
				first := w.directory(func(_ string, _ registry.Txn, do func() error) error {
					if count++; count == at {
						over = false
						for _, to := range others {
							if to == "-" {
								w.remove(here)
								continue
							}
							w.move(to)
							here = to
						}
						if p := w.claimed(); p.Exists {
							w.remove(here)
						}
					}
					return do()
				})
				_, err := first.Move(t.Context(), "orders", "b", home.MoveOptions{})
				if err != nil {
					require.True(t, errors.Is(err, home.ErrRefused) || errors.Is(err, home.ErrCalledOff) || errors.Is(err, home.ErrLost), "%v", err)
				}
				w.atMostOneUsable()
				w.livesAgain("")
			}
		}
	})
}

// Several break a circle at once, and one of them sleeps meanwhile: the job that was created since is not lost.
func TestACircleIsBrokenOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, words := range []map[string]string{
			{"dir": "b", "b": "dir"}, {"dir": "a", "a": "b", "b": "a"}, {"dir": "c", "c": "b", "b": "c"}, {"dir": "a", "a": "c", "c": "b", "b": "dir"},
		} {
			for _, to := range []string{"", "a", "c", "dir"} {
				for n, slept := 1, true; slept; n++ {
					slept = false
					w := newWorld(t)
					for name, at := range words {
						w.put(name, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: at}))
					}
					_, err := w.directory(nil).Find(t.Context(), "orders")
					require.ErrorIs(t, err, home.ErrLost, "who looks changes nothing")
					_, err = w.directory(nil).Move(t.Context(), "orders", "a", home.MoveOptions{DryRun: true})
					require.ErrorIs(t, err, home.ErrLost)
					count := 0
					late := w.directory(func(_ string, _ registry.Txn, do func() error) error {
						if count++; count == n {
							slept = true
							w.livesAgain("")
						}
						return do()
					})
					if to == "" {
						_, err = late.Claim(t.Context(), "orders", func(string) string { return "dir" })
						require.NoError(t, err)
					} else if _, err = late.Move(t.Context(), "orders", to, home.MoveOptions{}); err != nil {
						require.True(t, errors.Is(err, home.ErrRefused) || errors.Is(err, home.ErrCalledOff), "%v", err)
					}
					w.atMostOneUsable()
					p := w.claimed()
					require.Equal(t, slept, p.Exists, "what was created is found")
					w.livesAgain("")
				}
			}
		}
	})
}

// slow does something before all that it reads or commits.
type slow struct{ slowReads }

func (s slow) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	s.before()
	return s.slowReads.Commit(ctx, txn)
}

// A circle in which a mover died when its job had arrived is broken, and nothing of the former job is left where it is.
func TestACircleWithRemains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		w.put("b", jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "a", Move: "X", Arriving: true}))
		place, err := w.handles["b"].Get(t.Context(), orders.Config())
		require.NoError(t, err)
		w.put("a", jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "b", Move: "X", Kept: place.Revision, Config: config(t)}))
		w.put("b", at("dir"))
		w.put("dir", at("a"))
		require.Equal(t, "a", w.claimed().Registry)
		require.Empty(t, w.nodes("a"))
		w.livesAgain("a")
	})
}

// Names are moved while processes find and create the job, each of which sleeps at any time. There is never more than one job.
func TestNamesMoveWhileJobsAreCreated(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			random := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			pause := func() {
				mu.Lock()
				d := time.Duration(random.IntN(3)*random.IntN(20)) * time.Millisecond
				mu.Unlock()
				time.Sleep(d)
			}
			d, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
				return slow{slowReads{w.handles[name], pause}}, nil
			})
			require.NoError(t, err)
			for name, at := range []map[string]string{ // where the job has been; it was removed in the last one
				{"dir": "a", "a": "b"}, {"dir": "b", "a": "b"}, {"dir": "a", "a": "c", "c": "b"}, {"a": "dir", "b": "dir"},
			}[seed%4] {
				w.put(name, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: at}))
			}
			var all sync.WaitGroup
			for _, to := range []string{"a", "b"} {
				all.Go(func() {
					pause()
					_, _ = d.Move(t.Context(), "orders", to, home.MoveOptions{})
				})
			}
			for range 3 {
				all.Go(func() {
					pause()
					p, err := d.Claim(t.Context(), "orders", func(string) string { return "dir" })
					if err == nil && !p.Exists && p.From == "" {
						pause()
						_ = w.create(p.Registry)
					}
				})
			}
			all.Wait()
			w.livesAgain("")
		})
	}
}

// A process finds the place of a job and sleeps before one of its reads. Meanwhile the name is moved, and the job is created
// and begins to move to that place. The process does not take the place from it.
func TestAPlaceIsNotTakenFromALiveMove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for dies := range 12 {
			for n, slept := 1, true; slept; n++ {
				slept = false
				w := newWorld(t)
				w.put("dir", at("b"))
				late := w.reading(func(read int) {
					if read != n {
						return
					}
					slept = true
					w.move("a")
					w.store("a")
					count := 0
					_, _ = w.directory(func(_ string, _ registry.Txn, do func() error) error {
						if count++; count > dies {
							return errDied
						}
						return do()
					}).Move(t.Context(), "orders", "b", home.MoveOptions{})
				})
				_, err := late.Claim(t.Context(), "orders", func(string) string { return "dir" })
				require.NoError(t, err)
				if slept {
					w.move("b")
					w.livesOnlyIn("b")
				}
			}
		}
	})
}

// The directory does not go on naming a registry that a job left long ago, when the mover died that was to tell it.
func TestTheDirectoryIsPutRight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put("dir", at("c"))
		w.store("c")
		died := w.directory(func(name string, _ registry.Txn, do func() error) error {
			if name == "dir" {
				return errDied
			}
			return do()
		})
		_, err := died.Move(t.Context(), "orders", "a", home.MoveOptions{})
		require.ErrorIs(t, err, errDied)
		require.Equal(t, at("c"), w.nodes("dir")[orders.Config()])
		w.move("b")
		require.Equal(t, at("b"), w.nodes("dir")[orders.Config()])

		w.put("dir", at("c")) // also when it is there already
		w.move("b")
		require.Equal(t, at("b"), w.nodes("dir")[orders.Config()])
		w.livesOnlyIn("b")
	})
}

// Operators who write to a registry past the federation, while a mover sleeps, change nothing of where the job is.
func TestAMoverSleepsWhileOthersMeddle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := config(t)
		for name, meddle := range map[string]func(op *operate.Operator) error{
			"apply": func(op *operate.Operator) error {
				_, err := op.ChangeSettings(t.Context(), "orders", operate.Settings{Text: text}, operate.Options{Force: true})
				return err
			},
			"files": func(op *operate.Operator) error {
				_, err := op.TakeFiles(t.Context(), "orders", text, operate.Files{Owner: "shop", Version: 1}, operate.Options{})
				return err
			},
			"remove": func(op *operate.Operator) error {
				_, err := op.Remove(t.Context(), "orders", operate.Options{Force: true})
				return err
			},
		} {
			for _, moved := range []bool{false, true} { // by others, while the mover sleeps
				for at, over := 1, false; !over; at++ {
					over = true
					w := newWorld(t)
					w.store("a")
					count, removed := 0, false
					first := w.directory(func(_ string, _ registry.Txn, do func() error) error {
						if count++; count == at {
							over = false
							if moved {
								w.move("b")
							}
							for _, registry := range names {
								node, is := w.nodes(registry)[orders.Config()]
								if !is || name == "remove" && node[:8] != `{"home":` { // it may be removed where it is
									continue
								}
								op, err := operate.New(w.handles[registry], operate.By("bert", "test"))
								require.NoError(t, err)
								removed = meddle(op) == nil && name == "remove" || removed
							}
						}
						return do()
					})
					_, err := first.Move(t.Context(), "orders", "b", home.MoveOptions{})
					if err != nil {
						require.True(t, errors.Is(err, home.ErrRefused) || errors.Is(err, home.ErrCalledOff), "%v", err)
					}
					require.False(t, removed)
					w.atMostOneUsable()
					w.move("b")
					w.livesOnlyIn("b")
				}
			}
		}
	})
}

// A note of a move on a job that is enabled says nothing.
func TestANoteOfAMoveThatWasCalledOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		_, err := w.handles["a"].Commit(t.Context(), registry.Txn{Then: []registry.Write{
			registry.Put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{Moving: &jobtree.Moving{To: "dir", Move: "X"}})),
		}})
		require.NoError(t, err)
		w.move("b")
		w.livesOnlyIn("b")
	})
}

// A caller whose time is over learns that, and not that a registry is away.
func TestTheCallersTimeIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		for opening := range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			d, err := home.New("dir", names, func(ctx context.Context, name string) (home.Store, error) {
				if opening == 1 {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return slowReads{w.handles[name], func() { <-ctx.Done() }}, nil
			})
			require.NoError(t, err)
			_, err = d.Move(ctx, "orders", "b", home.MoveOptions{})
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, home.ErrAway)
		}
	})
}

// The name of a job that is nowhere gets another home, also if the answer to that is lost. If it is not known whether it does,
// nobody is said to have created the job.
func TestALostAnswerToANewHome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		w.move("b")
		w.remove("b")
		w.handles["b"].LoseAnswers(1)
		moved, err := w.directory(nil).Move(t.Context(), "orders", "c", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Done)
		require.Equal(t, "c", w.claimed().Registry)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		w.move("b")
		w.remove("b")
		w.handles["b"].HoldBack(1, time.Hour)
		_, err := w.directory(nil).Move(t.Context(), "orders", "c", home.MoveOptions{})
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.NotErrorIs(t, err, home.ErrRefused)
		require.Empty(t, w.nodes("b"))
	})
}
