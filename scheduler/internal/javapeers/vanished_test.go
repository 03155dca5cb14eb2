package javapeers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

func TestAnExecutionVanishesWithItsInstance(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	gone := func(path string, session registry.SessionID, at registry.Revision) registry.Change {
		return registry.Change{Old: registry.Node{Path: path, Session: session, Created: 2, Revision: 2}, Removed: at}
	}
	instance := func(at registry.Revision) registry.Change { return gone(tree.Instance("10.0.0.1@-@7"), 1, at) }
	mark := func(at registry.Revision) registry.Change { return gone(tree.ItemRunning(3), 1, at) }
	step := func(shown registry.Revision, changes ...registry.Change) registry.Step {
		return registry.Step{Snapshot: registry.NewSnapshot(shown, nil), Changes: changes}
	}
	lost := []execution{{item: 3, instance: "10.0.0.1@-@7", mark: mark(0).Old}}
	for name, tt := range map[string]struct {
		steps []registry.Step
		want  []execution
	}{
		"its session ends": {[]registry.Step{step(9, instance(8), mark(8))}, lost},
		"it has claimed and not begun": {[]registry.Step{step(9, instance(8), gone(tree.ItemFailover(3), 1, 8))}, []execution{
			{item: 3, instance: "10.0.0.1@-@7", mark: gone(tree.ItemFailover(3), 1, 0).Old, claim: true},
		}},
		"its claim has ended":                      {[]registry.Step{step(9, instance(8), gone(tree.ItemFailover(3), 1, 7))}, nil},
		"the store does not tell":                  {[]registry.Step{step(9, instance(0), mark(0))}, lost},
		"the store does not tell of one":           {[]registry.Step{step(9, instance(8), mark(0))}, lost},
		"it ends, and its instance leaves":         {[]registry.Step{step(9, instance(8), mark(7))}, nil},
		"in two steps":                             {[]registry.Step{step(7, mark(7)), step(8, instance(8))}, nil},
		"another's session ends":                   {[]registry.Step{step(9, instance(8), gone(tree.ItemRunning(3), 2, 8))}, nil},
		"a step shows a part of a session's end":   {[]registry.Step{step(7, mark(8)), step(8, instance(8))}, lost},
		"a step shows the other part":              {[]registry.Step{step(7, instance(8)), step(8, mark(8))}, lost},
		"a part of one revision and one of a next": {[]registry.Step{step(7, mark(8)), step(9, instance(9))}, nil},
	} {
		var seen vanished
		var found []execution
		for _, s := range tt.steps {
			found = append(found, seen.take(s)...)
		}
		require.Equal(t, tt.want, found, name)
	}
}
