package rounds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
)

// What is due of an item is dropped when the job has the item no more, also if one step takes it away and the next one,
// or the same one, gives it back: its record, which said what ran, is gone.
func TestAnItemThatComesBackOwesNothing(t *testing.T) {
	t.Parallel()
	fire := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	node := func(path, value string, created registry.Revision) registry.Node {
		return registry.Node{Path: path, Value: value, Created: created, Revision: created}
	}
	tree := jobtree.For("orders")
	total := func(n int, at registry.Revision) registry.Change {
		return registry.Change{New: node(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: int64(at), Total: n}), at)}
	}
	owner := func(was, is registry.Revision) registry.Change {
		return registry.Change{Old: node(tree.ItemInstance(1), "me", was), New: node(tree.ItemInstance(1), "me", is)}
	}
	stored := func(was, is registry.Revision) registry.Change {
		return registry.Change{Old: node(tree.Config(), "{}", was), New: node(tree.Config(), "{}", is)}
	}
	record := node(tree.ItemRecord(1), `{"state":"idle"}`, 5)
	for name, test := range map[string]struct {
		steps  []registry.Step
		traits peers.Traits
		owes   bool
	}{
		"nothing happens": {nil, peers.Traits{}, true},
		"another one goes": {
			[]registry.Step{{Changes: []registry.Change{total(2, 3)}}}, peers.Traits{}, true,
		},
		"it goes": {[]registry.Step{{Changes: []registry.Change{total(1, 3)}}}, peers.Traits{}, false},
		"it goes and comes back": {
			[]registry.Step{{Changes: []registry.Change{total(1, 3)}}, {Changes: []registry.Change{total(3, 4)}}}, peers.Traits{}, false,
		},
		"both in one step": {[]registry.Step{{Changes: []registry.Change{total(3, 4), owner(1, 4)}}}, peers.Traits{}, false},
		"both in one step, and it has run since": {
			[]registry.Step{{
				Snapshot: registry.NewSnapshot(5, []registry.Node{record}), Changes: []registry.Change{total(3, 4), owner(1, 4), {New: record}},
			}}, peers.Traits{}, true,
		},
		"the job is changed": {
			[]registry.Step{{Changes: []registry.Change{stored(1, 1)}}}, peers.Traits{}, true,
		},
		"the job is removed, and there again": {
			[]registry.Step{{Changes: []registry.Change{stored(1, 4)}}}, peers.Traits{}, false,
		},
		"Java reshards": {
			[]registry.Step{{Changes: []registry.Change{owner(1, 4)}}}, peers.Traits{Unsteady: true}, true,
		},
	} {
		r, v := jobOf(t, "me", "me", "me")
		processOf(r).others = test.traits
		cfg := job.Config{Name: "orders", ShardingTotalCount: 3}
		v.Config = &cfg
		r.item(1).Due = policy.Due{Missed: []time.Time{fire}}
		for _, step := range test.steps {
			r.Before(v, step)
			r.ObserveFires(v, v.State.Apply(step))
		}
		require.Equal(t, test.owes, !r.item(1).Due.None(), name)
	}
}
