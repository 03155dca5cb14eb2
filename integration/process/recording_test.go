//go:build linux

package process_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/registry"
)

// recording writes down every revision of a store, and when it was first heard of.
type recording interface {
	// finish waits until the recording has everything that the store has.
	finish()
	// states returns what was recorded so far of one namespace, as the states that it went through.
	// Every state shows the whole namespace.
	states(namespace string) []checker.State
	// sessions returns those that once owned a node of a namespace and that the store still has.
	sessions(namespace string) ([]registry.SessionID, error)
}

// states puts the states of a namespace together, revision by revision.
type states struct {
	nodes map[string]registry.Node
	all   []checker.State
}

func newStates() *states { return &states{nodes: make(map[string]registry.Node)} }

// add appends what a revision left at the paths that it touched; the zero Node where there is none now.
func (s *states) add(number registry.Revision, at time.Time, after map[string]registry.Node) {
	var changes []registry.Change
	for path, n := range after {
		if was := s.nodes[path]; was != n {
			changes = append(changes, registry.Change{Old: was, New: n})
		}
		if s.nodes[path] = n; !n.Exists() {
			delete(s.nodes, path)
		}
	}
	if len(changes) == 0 {
		return
	}
	slices.SortFunc(changes, func(a, b registry.Change) int { return strings.Compare(a.Path(), b.Path()) })
	snapshot := registry.NewSnapshot(number, slices.Collect(maps.Values(s.nodes)))
	s.all = append(s.all, checker.State{At: at, Step: registry.Step{Snapshot: snapshot, Changes: changes}})
}

// owners returns the sessions that owned a node in some state.
func owners(states []checker.State) map[registry.SessionID]bool {
	all := make(map[registry.SessionID]bool)
	for _, state := range states {
		for _, change := range state.Step.Changes {
			if change.New.Ephemeral() {
				all[change.New.Session] = true
			}
		}
	}
	return all
}

// TestRecordingsHaveEveryRevision writes faster than anybody could look.
func TestRecordingsHaveEveryRevision(t *testing.T) {
	t.Parallel()
	onBoth(t, recordingsHaveEveryRevision)
}

func recordingsHaveEveryRevision(env environment) {
	t, ctx := env.t, env.t.Context()
	namespace := newNamespace(t)
	rec := env.record()
	reg, err := registryConfig{Kind: env.kind, Addresses: env.addresses, Namespace: namespace}.open(ctx, nil)
	require.NoError(t, err)
	t.Cleanup(reg.Vanish)
	session, err := reg.Session(ctx)
	require.NoError(t, err)
	var revisions []registry.Revision
	// What is committed once more for want of an answer is refused.
	commit := func(unless registry.Condition, then ...registry.Write) registry.Revision {
		revision, err := reg.Commit(ctx, registry.Txn{If: []registry.Condition{unless}, Then: then})
		require.NoError(t, err)
		revisions = append(revisions, revision)
		return revision
	}
	const writes = 50
	last := commit(registry.Absent("/a/value"), registry.Put("/a/value", "0"))
	for n := 1; n < writes; n++ {
		last = commit(registry.Unchanged("/a/value", last), registry.Put("/a/value", strconv.Itoa(n)))
	}
	commit(registry.Absent("/a/mine"), registry.PutOwned("/a/mine", "", session), registry.PutOwned("/b/mine", "1", session), registry.Put("/b/empty", ""))
	commit(registry.Unchanged("/a/value", last), registry.Delete("/a/value"), registry.Put("/b/empty", ""))
	require.NoError(t, reg.Close(ctx))
	rec.finish()

	states := rec.states(namespace)
	require.Len(t, states, writes+3)
	paths := func(s checker.State) (all []string) {
		for n := range s.Step.Snapshot.All() {
			all = append(all, n.Path)
		}
		return all
	}
	for n, state := range states[:writes] {
		require.Equal(t, revisions[n], state.Step.Snapshot.Revision())
		require.Len(t, state.Step.Changes, 1)
		require.Equal(t, strconv.Itoa(n), state.Step.Changes[0].New.Value)
		require.Equal(t, revisions[n], state.Step.Changes[0].New.Revision)
		require.Equal(t, revisions[0], state.Step.Changes[0].New.Created)
	}
	require.Equal(t, []string{"/a/mine", "/a/value", "/b/empty", "/b/mine"}, paths(states[writes]))
	require.Equal(t, []string{"/a/mine", "/b/empty", "/b/mine"}, paths(states[writes+1]))
	require.Equal(t, []string{"/b/empty"}, paths(states[writes+2]), "the session's nodes go together")
	require.Equal(t, map[registry.SessionID]bool{session.ID(): true}, owners(states))
	require.Eventually(t, func() bool {
		alive, err := rec.sessions(namespace)
		return err == nil && len(alive) == 0
	}, waitTimeout, 5*time.Millisecond)
}
