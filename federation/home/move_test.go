package home_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// world is four registries, of which dir is the directory.
type world struct {
	t       *testing.T
	servers map[string]*memory.Server
	handles map[string]*memory.Registry
}

var names = []string{"a", "b", "c", "dir"}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, servers: make(map[string]*memory.Server), handles: make(map[string]*memory.Registry)}
	for i, name := range names {
		w.servers[name] = memory.NewServer()
		w.handles[name] = w.servers[name].Open("shop")
		for range 40 * i { // revisions that count from elsewhere
			_, err := w.handles[name].Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/other/node", "")}})
			require.NoError(t, err)
		}
	}
	t.Cleanup(func() {
		for _, h := range w.handles {
			require.NoError(t, h.Close(context.Background()))
		}
	})
	return w
}

// directory is what a process or an operator uses, whose commits go through the gate.
func (w *world) directory(gate func(registry string, txn registry.Txn, do func() error) error) *home.Directory {
	w.t.Helper()
	d, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
		if gate == nil {
			return w.handles[name], nil
		}
		return gated{w.handles[name], name, gate}, nil
	})
	require.NoError(w.t, err)
	return d
}

// reading is a directory that does something before each of its reads, of which the first has the number 1.
func (w *world) reading(before func(n int)) *home.Directory {
	w.t.Helper()
	var reads atomic.Int64 // several at once
	d, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
		return slowReads{w.handles[name], func() { before(int(reads.Add(1))) }}, nil
	})
	require.NoError(w.t, err)
	return d
}

type slowReads struct {
	*memory.Registry
	before func()
}

func (s slowReads) Get(ctx context.Context, path string) (registry.Node, error) {
	s.before()
	return s.Registry.Get(ctx, path)
}

func (s slowReads) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	s.before()
	return s.Registry.List(ctx, path)
}

type gated struct {
	*memory.Registry
	name string
	gate func(registry string, txn registry.Txn, do func() error) error
}

func (g gated) Commit(ctx context.Context, txn registry.Txn) (r registry.Revision, err error) {
	err = g.gate(g.name, txn, func() error {
		r, err = g.Registry.Commit(ctx, txn)
		return err
	})
	return r, err
}

var orders = jobtree.For("orders")

var declared = job.Config{Name: "orders", Cron: "@every 10s", ShardingTotalCount: 3, JobParameter: "geheim"}

func config(t *testing.T) string {
	t.Helper()
	text, err := jobtree.EncodeConfig(declared)
	require.NoError(t, err)
	return text
}

// store puts a job that has run into a registry.
func (w *world) store(name string) {
	w.t.Helper()
	when := time.Now().UTC().Add(-time.Minute).Truncate(10 * time.Second)
	ran := jobtree.Record{
		State: jobtree.ItemIdle, LastFire: when, Trigger: 1000, Counts: jobtree.Counts{Success: 7},
		Current: &jobtree.Execution{Instance: "10.0.0.1@-@1", Session: 5, Source: job.Scheduled, Fire: when, Token: 30, Base: 2, Begin: when, End: when, Outcome: jobtree.Success},
	}
	waits := ran
	waits.State = jobtree.ItemWaiting
	lost := *ran.Current
	lost.Outcome, lost.Failover = jobtree.Lost, true
	waits.Current = &lost
	_, err := w.handles[name].Commit(w.t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(orders.Config(), config(w.t)),
		registry.Put(orders.Tokens(), jobtree.EncodeTokens(jobtree.Tokens{Base: 100})),
		registry.Put(orders.ItemRecord(0), jobtree.EncodeRecord(ran)),
		registry.Put(orders.ItemInstance(0), "10.0.0.1@-@1"),
		registry.Put(orders.ItemRecord(1), jobtree.EncodeRecord(waits)),
		registry.Put(orders.FailoverItem(1), ""),
		registry.Put(orders.ItemDisabled(2), ""),
		registry.Put(orders.Offset(0), "page 7"),
		registry.Put(orders.Server("10.0.0.7"), "DISABLED"),
		registry.Put(orders.ItemMisfire(0), jobtree.EncodeMisfire(jobtree.Misfire{Fires: []time.Time{when.Add(10 * time.Second)}})),
		registry.Put(orders.Epoch(), `{}`),
	}})
	require.NoError(w.t, err)
}

// nodes is what a registry has of the job.
func (w *world) nodes(name string) map[string]string {
	w.t.Helper()
	all, _, err := w.handles[name].List(w.t.Context(), orders.Root())
	require.NoError(w.t, err)
	nodes := make(map[string]string)
	for _, n := range all {
		nodes[n.Path] = n.Value
	}
	return nodes
}

