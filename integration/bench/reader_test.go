package bench_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// reader is somebody outside who looks at one job, and notes when it sees what is waited for.
type reader struct {
	b    *testing.B
	job  string
	view *registry.View

	mu    sync.Mutex
	state *jobtree.State
	waits map[*wait]struct{}
}

type wait struct {
	condition func(*jobtree.State) bool
	seen      chan time.Time
}

// newReader follows a job until the benchmark ends or the registry is closed.
func newReader(b *testing.B, reg registry.Registry, job string) *reader {
	b.Helper()
	view, err := reg.View(b.Context(), jobtree.For(job).Root())
	require.NoError(b, err)
	r := &reader{b: b, job: job, view: view, state: jobtree.NewState(job), waits: make(map[*wait]struct{})}
	view.Subscribe(r.apply)
	return r
}

func (r *reader) apply(step registry.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	touched := r.state.Apply(step)
	if !touched.Instances && !touched.Leader && !touched.Epoch {
		return // the parts of an assignment count for nothing before it is in force
	}
	for w := range r.waits {
		r.check(w)
	}
}

// expect returns a channel that tells when the reader sees condition, which is asked after changes of
// members, leader and assignment only.
func (r *reader) expect(condition func(*jobtree.State) bool) <-chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &wait{condition: condition, seen: make(chan time.Time, 1)}
	r.waits[w] = struct{}{}
	r.check(w)
	return w.seen
}

// check ends a wait whose condition holds. The caller holds mu.
func (r *reader) check(w *wait) {
	if w.condition(r.state) {
		w.seen <- time.Now()
		delete(r.waits, w)
	}
}

// await returns when the reader sees condition.
func (r *reader) await(condition func(*jobtree.State) bool) {
	r.b.Helper()
	receive(r.b, r.expect(condition))
}

// awaitTidy returns when the leader has folded the parts of a large assignment into the items, which
// it does soon after the assignment is in force.
func (r *reader) awaitTidy() {
	r.b.Helper()
	_, err := r.view.WaitFor(r.b.Context(), func(s registry.Snapshot) bool {
		state := jobtree.StateOf(r.job, s)
		for n := range state.Total() {
			if state.Item(n).Next.Exists() {
				return false
			}
		}
		return true
	})
	require.NoError(r.b, err)
}

// receive waits for what must come.
func receive[T any](tb testing.TB, from <-chan T) T {
	tb.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(3 * time.Minute):
		require.FailNow(tb, "nothing came within three minutes")
		panic("unreachable")
	}
}

// lives tells whether the instance is a member.
func lives(name string) func(*jobtree.State) bool {
	return func(s *jobtree.State) bool { return s.Instance(fullID(name)).Created != 0 }
}

func gone(name string) func(*jobtree.State) bool {
	return func(s *jobtree.State) bool { return !lives(name)(s) }
}

// spreadOver tells whether every item belongs to one of the instances, and each of them has some.
func spreadOver(names ...string) func(*jobtree.State) bool {
	return func(s *jobtree.State) bool {
		items := make(map[string]int)
		for n := range s.Total() {
			items[s.Owner(n)]++
		}
		for _, name := range names {
			if items[fullID(name)] == 0 {
				return false
			}
		}
		return len(items) == len(names)
	}
}

// leads tells whether the instance is the leader.
func leads(name string) func(*jobtree.State) bool {
	return func(s *jobtree.State) bool { return s.Leader.Instance == fullID(name) }
}
