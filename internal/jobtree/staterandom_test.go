package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// drawChange makes one random change of a small tree: good values, bad values and removals.
func drawChange(t *rapid.T, s *store) {
	tree := jobtree.For("orders")
	item := rapid.SampledFrom([]int{0, 1, 2, 10, 40}).Draw(t, "item")
	key := rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2@-@9", "10.0.0.3@-@7"}).Draw(t, "key")
	n := rapid.SampledFrom(nodes).Draw(t, "node")
	path := n.of(tree, key, item)
	if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
		s.remove(path)
		return
	}
	value := rapid.SampledFrom([]string{
		"", "{", "TRIGGER", "DISABLED", "10.0.0.2@-@9", minimal(""), `{"state":"idle"}`,
		`{"term":1,"counter":2,"total":3}`, `{"term":1,"counter":2,"owner":"10.0.0.3@-@7"}`, `{"count":2}`,
		`{"fire":"2026-01-02T12:01:00Z","items":"0-2"}`, `{"items":"0-2","until":"2026-01-02T13:00:00Z"}`, "SHUTDOWN",
	}).Draw(t, "value")
	s.put(path, value, registry.SessionID(rapid.IntRange(0, 2).Draw(t, "session")))
}

func TestStateDependsOnWhatThereIsAndNotOnWhatWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newStore()
		state := jobtree.NewState("orders")
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				drawChange(t, s)
			}
			state.Apply(s.step())
			fresh := jobtree.StateOf("orders", s.snapshot())
			requireSameState(t, fresh, state)
		}
	})
}

func requireSameState(t *rapid.T, want, got *jobtree.State) {
	require.Equal(t, want, got)
	for i := range want.Items() {
		require.Equal(t, want.Item(i), got.Item(i))
		require.Equal(t, want.Owner(i), got.Owner(i))
	}
}
