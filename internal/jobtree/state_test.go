package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// store is a tree that hands out revisions, and the steps of a view of it.
type store struct {
	revision registry.Revision
	nodes    map[string]registry.Node
	changes  []registry.Change
}

func newStore() *store { return &store{nodes: make(map[string]registry.Node)} }

func (s *store) put(path, value string, session registry.SessionID) registry.Revision {
	s.revision++
	n := registry.Node{Path: path, Value: value, Created: s.revision, Revision: s.revision, Session: session}
	old := s.nodes[path]
	if old.Exists() {
		n.Created = old.Created
	}
	s.nodes[path] = n
	s.changes = append(s.changes, registry.Change{Old: old, New: n})
	return s.revision
}

func (s *store) remove(path string) {
	if old := s.nodes[path]; old.Exists() {
		s.revision++
		delete(s.nodes, path)
		s.changes = append(s.changes, registry.Change{Old: old})
	}
}

func (s *store) snapshot() registry.Snapshot {
	var nodes []registry.Node
	for _, n := range s.nodes {
		nodes = append(nodes, n)
	}
	return registry.NewSnapshot(s.revision, nodes)
}

// step returns what changed since the last step.
func (s *store) step() registry.Step {
	step := registry.Step{Snapshot: s.snapshot(), Changes: s.changes}
	s.changes = nil
	return step
}

func configText(tb testing.TB, total int) string {
	tb.Helper()
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: total})
	require.NoError(tb, err)
	return text
}

func TestStateShowsTheWholeTree(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	record := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	config := s.put(tree.Config(), configText(t, 12), 0)
	server := s.put(tree.Server("10.0.0.2"), "DISABLED", 0)
	enabled := s.put(tree.Server("10.0.0.1"), "", 0)
	second := s.put(tree.Instance("10.0.0.2@-@9"), "", 0x2f)
	first := s.put(tree.Instance("10.0.0.1@-@7"), "", 0x1f)
	trigger := s.put(tree.Instance("10.0.0.1@-@7"), "TRIGGER", 0x1f)
	leader := s.put(tree.Leader(), "10.0.0.1@-@7", 0x1f)
	necessary := s.put(tree.Necessary(), "", 0)
	epoch := s.put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: leader, Counter: 1, Total: 12}), 0)
	tokens := s.put(tree.Tokens(), `{"base":9}`, 0)
	owner := s.put(tree.ItemInstance(11), "10.0.0.1@-@7", 0)
	next := s.put(tree.ItemNext(11), jobtree.EncodeNext(jobtree.Next{Owner: "10.0.0.2@-@9"}), 0)
	running := s.put(tree.ItemRunning(11), "x", 0x1f)
	claimed := s.put(tree.ItemFailover(11), "10.0.0.1@-@7", 0x1f)
	misfire := s.put(tree.ItemMisfire(11), "", 0)
	s.put(tree.ItemDisabled(11), "", 0)
	recorded := s.put(tree.ItemRecord(11), jobtree.EncodeRecord(record), 0)
	waits := s.put(tree.FailoverItem(11), "", 0)
	s.put(tree.FailoverItem(2), "", 0)
	s.put(tree.Item(11), "", 0)           // Java makes it, and it says nothing
	s.put(tree.ItemStarted(11), "", 0)    // likewise
	s.put("/orders/servers", "", 0)       // likewise
	s.put("/orders1/config", "broken", 0) // another job

	state := jobtree.StateOf("orders", s.snapshot())
	require.Equal(t, tree, state.Tree())
	require.Equal(t, s.revision, state.Revision)
	require.Equal(t, config, state.Config.Revision)
	require.NoError(t, state.Config.Err)
	require.Equal(t, "0 0/5 * * * ?", state.Config.Value.Cron)
	require.Equal(t, []jobtree.Server{
		{IP: "10.0.0.1", Revision: enabled}, {IP: "10.0.0.2", Disabled: true, Revision: server},
	}, state.Servers)
	require.Equal(t, []jobtree.Instance{
		{ID: "10.0.0.1@-@7", Session: 0x1f, Created: first, Revision: trigger, Triggered: true, Request: 6},
		{ID: "10.0.0.2@-@9", Session: 0x2f, Created: second, Revision: second},
	}, state.Instances)
	require.Equal(t, state.Servers[1], state.Server("10.0.0.2"))
	require.Zero(t, state.Server("10.0.0.3"))
	require.Equal(t, state.Instances[0], state.Instance("10.0.0.1@-@7"))
	require.Zero(t, state.Instance("10.0.0.1@-@"))
	require.Equal(t, jobtree.Leader{Instance: "10.0.0.1@-@7", Session: 0x1f, Created: leader, Revision: leader}, state.Leader)
	require.Equal(t, necessary, state.Necessary)
	require.Equal(t, jobtree.Stored[jobtree.Epoch]{
		Value: jobtree.Epoch{Term: leader, Counter: 1, Total: 12}, Revision: epoch,
	}, state.Epoch)
	require.Equal(t, jobtree.Stored[jobtree.Tokens]{Value: jobtree.Tokens{Base: 9}, Revision: tokens}, state.Tokens())
	require.Equal(t, []int{2, 11}, state.FailoverItems)
	require.Equal(t, 12, state.Items())
	require.Equal(t, jobtree.Item{
		Number:           11,
		Instance:         "10.0.0.1@-@7",
		InstanceRevision: owner,
		Next:             jobtree.Stored[jobtree.Next]{Value: jobtree.Next{Owner: "10.0.0.2@-@9"}, Revision: next},
		Running:          jobtree.Mark{Value: "x", Session: 0x1f, Created: running, Revision: running},
		Failover:         jobtree.Mark{Value: "10.0.0.1@-@7", Session: 0x1f, Created: claimed, Revision: claimed},
		Misfire:          jobtree.Stored[jobtree.Misfire]{Revision: misfire},
		Disabled:         true,
		Record:           jobtree.Stored[jobtree.Record]{Value: record, Revision: recorded},
		FailoverItem:     waits,
	}, state.Item(11))
	require.True(t, state.Item(11).Running.Exists())
	require.Equal(t, jobtree.Item{Number: 7}, state.Item(7))
	require.Equal(t, jobtree.Item{Number: -1}, state.Item(-1))
	require.Equal(t, jobtree.Item{Number: 12}, state.Item(12))
}

