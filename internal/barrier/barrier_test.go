package barrier_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

const (
	a = "10.0.0.1@-@a"
	b = "10.0.0.2@-@b"
)

var (
	tree = jobtree.For("orders")
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

// world is a job's tree that a test builds.
type world struct {
	nodes    map[string]registry.Node
	revision registry.Revision
}

// newWorld has a job of some items, whose instance a lives under session 1, and b under session 2.
func newWorld(t require.TestingT, items int, change ...func(*job.Config)) *world {
	w := &world{nodes: make(map[string]registry.Node)}
	cfg := job.Config{Name: "orders", Cron: "* * * * *", ShardingTotalCount: items}
	cfg.Failover = true
	for _, edit := range change {
		edit(&cfg)
	}
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	w.put(tree.Config(), text, 0)
	w.put(tree.Instance(a), "", 1)
	w.put(tree.Instance(b), "", 2)
	return w
}

func (w *world) put(path, value string, session registry.SessionID) {
	w.revision++
	n, had := w.nodes[path]
	if !had {
		n.Created = w.revision
	}
	n.Path, n.Value, n.Session, n.Revision = path, value, session, w.revision
	w.nodes[path] = n
}

// commit does a transaction, if its conditions hold.
func (w *world) commit(txn registry.Txn) bool {
	for _, c := range txn.Guards() {
		if !c.Holds(w.nodes[c.Path]) {
			return false
		}
	}
	w.revision++
	for _, write := range txn.Then {
		if write.Kind == registry.WriteDelete {
			delete(w.nodes, write.Path)
			continue
		}
		session := registry.SessionID(0)
		if write.Session != nil {
			session = write.Session.ID()
		}
		w.revision--
		w.put(write.Path, write.Value, session)
	}
	return true
}

func (w *world) state() *jobtree.State {
	nodes := make([]registry.Node, 0, len(w.nodes))
	for _, n := range w.nodes {
		nodes = append(nodes, n)
	}
	return jobtree.StateOf("orders", registry.NewSnapshot(w.revision, nodes))
}

func (w *world) record(item int) jobtree.Record { return w.state().Item(item).Record.Value }

// begin has an item begin for a fire.
func (w *world) begin(t require.TestingT, item int, fire time.Time, instance string, session registry.SessionID) {
	record, err := w.record(item).Begin(jobtree.Begin{
		Instance: instance, Session: session, Source: job.Scheduled, Fire: fire, Time: fire, Failover: true,
	})
	require.NoError(t, err)
	w.put(tree.ItemRunning(item), instance, session)
	w.put(tree.ItemRecord(item), jobtree.EncodeRecord(record), 0)
}

func (w *world) end(t require.TestingT, item int, outcome jobtree.Outcome) {
	record, err := w.record(item).End(jobtree.End{Token: int64(w.revision), Time: noon, Outcome: outcome})
	if outcome == jobtree.NotStarted {
		record, err = w.record(item).Undo(int64(w.revision), noon)
	}
	require.NoError(t, err)
	delete(w.nodes, tree.ItemRunning(item))
	w.put(tree.ItemRecord(item), jobtree.EncodeRecord(record), 0)
}

// missing lists what a barrier still awaits.
func (w *world) missing(p jobtree.Phase) []int {
	s := w.state()
	var missing []int
	for _, n := range s.Barrier(p).Round.Value.Items {
		if barrier.Missing(s, p, n, time.Time{}) {
			missing = append(missing, n)
		}
	}
	return missing
}

func session(t interface{ Cleanup(func()) }, id registry.SessionID) *registry.Session {
	s, control := backend.NewSession(id, time.Hour, func() time.Duration { return 0 }, 0)
	t.Cleanup(func() { control.Lose(errors.New("test is over")) })
	return s
}

// Whatever happens in which order: a hook is taken at most once for a round, and only when every awaited
// item that can has begun, or ended.
func TestAHookIsTakenOnceAndNotEarly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.IntRange(1, 2).Draw(t, "items")
		w := newWorld(t, items)
		sessions := map[string]*registry.Session{a: session(t, 1), b: session(t, 2)}
		old := []*jobtree.State{w.state()} // instances decide on states that may be old
		taken := make(map[string]int)
		fire := noon
		steps := rapid.IntRange(5, 60).Draw(t, "steps")
		for range steps {
			p := rapid.SampledFrom(jobtree.Phases[:]).Draw(t, "phase")
			who := rapid.SampledFrom([]string{a, b}).Draw(t, "who")
			n := rapid.IntRange(0, items-1).Draw(t, "item")
			seen := old[rapid.IntRange(max(0, len(old)-4), len(old)-1).Draw(t, "seen")]
			key := jobtree.RoundKey{Fire: fire}
			switch rapid.SampledFrom([]string{"fire", "open", "begin", "end", "take", "settle", "expire", "disable", "lost"}).Draw(t, "step") {
			case "fire":
				fire = fire.Add(time.Minute)
			case "open":
				if barrier.Opens(seen, p, key) {
					w.commit(barrier.Open(seen, p, key, noon))
				}
			case "begin":
				if r := w.record(n); r.State != jobtree.ItemRunning && r.LastFire.Before(fire) && !w.state().Item(n).Disabled {
					w.begin(t, n, fire, who, sessions[who].ID())
				}
			case "end":
				if w.record(n).State == jobtree.ItemRunning {
					w.end(t, n, jobtree.Success)
				}
			case "disable":
				w.put(tree.ItemDisabled(n), "", 0)
			case "take":
				round := seen.Barrier(p).Round.Value
				complete := round.Awaits()
				for _, item := range round.Items {
					complete = complete && !barrier.Missing(seen, p, item, time.Time{})
				}
				if complete && w.commit(barrier.Take(seen, p, who, sessions[who])) {
					taken[fmt.Sprint(p, round.Key())]++
					require.Equal(t, 1, taken[fmt.Sprint(p, round.Key())])
					requireArrived(t, w.state(), p)
				}
			case "settle":
				if s := w.state().Barrier(p); s.Hook.Exists() {
					require.True(t, w.commit(barrier.Settle(tree, p, s.Round.Value, s.Hook.Created, nil, noon)))
				}
			case "expire":
				if seen.Barrier(p).Round.Value.Awaits() {
					w.commit(barrier.Expire(seen, p, noon))
				}
			case "lost":
				if rapid.Bool().Draw(t, "gone") {
					delete(w.nodes, tree.BarrierHook(p))
				}
				if barrier.Lost(seen, p) {
					w.commit(barrier.DeclareLost(seen, p, noon))
				}
			}
			old = append(old, w.state())
		}
	})
}