// livesOnlyIn asserts that one registry has all of the job, and the others say where it is, if anything.
func (w *world) livesOnlyIn(home string) {
	w.t.Helper()
	for _, name := range names {
		nodes := w.nodes(name)
		if name != home {
			want := map[string]string{orders.Config(): nodes[orders.Config()]}
			if len(nodes) > 0 {
				require.True(w.t, strings.HasPrefix(nodes[orders.Config()], `{"home":`), "%s: %v", name, nodes)
				require.Equal(w.t, want, nodes, name)
			}
			continue
		}
		require.Equal(w.t, config(w.t), nodes[orders.Config()])
		require.Equal(w.t, "page 7", nodes[orders.Offset(0)])
		require.Equal(w.t, "DISABLED", nodes[orders.Server("10.0.0.7")])
		require.Contains(w.t, nodes, orders.ItemDisabled(2))
		require.Contains(w.t, nodes, orders.FailoverItem(1))
		operated, err := jobtree.DecodeOperated(registry.Node{Value: nodes[orders.Operated()]})
		require.NoError(w.t, err)
		require.Nil(w.t, operated.Moving)
		record, err := jobtree.DecodeRecord(registry.Node{Value: nodes[orders.ItemRecord(0)]})
		require.NoError(w.t, err)
		require.Equal(w.t, int64(7), record.Counts.Success)
		require.Equal(w.t, int64(32), record.Current.Base+record.Current.Token, "the token that the code was given")
		require.Zero(w.t, record.Trigger)
	}
}

// tokens returns where the job's tokens start in a registry.
func (w *world) tokens(name string) int64 {
	w.t.Helper()
	tokens, err := jobtree.DecodeTokens(registry.Node{Value: w.nodes(name)[orders.Tokens()]})
	require.NoError(w.t, err)
	return tokens.Base
}

func TestAJobMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, route := range [][]string{{"a", "b"}, {"a", "dir"}, {"dir", "a"}, {"a", "b", "a"}, {"dir", "a", "b", "dir"}, {"b", "a", "b", "a"}} {
			w := newWorld(t)
			d := w.directory(nil)
			w.store(route[0])
			for i, to := range route[1:] {
				from := route[i]
				_, newest, err := w.handles[from].List(t.Context(), "/")
				require.NoError(t, err)
				granted := w.tokens(from) + int64(newest)
				var steps []string
				moved, err := d.Move(t.Context(), "orders", to, home.MoveOptions{Who: "anna", Progress: func(step string) { steps = append(steps, step) }})
				require.NoError(t, err, route)
				require.True(t, moved.Done)
				require.Equal(t, from, moved.From)
				require.NotEmpty(t, steps)
				w.livesOnlyIn(to)
				require.GreaterOrEqual(t, w.tokens(to), granted)
				p, err := d.Find(t.Context(), "orders")
				require.NoError(t, err)
				require.Equal(t, []any{to, true, ""}, []any{p.Registry, p.Exists, p.From})
				again, err := d.Move(t.Context(), "orders", to, home.MoveOptions{})
				require.NoError(t, err)
				require.Equal(t, home.Moved{Job: "orders", To: to, Done: true}, again)
			}
		}
	})
}

var errDied = errors.New("the mover died")

// diesBefore moves the job until the mover dies, as it is about to write to its new home.
func (w *world) diesBefore(to string) {
	w.t.Helper()
	died := w.directory(func(name string, txn registry.Txn, do func() error) error {
		if name == to && !tries(txn) {
			return errDied
		}
		return do()
	})
	_, err := died.Move(w.t.Context(), "orders", to, home.MoveOptions{})
	require.ErrorIs(w.t, err, errDied)
}

// A mover dies before or after each of its transactions. Whoever goes on completes the move, and the outcome is the same.
func TestAMoverDiesAnywhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, route := range [][]string{{"a", "b"}, {"a", "dir"}, {"dir", "a"}} {
			for _, after := range []bool{false, true} {
				for at, over := 0, false; !over; at++ {
					w := newWorld(t)
					w.store(route[0])
					count := 0
					first := w.directory(func(_ string, _ registry.Txn, do func() error) error {
						count++
						switch {
						case count <= at:
							return do()
						case after && count == at+1:
							_ = do()
						}
						return errDied
					})
					_, err := first.Move(t.Context(), "orders", route[1], home.MoveOptions{})
					over = err == nil
					if !over {
						require.ErrorIs(t, err, errDied)
						p, err := w.directory(nil).Find(t.Context(), "orders")
						require.NoError(t, err)
						require.Contains(t, route, p.Registry)
						w.atMostOneUsable()
					}
					moved, err := w.directory(nil).Move(t.Context(), "orders", route[1], home.MoveOptions{})
					require.NoError(t, err)
					require.True(t, moved.Done)
					w.livesOnlyIn(route[1])
				}
			}
		}
	})
}

// atMostOneUsable asserts that no two registries have a configuration by which something could run.
func (w *world) atMostOneUsable() {
	w.t.Helper()
	var usable []string
	for _, name := range names {
		text := w.nodes(name)[orders.Config()]
		if cfg, err := jobtree.DecodeConfig(registry.Node{Value: text}); text != "" && err == nil && !cfg.Disabled {
			usable = append(usable, name)
		}
	}
	require.LessOrEqual(w.t, len(usable), 1, usable)
}