func TestStateOfNothing(t *testing.T) {
	t.Parallel()
	state := jobtree.NewState("orders")
	require.False(t, state.Config.Exists())
	require.Zero(t, state.Total())
	require.Zero(t, state.Items())
	require.Empty(t, state.Owner(0))
}

func TestValuesThatCannotBeReadAreFaultsOfTheirNodeOnly(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	s.put(tree.Config(), "{", 0)
	s.put(tree.Epoch(), "{", 0)
	s.put(tree.ItemRecord(0), "{", 0)
	s.put(tree.ItemNext(0), "{", 0)
	s.put(tree.ItemMisfire(0), "{", 0)
	s.put(tree.ItemInstance(0), "10.0.0.1@-@7", 0)
	state := jobtree.StateOf("orders", s.snapshot())
	require.ErrorContains(t, state.Config.Err, "/orders/config: ")
	require.ErrorContains(t, state.Epoch.Err, "/orders/leader/sharding/epoch: ")
	item := state.Item(0)
	require.ErrorContains(t, item.Record.Err, "/orders/sharding/0/record: ")
	require.ErrorContains(t, item.Next.Err, "/orders/sharding/0/next: ")
	require.ErrorContains(t, item.Misfire.Err, "/orders/sharding/0/misfire: ")
	require.True(t, item.Record.Exists())
	require.Zero(t, state.Total(), "an epoch that cannot be read has no items")
	require.Empty(t, state.Owner(0))

	s.put(tree.Config(), configText(t, 3), 0)
	s.remove(tree.Epoch())
	state.Apply(s.step())
	require.NoError(t, state.Config.Err)
	require.Equal(t, 3, state.Total(), "without an epoch the configuration tells")
	require.Equal(t, "10.0.0.1@-@7", state.Owner(0))
}

