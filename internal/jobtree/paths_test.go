package jobtree_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// nodes are all nodes of a job: what Elastic-Job-Lite 2.1.5 and operators call them, and what we do.
var nodes = []struct {
	path string // below the job; <i> is an item, <k> a key
	kind jobtree.Kind
	of   func(tree jobtree.Tree, key string, item int) string
}{
	{"", jobtree.KindRoot, func(t jobtree.Tree, _ string, _ int) string { return t.Root() }},
	{"/config", jobtree.KindConfig, func(t jobtree.Tree, _ string, _ int) string { return t.Config() }},
	{"/servers/<k>", jobtree.KindServer, func(t jobtree.Tree, k string, _ int) string { return t.Server(k) }},
	{"/instances/<k>", jobtree.KindInstance, func(t jobtree.Tree, k string, _ int) string { return t.Instance(k) }},
	{"/sharding/<i>", jobtree.KindItem, func(t jobtree.Tree, _ string, i int) string { return t.Item(i) }},
	{"/sharding/<i>/instance", jobtree.KindItemInstance, func(t jobtree.Tree, _ string, i int) string { return t.ItemInstance(i) }},
	{"/sharding/<i>/running", jobtree.KindItemRunning, func(t jobtree.Tree, _ string, i int) string { return t.ItemRunning(i) }},
	{"/sharding/<i>/failover", jobtree.KindItemFailover, func(t jobtree.Tree, _ string, i int) string { return t.ItemFailover(i) }},
	{"/sharding/<i>/misfire", jobtree.KindItemMisfire, func(t jobtree.Tree, _ string, i int) string { return t.ItemMisfire(i) }},
	{"/sharding/<i>/disabled", jobtree.KindItemDisabled, func(t jobtree.Tree, _ string, i int) string { return t.ItemDisabled(i) }},
	{"/sharding/<i>/record", jobtree.KindItemRecord, func(t jobtree.Tree, _ string, i int) string { return t.ItemRecord(i) }},
	{"/sharding/<i>/next", jobtree.KindItemNext, func(t jobtree.Tree, _ string, i int) string { return t.ItemNext(i) }},
	{"/leader/election/instance", jobtree.KindLeader, func(t jobtree.Tree, _ string, _ int) string { return t.Leader() }},
	{"/leader/election/latch/<k>", jobtree.KindElectionLatch, func(t jobtree.Tree, k string, _ int) string { return t.ElectionLatch() + "/" + k }},
	{"/leader/sharding/necessary", jobtree.KindNecessary, func(t jobtree.Tree, _ string, _ int) string { return t.Necessary() }},
	{"/leader/sharding/processing", jobtree.KindProcessing, func(t jobtree.Tree, _ string, _ int) string { return t.Processing() }},
	{"/leader/sharding/epoch", jobtree.KindEpoch, func(t jobtree.Tree, _ string, _ int) string { return t.Epoch() }},
	{"/triggered", jobtree.KindTriggered, func(t jobtree.Tree, _ string, _ int) string { return t.Triggered() }},
	{"/operated", jobtree.KindOperated, func(t jobtree.Tree, _ string, _ int) string { return t.Operated() }},
	{"/leader/move", jobtree.KindMove, func(t jobtree.Tree, _ string, _ int) string { return t.Move() }},
	{"/leader/tokens", jobtree.KindTokens, func(t jobtree.Tree, _ string, _ int) string { return t.Tokens() }},
	{"/leader/failover/items/<i>", jobtree.KindFailoverItem, func(t jobtree.Tree, _ string, i int) string { return t.FailoverItem(i) }},
	{"/leader/failover/latch/<k>", jobtree.KindFailoverLatch, func(t jobtree.Tree, k string, _ int) string { return t.FailoverLatch() + "/" + k }},
	{"/guarantee/started/<i>", jobtree.KindItemStarted, func(t jobtree.Tree, _ string, i int) string { return t.ItemStarted(i) }},
	{"/guarantee/completed/<i>", jobtree.KindItemCompleted, func(t jobtree.Tree, _ string, i int) string { return t.ItemCompleted(i) }},
	{"/offset/<i>", jobtree.KindOffset, func(t jobtree.Tree, _ string, i int) string { return t.Offset(i) }},
	{"/guarantee/started", jobtree.KindStarted, func(t jobtree.Tree, _ string, _ int) string { return t.Barrier(jobtree.PhaseStarted) }},
	{"/guarantee/completed", jobtree.KindCompleted, func(t jobtree.Tree, _ string, _ int) string { return t.Barrier(jobtree.PhaseCompleted) }},
	{"/guarantee/started-hook", jobtree.KindStartedHook, func(t jobtree.Tree, _ string, _ int) string { return t.BarrierHook(jobtree.PhaseStarted) }},
	{"/guarantee/completed-hook", jobtree.KindCompletedHook, func(t jobtree.Tree, _ string, _ int) string { return t.BarrierHook(jobtree.PhaseCompleted) }},
	{"/systemTime/current", jobtree.KindSystemTime, func(t jobtree.Tree, _ string, _ int) string { return t.SystemTime() }},
}

func TestEveryNodeHasItsPathAndIsReadBack(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	for _, n := range nodes {
		path := n.of(tree, "10.0.0.1@-@7", 42)
		want := "/orders" + strings.NewReplacer("<k>", "10.0.0.1@-@7", "<i>", "42").Replace(n.path)
		require.Equal(t, want, path)

		name := jobtree.Name{Job: "orders", Kind: n.kind}
		if strings.Contains(n.path, "<k>") {
			name.Key = "10.0.0.1@-@7"
		}
		if strings.Contains(n.path, "<i>") {
			name.Item = 42
		}
		got, ok := jobtree.Parse(path)
		require.True(t, ok, path)
		require.Equal(t, name, got, path)
	}
}