// A mover sleeps before one of its transactions while others complete the move, and move the job on. When it wakes up, it
// changes nothing any more.
func TestAMoverSleepsAnywhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, others := range [][]string{{"b"}, {"b", "a"}, {"b", "dir"}, {"b", "a", "b"}, {"b", "dir", "a"}, {"b", "a", "dir", "a", "b"}} {
			for at, over := 1, false; !over; at++ {
				w := newWorld(t)
				w.store("a")
				count, asleep, wake := 0, make(chan struct{}), make(chan struct{})
				first := w.directory(func(_ string, _ registry.Txn, do func() error) error {
					if count++; count == at {
						close(asleep)
						<-wake
					}
					return do()
				})
				result := make(chan error, 1)
				go func() {
					_, err := first.Move(t.Context(), "orders", "b", home.MoveOptions{})
					result <- err
				}()
				select {
				case <-asleep:
					for _, to := range others {
						_, err := w.directory(nil).Move(t.Context(), "orders", to, home.MoveOptions{})
						require.NoError(t, err)
					}
					last := others[len(others)-1]
					before := w.tokens(last)
					close(wake)
					err := <-result
					if err != nil {
						require.True(t, errors.Is(err, home.ErrRefused) || errors.Is(err, home.ErrCalledOff), "%v", err)
					}
					w.atMostOneUsable()
					p, err := w.directory(nil).Find(t.Context(), "orders")
					require.NoError(t, err)
					require.True(t, p.Exists, "%v, asleep before %d", others, at)
					w.livesOnlyIn(p.Registry)
					require.GreaterOrEqual(t, w.tokens(p.Registry), before)
				case err := <-result:
					require.NoError(t, err)
					over = true
				}
			}
		}
	})
}

// Two movers at once with one target help each other; with two targets, one of them is refused.
func TestTwoMoversAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, targets := range [][2]string{{"b", "b"}, {"b", "dir"}} {
			for seed := range 30 {
				w := newWorld(t)
				w.store("a")
				results := make(chan error, 2)
				for i, to := range targets {
					d := w.directory(func(_ string, _ registry.Txn, do func() error) error {
						time.Sleep(time.Duration((seed*7+i*13)%5) * time.Millisecond)
						return do()
					})
					go func() {
						_, err := d.Move(t.Context(), "orders", to, home.MoveOptions{})
						results <- err
					}()
				}
				one, two := <-results, <-results
				if targets[0] == targets[1] {
					require.NoError(t, errors.Join(one, two))
				} else {
					require.True(t, one == nil || two == nil, "%v, %v", one, two)
				}
				p, err := w.directory(nil).Find(t.Context(), "orders")
				require.NoError(t, err)
				require.True(t, p.Exists)
				w.livesOnlyIn(p.Registry)
			}
		}
	})
}

// A mover sleeps right before one of its reads, whichever it is, and meanwhile another one completes the move.
func TestAMoverThatReadsLate(t *testing.T) {
	t.Parallel()
	slept := true
	for n := 0; slept; n++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.store("a")
			slept = false
			late := w.reading(func(read int) {
				if read == n+1 {
					slept = true
					moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
					require.NoError(t, err)
					require.True(t, moved.Done)
				}
			})
			moved, err := late.Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.NoError(t, err, "read %d", n)
			require.True(t, moved.Done)
			w.livesOnlyIn("b")
		})
	}
}

// Answers are lost all the way.
func TestAMoveWithoutAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for late := range 2 {
			w := newWorld(t)
			w.store("a")
			for _, name := range names {
				if late == 1 {
					w.handles[name].HoldBack(100, time.Second)
				} else {
					w.handles[name].LoseAnswers(100)
				}
			}
			moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
			for _, name := range names {
				w.handles[name].Calm()
			}
			if err != nil { // what was created without an answer is not created twice
				require.ErrorIs(t, err, registry.ErrUnknownOutcome)
				moved, err = w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
			}
			require.NoError(t, err)
			require.True(t, moved.Done)
			time.Sleep(time.Minute)
			w.livesOnlyIn("b")
		}
	})
}

// Fires that come while the job stands are noted for every enabled item.
func TestFiresWhileAJobMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		began := time.Now().UTC()
		w.diesBefore("b")
		time.Sleep(35 * time.Second)
		moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Resumed)
		// One was noted before, and four may have been on time for a process whose clock is behind when the job stopped. Five are to
		// come. The last item is disabled.
		for item, want := range map[int]int{0: 13, 1: 12, 2: 0} {
			missed, err := jobtree.DecodeMisfire(registry.Node{Value: w.nodes("b")[orders.ItemMisfire(item)]})
			require.NoError(t, err)
			require.Len(t, missed.Fires, want, "item %d", item)
			after := slices.DeleteFunc(missed.Fires, func(fire time.Time) bool { return !fire.After(began) })
			require.Len(t, after, min(want, 8))
		}
	})
}