func TestOwnerFollowsTheEpochInForce(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	old := jobtree.Epoch{Term: 7, Counter: 1, Total: 3}
	latest := jobtree.Epoch{Term: 7, Counter: 2, Total: 2}
	epoch := s.put(tree.Epoch(), jobtree.EncodeEpoch(old), 0)
	for i := range 3 {
		s.put(tree.ItemInstance(i), "a@-@1", 0)
	}
	next := s.put(tree.ItemNext(0), jobtree.EncodeNext(jobtree.Next{Epoch: latest.ID(), Owner: "b@-@1"}), 0)
	state := jobtree.StateOf("orders", s.snapshot())
	require.Equal(t, "a@-@1", state.Owner(0), "not yet")
	require.Equal(t, "a@-@1", state.Owner(2))
	require.Equal(t, []registry.Condition{
		registry.Unchanged(tree.ItemInstance(0), 2), registry.Unchanged(tree.ItemNext(0), next), registry.Unchanged(tree.Epoch(), epoch),
	}, state.OwnerGuards(0))
	require.Equal(t, []registry.Condition{
		registry.Unchanged(tree.ItemInstance(1), 3), registry.Absent(tree.ItemNext(1)),
	}, state.OwnerGuards(1))

	s.changes = nil
	s.put(tree.Epoch(), jobtree.EncodeEpoch(latest), 0)
	state.Apply(s.step())
	require.Equal(t, "b@-@1", state.Owner(0))
	require.Equal(t, "a@-@1", state.Owner(1))
	require.Empty(t, state.Owner(2), "surplus")
	require.Empty(t, state.Owner(-1))
	require.Equal(t, "b@-@1", state.Item(0).Owner(latest.ID()))
	require.Equal(t, "a@-@1", state.Item(0).Owner(old.ID()))
}

func TestNextWithoutAnEpochNeverCounts(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.put("/orders/config", configText(t, 1), 0)
	s.put("/orders/sharding/0/instance", "a@-@1", 0)
	s.put("/orders/sharding/0/next", `{"owner":"b@-@1"}`, 0)
	require.Equal(t, "a@-@1", jobtree.StateOf("orders", s.snapshot()).Owner(0))
}

func TestApplyTellsWhatItTouched(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	state := jobtree.NewState("orders")
	apply := func() jobtree.Touched { return state.Apply(s.step()) }

	s.put(tree.Config(), configText(t, 12), 0)
	require.Equal(t, jobtree.Touched{Config: true}, apply())
	s.put(tree.Server("10.0.0.1"), "", 0)
	require.Equal(t, jobtree.Touched{Servers: true}, apply())
	s.put(tree.Instance("a@-@1"), "", 1)
	s.put(tree.Necessary(), "", 0)
	require.Equal(t, jobtree.Touched{Instances: true, Necessary: true}, apply())
	s.put(tree.Leader(), "a@-@1", 1)
	s.put(tree.Epoch(), `{"term":1}`, 0)
	require.Equal(t, jobtree.Touched{Leader: true, Epoch: true}, apply())
	for _, item := range []int{0, 1, 10, 2} { // the order of paths
		s.put(tree.ItemRunning(item), "", 1)
		s.put(tree.ItemRecord(item), `{"state":"idle"}`, 0)
	}
	s.put(tree.FailoverItem(10), "", 0)
	s.put(tree.Item(11), "", 0)
	require.Equal(t, jobtree.Touched{Owners: true, Items: []int{0, 1, 2, 10}}, apply())
	s.remove(tree.ItemRunning(10))
	require.Equal(t, jobtree.Touched{Items: []int{10}}, apply())
	s.put("/orders1/config", "", 0)
	s.put("/orders/sharding/01/running", "", 1)
	require.Zero(t, apply())
	require.Equal(t, s.revision, state.Revision)
}

func TestItemsBeyondTheBoundTakeNoMemory(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	s.put(tree.ItemInstance(job.MaxShardingTotalCount), "a@-@1", 0)
	s.put(tree.FailoverItem(999_999_999), "", 0)
	state := jobtree.StateOf("orders", s.snapshot())
	require.Zero(t, state.Items())
	require.Empty(t, state.FailoverItems)

	s.put(tree.ItemInstance(job.MaxShardingTotalCount-1), "a@-@1", 0)
	s.put(tree.ItemInstance(2), "a@-@1", 0)
	state.Apply(s.step())
	require.Equal(t, job.MaxShardingTotalCount, state.Items())
	s.remove(tree.ItemInstance(job.MaxShardingTotalCount - 1))
	state.Apply(s.step())
	require.Equal(t, 3, state.Items())
	require.Equal(t, "a@-@1", state.Item(2).Instance)
}
