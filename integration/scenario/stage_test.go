package scenario_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/registrytest"
)

// patience bounds each wait. What is waited for takes a second, or a session's time.
const patience = 90 * time.Second

// The processes of the stories. a joins first and leads.
const a, b, c = "10.0.0.1@-@a", "10.0.0.2@-@b", "10.0.0.3@-@c"

// stage is where a story happens: one job on a store.
type stage struct {
	*testing.T
	store     *registrytest.Store
	namespace string
	cfg       job.Config
	view      *registry.View // of the job, by one whom no story disturbs
	deaf      bool           // user code goes on though its context ends

	mu    sync.Mutex
	calls []*call
	moved chan struct{}        // closed and replaced when a call begins or ends
	holds map[string]chan bool // what executions wait for, by instance
}

// call is one execution as user code sees it.
type call struct {
	job.ShardingContext
	on    string
	held  bool // it waits for release
	over  bool
	cause error // why its context ended before it was over
}

func newStage(t *testing.T, store *registrytest.Store, namespace string, cfg job.Config) *stage {
	s := &stage{T: t, store: store, namespace: namespace, cfg: cfg, moved: make(chan struct{}), holds: make(map[string]chan bool)}
	watcher := s.store.Open(t, namespace)
	t.Cleanup(func() { require.NoError(t, watcher.Close(context.WithoutCancel(t.Context()))) })
	view, err := watcher.View(context.WithoutCancel(t.Context()), jobtree.For(cfg.Name).Root())
	require.NoError(t, err)
	s.view = view
	return s
}

// hold has the executions of an instance go on until release.
func (s *stage) hold(instance string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan bool)
	s.holds[instance] = held
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.holds, instance)
		close(held)
	}
}

// execute is the user code of an instance.
func (s *stage) execute(ctx context.Context, on string, sc job.ShardingContext) error {
	current := &call{ShardingContext: sc, on: on}
	held := s.note(func() {
		current.held = s.holds[on] != nil
		s.calls = append(s.calls, current)
	}, on)
	cancelled := ctx.Done()
	if s.deaf {
		cancelled = nil
	}
	if held != nil {
		select {
		case <-held:
		case <-cancelled:
		}
	}
	s.note(func() { current.over, current.cause = true, context.Cause(ctx) }, on)
	if s.deaf {
		return nil
	}
	return ctx.Err()
}

// note changes what is known of calls, and returns what those of an instance wait for.
func (s *stage) note(change func(), on string) chan bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.moved)
	s.moved = make(chan struct{})
	return s.holds[on]
}

// holdOneEach holds an item on each of two instances that share two. On a busy machine one of them may lose its
// session meanwhile, and the other one holds both: then it begins again. What is held may be a fire from before
// this, for a begin takes as long as the store does, and what was let go may run again at once for a missed fire.
func (s *stage) holdOneEach(a, b string) (held []call, release []func()) {
	s.Helper()
	for range 10 {
		s.waitOwners(a, b) // before anything is held
		release = []func(){s.hold(a), s.hold(b)}
		held = nil
		for _, id := range []string{a, b} {
			if x, found := s.callWithin(patience/6, func(x call) bool { return x.on == id && x.held && !x.over }); found {
				held = append(held, x)
			}
		}
		if len(held) == 2 && held[0].Item != held[1].Item {
			return held, release
		}
		for _, letGo := range release {
			letGo()
		}
	}
	require.Fail(s, "no item is held on each of two instances")
	return nil, nil
}

// waitCall waits for a call of user code, past or to come, of which holds is true.
func (s *stage) waitCall(what string, holds func(call) bool) call {
	s.Helper()
	found, ok := s.callWithin(patience, holds)
	require.True(s, ok, "no such call: %s within %s", what, patience)
	return found
}

// callWithin is waitCall for a call that need not come.
func (s *stage) callWithin(span time.Duration, holds func(call) bool) (call, bool) {
	late := time.After(span)
	for {
		s.mu.Lock()
		i := slices.IndexFunc(s.calls, func(c *call) bool { return holds(*c) })
		var found call
		if i >= 0 {
			found = *s.calls[i]
		}
		moved := s.moved
		s.mu.Unlock()
		if i >= 0 {
			return found, true
		}
		select {
		case <-moved:
		case <-late:
			return call{}, false
		}
	}
}

// waitState waits until the job's tree is in some state.
func (s *stage) waitState(what string, holds func(*jobtree.State) bool) *jobtree.State {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	snapshot, err := s.view.WaitFor(ctx, func(now registry.Snapshot) bool { return holds(jobtree.StateOf(s.cfg.Name, now)) })
	require.NoError(s, err, what)
	return jobtree.StateOf(s.cfg.Name, snapshot)
}

// waitOwners waits until these instances are there, no others, and own every item.
func (s *stage) waitOwners(instances ...string) {
	s.Helper()
	s.waitState("items belong to these alone", func(now *jobtree.State) bool {
		owners := make(map[string]bool)
		for n := range now.Total() {
			owners[now.Owner(n)] = true
		}
		for _, id := range instances {
			if now.Instance(id).Created == 0 || !owners[id] {
				return false
			}
		}
		return len(now.Instances) == len(instances) && len(owners) == len(instances)
	})
}

// ranAgain tells whether an execution was run again as a lost one.
func (s *stage) ranAgain(lost call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.calls, func(x *call) bool {
		return x.Source == job.Failover && x.Item == lost.Item && x.Fire.Equal(lost.Fire)
	})
}