// An item has a note of what it missed under another cron. What comes while the job stands is not taken for that.
func TestFiresWhileAJobMovesBesideThoseOfAnotherCron(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		before := time.Now().UTC().Truncate(time.Hour)
		text := jobtree.EncodeMisfire(jobtree.Misfire{Fires: []time.Time{before}, Times: "another"})
		_, err := w.handles["a"].Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.ItemMisfire(0), text)}})
		require.NoError(t, err)
		w.diesBefore("c")
		time.Sleep(35 * time.Second)
		w.move("c")
		missed, err := jobtree.DecodeMisfire(registry.Node{Value: w.nodes("c")[orders.ItemMisfire(0)]})
		require.NoError(t, err)
		require.Greater(t, len(missed.Fires), 5)
		require.Empty(t, missed.Times)
	})
}

// Nobody makes up the fires of a job whose executions are not recorded, so they are not noted: they would run one day when they
// were recorded, though they have run.
func TestFiresOfAnUnmonitoredJobAreNotNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		noted := w.nodes("a")[orders.ItemMisfire(0)] // when they were recorded
		unmonitored := declared
		unmonitored.Unmonitored = true
		text, err := jobtree.EncodeConfig(unmonitored)
		require.NoError(t, err)
		_, err = w.handles["a"].Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.Config(), text)}})
		require.NoError(t, err)
		w.diesBefore("b")
		time.Sleep(35 * time.Second)
		moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Resumed)
		require.Equal(t, noted, w.nodes("b")[orders.ItemMisfire(0)])
		require.NotContains(t, w.nodes("b"), orders.ItemMisfire(1))
	})
}

// However long it takes to copy a job, of each item the fires are noted that come until it is taken up.
func TestFiresWhileAJobIsCopiedSlowly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		const items = 200
		many := declared
		many.ShardingTotalCount = items
		text, err := jobtree.EncodeConfig(many)
		require.NoError(t, err)
		schedule, err := many.Schedule()
		require.NoError(t, err)
		writes := []registry.Write{registry.Put(orders.Config(), text)}
		for n := 3; n < items; n++ {
			writes = append(writes, registry.Put(orders.ItemRecord(n), w.nodes("a")[orders.ItemRecord(0)]))
		}
		for part := range slices.Chunk(writes, 100) {
			_, err := w.handles["a"].Commit(t.Context(), registry.Txn{Then: part})
			require.NoError(t, err)
		}
		began := time.Now().UTC()
		slow := w.directory(func(name string, _ registry.Txn, do func() error) error {
			if name == "b" {
				time.Sleep(6 * time.Second)
			}
			return do()
		})
		_, err = slow.Move(t.Context(), "orders", "b", home.MoveOptions{})
		require.NoError(t, err)
		takenOver := time.Now().UTC().Add(10 * time.Second)
		require.Greater(t, takenOver.Sub(began), 40*time.Second, "or nothing is slow here")
		nodes := w.nodes("b")
		for n := range items {
			missed, err := jobtree.DecodeMisfire(registry.Node{Value: nodes[orders.ItemMisfire(n)]})
			require.True(t, n == 2 || err == nil, "%v", err)
			for fire := range cronexpr.Between(schedule, began, takenOver) {
				require.True(t, n == 2 || slices.ContainsFunc(missed.Fires, fire.Equal), "the fire of %v of item %d, of which are noted: %v", fire, n, missed.Fires)
			}
		}
	})
}

// Who has had enough need not wait until all fires of years are found.
func TestNobodyWaitsForTheFiresOfYears(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		w.diesBefore("b")
		closed, is := jobtree.DecodeElsewhere(registry.Node{Value: w.nodes("a")[orders.Config()]})
		require.True(t, is)
		closed.Since = closed.Since.Add(-100 * 365 * 24 * time.Hour)
		w.put("a", jobtree.EncodeElsewhere(closed))
		ctx, cancel := context.WithCancel(t.Context())
		_, err := w.directory(nil).Move(ctx, "orders", "b", home.MoveOptions{Progress: func(string) { cancel() }})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// marks has a registry say how far elasticron migrate is with the job.
func (w *world) marks(name, mark string) {
	w.t.Helper()
	_, err := w.handles[name].Commit(w.t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.Move(), mark)}})
	require.NoError(w.t, err)
}

// A job that elasticron migrate moves, or has moved away, stays where it is: what that keeps in its tree would not go with it.
func TestAJobThatIsMigratedDoesNotMove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for mark, text := range map[string]string{
			`{"id":"M","state":"prepared"}`:             "complete and confirm that",
			`{"id":"M","state":"drained"}`:              "complete and confirm that",
			`{"id":"M","state":"moved"}`:                "complete and confirm that",
			`{"id":"M","state":"returning"}`:            "complete and confirm that",
			`{"id":"M","state":"confirming"}`:           "complete and confirm that",
			`{"id":"M","state":"postponed"}`:            "complete and confirm that",
			`{"id":"M","state":"confirmed"}`:            "does not run here",
			`{"id":"M","state":"returned","away":true}`: "does not run here",
			`{"id":"M","state":"returned"}`:             "",
			"?":                                         "cannot be read",
		} {
			w := newWorld(t)
			w.store("a")
			w.marks("a", mark)
			before := fmt.Sprint(w.nodes("a"), w.nodes("b"), w.nodes("dir"))
			_, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
			if text == "" {
				require.NoError(t, err, mark)
				w.livesOnlyIn("b")
				continue
			}
			require.ErrorIs(t, err, home.ErrRefused, mark)
			require.ErrorContains(t, err, text, mark)
			require.Equal(t, before, fmt.Sprint(w.nodes("a"), w.nodes("b"), w.nodes("dir")), mark)
		}
	})
}