// requireArrived looks at the records themselves.
func requireArrived(t *rapid.T, s *jobtree.State, p jobtree.Phase) {
	round := s.Barrier(p).Round.Value
	for _, n := range round.Items {
		it := s.Item(n)
		record := it.Record.Value
		began := !record.LastFire.Before(round.Fire)
		require.True(t, began || it.Disabled, "item %d of %s has not begun", n, round.Fire)
		if p == jobtree.PhaseCompleted && began && record.State == jobtree.ItemRunning {
			require.True(t, record.Current.Fire.After(round.Fire), "item %d still runs %s", n, round.Fire)
		}
	}
}

func TestWhatIsAwaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.put(tree.ItemDisabled(2), "", 0)
	key := jobtree.RoundKey{Fire: noon}
	for _, p := range jobtree.Phases {
		require.True(t, barrier.Opens(w.state(), p, key))
		require.True(t, w.commit(barrier.Open(w.state(), p, key, noon)))
		require.False(t, barrier.Opens(w.state(), p, key), "it is open")
		require.Equal(t, []int{0, 1, 3}, w.missing(p))
	}
	w.begin(t, 0, noon, a, 1)
	w.begin(t, 1, noon.Add(time.Minute), b, 2)
	require.Equal(t, []int{3}, w.missing(jobtree.PhaseStarted), "1 began for a later fire, and for this one never will")
	require.Equal(t, []int{0, 3}, w.missing(jobtree.PhaseCompleted))
	w.put(tree.ItemDisabled(3), "", 0)
	require.Empty(t, w.missing(jobtree.PhaseStarted), "3 cannot begin any more")
	w.end(t, 0, jobtree.Interrupted)
	require.Equal(t, []int{0}, w.missing(jobtree.PhaseCompleted), "it waits to be run again")
	require.Equal(t, []int{0}, barrier.Failed(w.state(), jobtree.PhaseCompleted))
	w.put(tree.ItemDisabled(0), "", 0)
	require.Empty(t, w.missing(jobtree.PhaseCompleted), "which nobody does while it is disabled")
}