func TestFoldersAreAboveTheirNodes(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	for folder, node := range map[string]string{
		tree.Servers():                       tree.Server("10.0.0.1"),
		tree.Instances():                     tree.Instance("10.0.0.1@-@7"),
		tree.Sharding():                      tree.Item(3),
		tree.Barrier(jobtree.PhaseStarted):   tree.ItemStarted(3),
		tree.Barrier(jobtree.PhaseCompleted): tree.ItemCompleted(3),
		tree.Offsets():                       tree.Offset(3),
	} {
		require.Equal(t, folder, node[:strings.LastIndex(node, "/")])
	}
}

func TestTreeKnowsItsJob(t *testing.T) {
	t.Parallel()
	require.Equal(t, "orders", jobtree.For("orders").Job())
	require.Empty(t, jobtree.Tree{}.Job())
}

func TestParseReadsWhatATreeBuilds(t *testing.T) {
	t.Parallel()
	segment := rapid.StringMatching(`[^/]+`)
	rapid.Check(t, func(t *rapid.T) {
		job := segment.Draw(t, "job")
		key := segment.Draw(t, "key")
		item := rapid.IntRange(0, 999_999_999).Draw(t, "item")
		n := rapid.SampledFrom(nodes).Draw(t, "node")
		name, ok := jobtree.Parse(n.of(jobtree.For(job), key, item))
		require.True(t, ok)
		require.Equal(t, job, name.Job)
		require.Equal(t, n.kind, name.Kind)
		if strings.Contains(n.path, "<k>") {
			require.Equal(t, key, name.Key)
		}
		if strings.Contains(n.path, "<i>") {
			require.Equal(t, item, name.Item)
		}
	})
}

func TestParseKnowsNoOtherPath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", "/", "orders", "orders/config", "//config", "/orders/",
		"/orders/triggered/x", "/orders/operated/", "/orders/config/", "/orders/config/x", "/orders/configs", "/orders/Config",
		"/orders/offset", "/orders/offset/", "/orders/offset/01", "/orders/offset/1/x",
		"/orders/servers", "/orders/servers/", "/orders/servers/10.0.0.1/x",
		"/orders/instances", "/orders/instances/", "/orders/instances/a/b",
		"/orders/sharding", "/orders/sharding/", "/orders/sharding//running",
		"/orders/sharding/01", "/orders/sharding/+1", "/orders/sharding/-1", "/orders/sharding/-0",
		"/orders/sharding/1 ", "/orders/sharding/١", "/orders/sharding/x", "/orders/sharding/1000000000",
		"/orders/sharding/1/", "/orders/sharding/1/x", "/orders/sharding/1/running/x",
		"/orders/sharding/99999999999999999999/running",
		"/orders/leader", "/orders/leader/election", "/orders/leader/election/latch",
		"/orders/leader/sharding", "/orders/leader/sharding/epoch/x",
		"/orders/leader/failover/items", "/orders/leader/failover/items/01", "/orders/leader/failover/latch/",
		"/orders/guarantee", "/orders/guarantee/started/x", "/orders/guarantee/started-hook/x", "/orders/systemTime",
	} {
		name, ok := jobtree.Parse(path)
		require.False(t, ok, path)
		require.Zero(t, name, path)
	}
}

func FuzzParse(f *testing.F) {
	for _, n := range nodes {
		f.Add(n.of(jobtree.For("orders"), "10.0.0.1@-@7", 42))
	}
	f.Add("/orders/sharding/01/running")
	f.Fuzz(func(t *testing.T, path string) {
		name, ok := jobtree.Parse(path)
		if !ok {
			require.Zero(t, name)
			return
		}
		for _, n := range nodes {
			if n.kind == name.Kind {
				require.Equal(t, path, n.of(jobtree.For(name.Job), name.Key, name.Item))
			}
		}
	})
}

// It counts allocations and so does not run in parallel. Views call Parse for every change, and a round of a large job builds
// several paths for each item.
func TestPathsAreCheap(t *testing.T) {
	tree := jobtree.For("orders")
	path := tree.ItemRunning(9_999)
	require.Zero(t, testing.AllocsPerRun(100, func() { jobtree.Parse(path) }))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = tree.ItemRunning(9_999) }), 1.0)
}

func BenchmarkItemPath(b *testing.B) {
	tree := jobtree.For("orders")
	b.ReportAllocs()
	for b.Loop() {
		_ = tree.ItemRecord(9_999)
	}
}

func BenchmarkParse(b *testing.B) {
	path := jobtree.For("orders").ItemRecord(9_999)
	b.ReportAllocs()
	for b.Loop() {
		jobtree.Parse(path)
	}
}

// The node that instances do not read is one of any job, and no node of another kind is taken for it: not that of a job
// which has its name, either.
func TestWhatIsForOperators(t *testing.T) {
	t.Parallel()
	for _, job := range []string{"orders", "operated"} {
		tree := jobtree.For(job)
		require.True(t, jobtree.ForOperators(tree.Operated()))
		for _, path := range []string{
			tree.Root(), tree.Config(), tree.Server("operated"), tree.Instance("operated"), tree.Servers() + "/a/operated", registry.Root, "/operated",
		} {
			require.False(t, jobtree.ForOperators(path), path)
		}
	}
}