// elasticron migrate begins just before the job is stopped, or closed: that is noticed, and the mark stays.
func TestAJobIsMigratedWhileItMoves(t *testing.T) {
	t.Parallel()
	for commit := 1; commit <= 2; commit++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.store("a")
			n := 0
			d := w.directory(func(_ string, txn registry.Txn, do func() error) error {
				if tries(txn) {
					return do()
				}
				if n++; n == commit {
					w.marks("a", `{"id":"M","state":"prepared"}`)
				}
				return do()
			})
			_, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.ErrorIs(t, err, home.ErrRefused)
			require.Contains(t, w.nodes("a"), orders.Move())
			require.Contains(t, w.nodes("a"), orders.ItemRecord(0))
			require.Empty(t, w.nodes("b"))
		})
	}
}

func TestMovesThatAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		put := func(pairs ...string) func(w *world) {
			return func(w *world) {
				var writes []registry.Write
				for pair := range slices.Chunk(pairs, 2) {
					writes = append(writes, registry.Put(pair[0], pair[1]))
				}
				_, err := w.handles["a"].Commit(t.Context(), registry.Txn{Then: writes})
				require.NoError(t, err)
			}
		}
		disabled, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "@every 10s", ShardingTotalCount: 3, Disabled: true})
		require.NoError(t, err)
		for name, test := range map[string]struct {
			before func(w *world)
			to     string
			want   error
			text   string
		}{
			"an unknown registry":            {func(*world) {}, "z", home.ErrInvalidOption, `there is no registry "z", but a, b, c, dir`},
			"the target has one":             {func(w *world) { w.store("b") }, "b", home.ErrTwice, "a, b"},
			"the configuration":              {put(orders.Config(), "{}"), "b", home.ErrRefused, "cannot be read"},
			"a record":                       {put(orders.ItemRecord(0), "{}"), "b", home.ErrRefused, "cannot be read"},
			"it is being removed":            {put(orders.Operated(), `{"removing":"yes"}`), "b", home.ErrRefused, "being removed"},
			"it leaves where it is asked to": {put(orders.Operated(), `{"moving":{"to":"dir","move":"x"}}`, orders.Config(), disabled), "a", home.ErrRefused, "moved to dir"},
			"it moves to another target":     {put(orders.Operated(), `{"moving":{"to":"dir","move":"x"}}`, orders.Config(), disabled), "b", home.ErrRefused, "moved to dir"},
		} {
			w := newWorld(t)
			w.store("a")
			test.before(w)
			before := fmt.Sprint(w.nodes("a"), w.nodes("b"), w.nodes("dir"))
			_, err := w.directory(nil).Move(t.Context(), "orders", test.to, home.MoveOptions{})
			require.ErrorIs(t, err, test.want, name)
			require.ErrorContains(t, err, test.text, name)
			require.Equal(t, before, fmt.Sprint(w.nodes("a"), w.nodes("b"), w.nodes("dir")))
		}
	})
}

// What runs is waited for. Until the job is closed, an operator can call the move off by enabling it.
func TestAMoveWaitsAndIsCalledOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, off := range []bool{false, true} {
			w := newWorld(t)
			w.store("a")
			w.runs("a", 2)
			short, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := w.directory(nil).Move(short, "orders", "b", home.MoveOptions{})
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "it is stopped in a, and not closed: call it again to go on, or enable the job to call it off: items [2] still run")
			result := make(chan error, 1)
			go func() {
				_, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{})
				result <- err
			}()
			synctest.Wait()
			if off {
				op, err := operate.New(w.handles["a"], operate.By("bert", "test"))
				require.NoError(t, err)
				_, err = op.EnableJob(t.Context(), "orders", operate.Options{})
				require.NoError(t, err)
				require.ErrorIs(t, <-result, home.ErrCalledOff)
				require.Equal(t, config(t), w.nodes("a")[orders.Config()])
				require.Empty(t, w.nodes("b"))
				continue
			}
			_, err = w.handles["a"].Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(orders.ItemRunning(2))}})
			require.NoError(t, err)
			require.NoError(t, <-result)
			w.livesOnlyIn("b")
		}
	})
}