// An item that did not run in the round has not failed in it, whatever it did before or since.
func TestWhoFailedInTheRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.begin(t, 0, noon, a, 1)
	w.end(t, 0, jobtree.Failure)
	w.begin(t, 3, noon, a, 1)
	w.end(t, 3, jobtree.Failure)
	key := jobtree.RoundKey{Fire: noon.Add(time.Minute)}
	require.True(t, w.commit(barrier.Open(w.state(), jobtree.PhaseCompleted, key, noon)))
	w.begin(t, 1, key.Fire, a, 1)
	w.end(t, 1, jobtree.Failure)
	w.begin(t, 2, key.Fire, a, 1)
	w.end(t, 2, jobtree.Success)
	w.begin(t, 3, key.Fire, a, 1)
	w.end(t, 3, jobtree.NotStarted) // it waited for others when it was disabled
	w.put(tree.ItemDisabled(0), "", 0)
	w.put(tree.ItemDisabled(3), "", 0)
	require.Empty(t, w.missing(jobtree.PhaseCompleted))
	require.Equal(t, []int{1}, barrier.Failed(w.state(), jobtree.PhaseCompleted))
	w.begin(t, 1, key.Fire.Add(time.Minute), a, 1)
	w.begin(t, 0, key.Fire.Add(time.Minute), a, 1)
	require.Equal(t, []int{1}, barrier.Failed(w.state(), jobtree.PhaseCompleted), "the next round has begun")
}

func TestAnItemThatStillRunsIsAwaitedIfItWillCatchUp(t *testing.T) {
	t.Parallel()
	for _, misfire := range []bool{true, false} {
		w := newWorld(t, 2, func(cfg *job.Config) {
			if !misfire {
				cfg.Misfire = job.MisfireSkip
			}
		})
		w.begin(t, 1, noon, a, 1)
		require.True(t, w.commit(barrier.Open(w.state(), jobtree.PhaseStarted, jobtree.RoundKey{Fire: noon.Add(time.Minute)}, noon)))
		want := []int{0}
		if misfire {
			want = []int{0, 1}
		}
		require.Equal(t, want, w.state().Barrier(jobtree.PhaseStarted).Round.Value.Items)
	}
}

func TestWhoTakesTheHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	require.True(t, w.commit(barrier.Open(w.state(), jobtree.PhaseStarted, jobtree.RoundKey{Fire: noon}, noon)))
	w.begin(t, 0, noon, a, 1)
	w.begin(t, 1, noon, b, 2)
	require.False(t, barrier.FallsTo(w.state(), jobtree.PhaseStarted, a))
	require.True(t, barrier.FallsTo(w.state(), jobtree.PhaseStarted, b), "it began the last item")
	delete(w.nodes, tree.Instance(b))
	require.True(t, barrier.FallsTo(w.state(), jobtree.PhaseStarted, a), "b is gone")
	w.put(tree.Instance(b), "", 3)
	require.True(t, barrier.FallsTo(w.state(), jobtree.PhaseStarted, a), "it is another process, or another session")
}

// A mark that the session's own process does not know is given up by it.
func TestDisown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, 1)
		p := rapid.SampledFrom(jobtree.Phases[:]).Draw(t, "phase")
		require.True(t, w.commit(barrier.Open(w.state(), p, jobtree.RoundKey{Trigger: 5}, noon)))
		require.True(t, w.commit(barrier.Take(w.state(), p, a, session(t, 1))))
		require.False(t, barrier.Lost(w.state(), p))
		replaced := rapid.Bool().Draw(t, "barrier removed by hand")
		if replaced {
			delete(w.nodes, tree.Barrier(p))
		}
		require.True(t, w.commit(barrier.Disown(w.state(), p, noon)))
		s := w.state().Barrier(p)
		require.False(t, s.Hook.Exists())
		require.Equal(t, !replaced, s.Round.Value.Outcome == jobtree.BarrierLost)
	})
}
