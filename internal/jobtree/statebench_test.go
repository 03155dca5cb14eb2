package jobtree_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// idleJob returns the nodes of a job as they are between two rounds, once it has run for a while.
func idleJob(tb testing.TB, name string, items int) []registry.Node {
	tb.Helper()
	tree, s := jobtree.For(name), newStore()
	text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: "0 0/5 * * * ?", ShardingTotalCount: items})
	require.NoError(tb, err)
	s.put(tree.Config(), text, 0)
	instances := []string{"10.0.0.1@-@7-c0ffee", "10.0.0.2@-@7-decade", "10.0.0.3@-@7-facade"}
	for _, id := range instances {
		s.put(tree.Instance(id), "", 0x1f)
	}
	s.put(tree.Leader(), instances[0], 0x1f)
	s.put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 5, Counter: 1, Total: items}), 0)
	for i := range items {
		r := must(tb)(must(tb)(jobtree.Record{}.Begin(scheduled(0))).End(success(17)))
		r = must(tb)(must(tb)(r.Begin(scheduled(5))).End(success(18)))
		s.put(tree.ItemInstance(i), instances[i%3], 0)
		s.put(tree.ItemRecord(i), jobtree.EncodeRecord(r), 0)
	}
	var nodes []registry.Node
	for n := range s.snapshot().All() {
		nodes = append(nodes, n)
	}
	return nodes
}

// A process may take part in ten thousand jobs, most of which are idle at any moment. The texts of
// the nodes belong to the view, which shares them with the state.
func TestAnIdleJobIsSmall(t *testing.T) {
	const jobs = 1_000
	snapshots := make([]registry.Snapshot, jobs)
	for i := range snapshots {
		snapshots[i] = registry.NewSnapshot(1, idleJob(t, fmt.Sprintf("job-%d", i), 1+i%3))
	}
	states := make([]*jobtree.State, jobs)
	before := heap()
	for i := range states {
		states[i] = jobtree.StateOf(fmt.Sprintf("job-%d", i), snapshots[i])
	}
	each := (heap() - before) / jobs
	t.Logf("%d bytes a job", each)
	require.Less(t, each, int64(2_048))
	runtime.KeepAlive(snapshots)
	runtime.KeepAlive(states)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The cost of a change must not depend on the number of items.
func BenchmarkApplyOneChange(b *testing.B) {
	for _, items := range []int{3, 10_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			nodes := idleJob(b, "orders", items)
			state := jobtree.StateOf("orders", registry.NewSnapshot(1, nodes))
			record := nodes[len(nodes)-1]
			step := registry.Step{Changes: []registry.Change{{Old: record, New: record}}}
			b.ReportAllocs()
			for b.Loop() {
				state.Apply(step)
			}
		})
	}
}

// The first state of a view, and every round of a large job.
func BenchmarkApplyAll(b *testing.B) {
	for _, items := range []int{3, 10_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			snapshot := registry.NewSnapshot(1, idleJob(b, "orders", items))
			b.ReportAllocs()
			for b.Loop() {
				jobtree.StateOf("orders", snapshot)
			}
		})
	}
}

func BenchmarkOwnersOfAllItems(b *testing.B) {
	state := jobtree.StateOf("orders", registry.NewSnapshot(1, idleJob(b, "orders", 10_000)))
	b.ReportAllocs()
	for b.Loop() {
		mine := 0
		for i := range state.Total() {
			if state.Owner(i) == "10.0.0.1@-@7-c0ffee" {
				mine++
			}
		}
		if mine == 0 {
			b.Fatal("owns nothing")
		}
	}
}