// A call that ends before any of its transactions, or without hearing of it, says how far the job is, and how to go on.
func TestACallThatEndsSaysHowFarTheJobIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said []string
		for at, over := 1, false; !over; at++ {
			w := newWorld(t)
			w.store("a")
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			_, err := w.directory(func(_ string, txn registry.Txn, do func() error) error {
				if tries(txn) {
					return do()
				}
				if n++; n == at {
					cancel()
					return registry.ErrUnknownOutcome
				}
				return do()
			}).Move(ctx, "orders", "b", home.MoveOptions{})
			if over = err == nil; !over {
				require.ErrorContains(t, err, "call it again to go on")
				for _, text := range []string{"may be stopped in a", "is stopped in a, and not closed", "is stopped in a, and may be closed", "has left a"} {
					if strings.Contains(err.Error(), text) && !slices.Contains(said, text) {
						said = append(said, text)
					}
				}
			}
			cancel()
		}
		require.Equal(t, []string{"may be stopped in a", "is stopped in a, and may be closed", "has left a"}, said)
	})
}

// A new home that does not answer holds the move up before the job is stopped, and the mover has said what it waits for.
func TestAMoveSaysWhatItTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var said []string
		_, err := w.directory(func(_ string, txn registry.Txn, do func() error) error {
			if tries(txn) {
				<-ctx.Done()
				return registry.ErrUnknownOutcome
			}
			return do()
		}).Move(ctx, "orders", "b", home.MoveOptions{Progress: func(step string) { said = append(said, step) }})
		require.Error(t, err)
		require.Equal(t, []string{"trying whether b takes it"}, said)
	})
}

// A mover dies when the job has arrived, and it is removed there. Nobody can tell that from a new home that was restored, so
// what it came from keeps all of it, until somebody moves it there again.
func TestRemainsOfAJobThatWasRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("b")
		settles := false
		_, err := w.directory(func(name string, txn registry.Txn, do func() error) error {
			if settles && name != "c" {
				return errDied
			}
			settles = settles || name == "c" && !tries(txn) && slices.ContainsFunc(txn.Then, func(x registry.Write) bool { return x.Path == orders.Tokens() })
			return do()
		}).Move(t.Context(), "orders", "c", home.MoveOptions{})
		require.ErrorIs(t, err, errDied)
		require.NotEmpty(t, w.nodes("b")[orders.ItemRecord(0)])
		w.remove("c")
		kept := w.nodes("b")
		_, err = w.directory(nil).Move(t.Context(), "orders", "a", home.MoveOptions{})
		require.ErrorIs(t, err, home.ErrLost)
		require.Equal(t, kept, w.nodes("b"))
		w.moveAgain("c")
		w.remove("c")
		w.move("a")
		require.Len(t, w.nodes("b"), 1, "where it went")
		require.NoError(t, w.create("a"))
	})
}

// A job that was stopped on its way elsewhere does not count as one that is in its home, until that move is called off.
func TestAJobIsAskedBackOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		w.runs("a", 2)
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := w.directory(nil).Move(short, "orders", "b", home.MoveOptions{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		for _, dry := range []bool{true, false} {
			moved, err := w.directory(nil).Move(t.Context(), "orders", "a", home.MoveOptions{DryRun: dry})
			require.ErrorIs(t, err, home.ErrRefused)
			require.ErrorContains(t, err, "it is being moved to b: complete that first, or enable the job to call it off")
			require.False(t, moved.Done)
		}
		op, err := operate.New(w.handles["a"], operate.By("bert", "test"))
		require.NoError(t, err)
		_, err = op.EnableJob(t.Context(), "orders", operate.Options{})
		require.NoError(t, err)
		moved, err := w.directory(nil).Move(t.Context(), "orders", "a", home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Done)
	})
}

// tries tells a transaction that only asks whether it could be done.
func tries(txn registry.Txn) bool {
	return slices.Contains(txn.If, registry.Absent(orders.Config())) && slices.Contains(txn.If, registry.Present(orders.Config()))
}

// A target or a directory that this user cannot write, or that is full, is found before the job is stopped, and once more
// before it is closed, as long as the move can be called off. Trying changes nothing, not even the revision of a node.
func TestWhatCannotBeWrittenIsFoundFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, closed := range []string{"b", "dir"} {
			for _, why := range []error{registry.ErrDenied, registry.ErrNoSpace} {
				for _, later := range []bool{false, true} {
					w := newWorld(t)
					w.store("a")
					stopped := false
					d := w.directory(func(name string, _ registry.Txn, do func() error) error {
						if name == closed && (stopped || !later) {
							return why
						}
						stopped = stopped || name == "a"
						return do()
					})
					before := w.all("a", "b", "dir")
					if later {
						_, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{})
						require.ErrorIs(t, err, why)
						require.NotErrorIs(t, err, home.ErrRefused, "it was stopped")
						require.ErrorContains(t, err, "it is stopped in a, and not closed: call it again to go on, or enable the job to call it off: "+closed+" cannot be written")
						op, err := operate.New(w.handles["a"], operate.By("bert", "test"))
						require.NoError(t, err)
						_, err = op.EnableJob(t.Context(), "orders", operate.Options{})
						require.NoError(t, err)
						require.Equal(t, config(t), w.nodes("a")[orders.Config()])
						require.Equal(t, before["b"], w.all("b")["b"])
						require.Equal(t, before["dir"], w.all("dir")["dir"])
					} else {
						for _, dry := range []bool{true, false} {
							_, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{DryRun: dry})
							require.ErrorIs(t, err, why)
							require.ErrorIs(t, err, home.ErrRefused)
							require.ErrorContains(t, err, closed+" cannot be written")
							require.Equal(t, before, w.all("a", "b", "dir"))
						}
						_, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{DryRun: true})
						require.NoError(t, err)
						require.Equal(t, before, w.all("a", "b", "dir"))
					}
					w.move("b")
					w.livesOnlyIn("b")
				}
			}
		}
	})
}

// all returns the nodes of registries, with their revisions.
func (w *world) all(of ...string) map[string][]registry.Node {
	w.t.Helper()
	all := make(map[string][]registry.Node)
	for _, name := range of {
		nodes, _, err := w.handles[name].List(w.t.Context(), registry.Root)
		require.NoError(w.t, err)
		all[name] = nodes
	}
	return all
}

// runs has an item run in a session that lives.
func (w *world) runs(name string, item int) {
	w.t.Helper()
	session, err := w.handles[name].Session(w.t.Context())
	require.NoError(w.t, err)
	_, err = w.handles[name].Commit(w.t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned(orders.ItemRunning(item), "x", session)}})
	require.NoError(w.t, err)
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		before := fmt.Sprint(w.nodes("a"), w.nodes("b"), w.nodes("dir"))
		var steps []string
		moved, err := w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{DryRun: true, Progress: func(step string) { steps = append(steps, step) }})
		require.NoError(t, err)
		require.False(t, moved.Done)
		require.Len(t, steps, 3)
		require.Equal(t, before, fmt.Sprint(w.nodes("a"), w.nodes("b"), w.nodes("dir")))
	})
}

// A mover that stands still before its last commit, as in a laptop that is closed, notes what came meanwhile, whether or not it
// hears of that commit. What has begun in the new home is left alone.
func TestAMoverStandsBeforeItsLastCommit(t *testing.T) {
	t.Parallel()
	for _, unheard := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.store("a")
			began := time.Now().UTC()
			var woke time.Time
			var ran string
			d := w.directory(func(name string, txn registry.Txn, do func() error) error {
				if name != "b" || !woke.IsZero() || tries(txn) || !slices.ContainsFunc(txn.Then, func(x registry.Write) bool { return x.Path == orders.Tokens() }) {
					return do()
				}
				time.Sleep(time.Minute)
				woke = time.Now().UTC()
				if err := do(); err != nil {
					return err
				}
				record, err := jobtree.DecodeRecord(registry.Node{Value: w.nodes("b")[orders.ItemRecord(1)]})
				require.NoError(t, err)
				record.LastFire = woke.Truncate(10 * time.Second)
				ran = jobtree.EncodeRecord(record)
				_, err = w.handles["b"].Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.ItemRecord(1), ran), registry.Delete(orders.ItemMisfire(1))}})
				require.NoError(t, err)
				if unheard {
					return registry.ErrUnknownOutcome
				}
				return nil
			})
			moved, err := d.Move(t.Context(), "orders", "b", home.MoveOptions{})
			require.NoError(t, err)
			require.True(t, moved.Done)
			missed, err := jobtree.DecodeMisfire(registry.Node{Value: w.nodes("b")[orders.ItemMisfire(0)]})
			require.NoError(t, err)
			for fire := began.Truncate(10 * time.Second).Add(10 * time.Second); !fire.After(woke.Add(10 * time.Second)); fire = fire.Add(10 * time.Second) {
				require.Contains(t, missed.Fires, fire)
			}
			require.NotContains(t, missed.Fires, woke.Truncate(10*time.Second).Add(50*time.Second))
			require.Equal(t, ran, w.nodes("b")[orders.ItemRecord(1)])
			require.NotContains(t, w.nodes("b"), orders.ItemMisfire(1))
			require.NotContains(t, w.nodes("b"), orders.ItemMisfire(2), "it is disabled")
		})
	}
}

// What was asked for in the former home is not done once more in the new one, whose revisions count from elsewhere, if the job
// does not know the operation any more. What is asked for there can be repeated as everywhere.
func TestAnOperationIsRepeatedAfterAMove(t *testing.T) {
	t.Parallel()
	for _, route := range [][]string{{"c", "a"}, {"a", "c"}, {"c", "a", "c"}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.store(route[0])
			at := func(name string) *operate.Operator {
				op, err := operate.New(w.handles[name], operate.By("bert", "test"))
				require.NoError(t, err)
				return op
			}
			others := func(name string) {
				for range 9 {
					_, err := at(name).EnableItem(t.Context(), "orders", 2, operate.Options{})
					require.NoError(t, err)
					_, err = at(name).DisableItem(t.Context(), "orders", 2, operate.Options{})
					require.NoError(t, err)
				}
			}
			r, err := at(route[0]).DisableItem(t.Context(), "orders", 1, operate.Options{})
			require.NoError(t, err)
			_, err = at(route[0]).EnableItem(t.Context(), "orders", 1, operate.Options{})
			require.NoError(t, err)
			others(route[0])
			again := operate.Options{ID: r.ID, Since: r.State}
			for _, to := range route[1:] {
				_, err := w.directory(nil).Move(t.Context(), "orders", to, home.MoveOptions{})
				require.NoError(t, err)
				_, err = at(to).DisableItem(t.Context(), "orders", 1, again)
				cause, _ := operate.IsRefused(err)
				require.Equal(t, operate.CauseOvertaken, cause, "%v", err)

				shown, err := at(to).DisableItem(t.Context(), "orders", 1, operate.Options{DryRun: true})
				require.NoError(t, err)
				_, err = at(to).DisableItem(t.Context(), "orders", 1, operate.Options{ID: "never" + to, Since: shown.State})
				require.NoError(t, err, "it was not done before")
				_, err = at(to).EnableItem(t.Context(), "orders", 1, operate.Options{})
				require.NoError(t, err)
				others(to)
				_, err = at(to).DisableItem(t.Context(), "orders", 1, operate.Options{ID: "never" + to, Since: shown.State})
				cause, _ = operate.IsRefused(err)
				require.Equal(t, operate.CauseOvertaken, cause, "%v", err)
			}
		})
	}
}

// What a move has written itself is nothing that anybody changed from outside, in however many transactions it came.
func TestAMoveIsNoChangeFromOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store("a")
	op, err := operate.New(w.handles["a"], operate.By("anna", "test"))
	require.NoError(t, err)
	many := declared
	many.ShardingTotalCount = 200
	text, err := jobtree.EncodeConfig(many)
	require.NoError(t, err)
	_, err = op.ChangeSettings(t.Context(), "orders", operate.Settings{Text: text}, operate.Options{})
	require.NoError(t, err)
	_, err = op.DisableServer(t.Context(), "orders", "10.0.0.8", operate.Options{Force: true})
	require.NoError(t, err)
	for item := range many.ShardingTotalCount {
		if item != 2 { // which is disabled
			_, err = op.DisableItem(t.Context(), "orders", item, operate.Options{Force: true})
			require.NoError(t, err)
		}
	}
	_, err = w.directory(nil).Move(t.Context(), "orders", "b", home.MoveOptions{Who: "anna"})
	require.NoError(t, err)
	list, revision, err := w.handles["b"].List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Greater(t, len(list), many.ShardingTotalCount)
	require.Empty(t, operate.Outside(registry.NewSnapshot(revision, list)))
}

// stepping is a directory that does something before each of its requests, of which the first has the number 1.
func (w *world) stepping(before func(n int)) *home.Directory {
	w.t.Helper()
	var requests atomic.Int64 // several at once
	d, err := home.New("dir", names, func(_ context.Context, name string) (home.Store, error) {
		return slow{slowReads{w.handles[name], func() { before(int(requests.Add(1))) }}}, nil
	})
	require.NoError(w.t, err)
	return d
}

// A mover sleeps right before one of its requests, whichever it is, while another one completes the move, and others move the
// job on. What it does when it wakes up leaves the job to be found where it is, and it does not say that the job is elsewhere.
func TestAMoverSleepsBeforeARequest(t *testing.T) {
	t.Parallel()
	for _, route := range [][3]string{{"a", "b", "dir"}, {"c", "dir", "a"}, {"dir", "a", "b"}} {
		from, to, third := route[0], route[1], route[2]
		for _, on := range [][]string{nil, {from}, {third}, {from, to, "b"}} {
			t.Run(fmt.Sprint(from, to, on), func(t *testing.T) {
				t.Parallel()
				slept := true
				for n := 1; slept; n++ {
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t)
						w.store(from)
						slept = false
						late := w.stepping(func(request int) {
							if request == n {
								slept = true
								for _, next := range append([]string{to}, on...) {
									w.move(next)
								}
							}
						})
						moved, err := late.Move(t.Context(), "orders", to, home.MoveOptions{})
						if err != nil {
							require.True(t, errors.Is(err, home.ErrRefused) || errors.Is(err, home.ErrCalledOff), "request %d: %v", n, err)
						}
						w.atMostOneUsable()
						p, found := w.directory(nil).Find(t.Context(), "orders")
						require.NoError(t, found, "request %d", n)
						require.True(t, p.Exists, "request %d: %v", n, p)
						require.Equal(t, err == nil && moved.Done, p.Registry == to && err == nil, "request %d: it is in %s, and %v", n, p.Registry, err)
						w.livesOnlyIn(p.Registry)
						w.move(p.Registry)
						w.livesOnlyIn(p.Registry)
						if p.Registry != "dir" {
							e, is := jobtree.DecodeElsewhere(registry.Node{Value: w.nodes("dir")[orders.Config()]})
							require.True(t, is && !e.Arriving, "request %d: the directory tells of it", n)
						}
					})
				}
			})
		}
	}
}
