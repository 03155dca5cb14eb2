package registrytest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// Bench measures what the scheduler does most. Compare backends, and changes of one, on the same
// machine only.
func Bench(b *testing.B, backend Backend) {
	b.Helper()
	b.Run("commit", func(b *testing.B) { benchCommit(b, backend, 1) })
	b.Run("commit/writes=20", func(b *testing.B) { benchCommit(b, backend, 20) })
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("batch/transactions=%d", n), func(b *testing.B) { benchBatch(b, backend, n) })
	}
	for _, n := range []int{64, 1000} {
		b.Run(fmt.Sprintf("burst/commits=%d", n), func(b *testing.B) { benchBurst(b, backend, n) })
	}
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("fanout/handles=%d", n), func(b *testing.B) { benchFanOut(b, backend, n) })
	}
	b.Run("list/nodes=10000", func(b *testing.B) { benchList(b, backend) })
}

// benchCommit measures one guarded transaction after the other: the begin of an item.
func benchCommit(b *testing.B, backend Backend, writes int) {
	e := newEnv(b, backend, nil)
	p := e.open()
	txn := registry.Txn{If: []registry.Condition{registry.Absent("/disabled")}}
	for i := range writes {
		txn.Then = append(txn.Then, registry.Put(fmt.Sprintf("/items/%d", i), "value"))
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := p.Commit(e.ctx, txn)
		require.NoError(b, err)
	}
}

// benchBatch measures independent transactions given at once: all items of a round.
func benchBatch(b *testing.B, backend Backend, n int) {
	e := newEnv(b, backend, nil)
	p := e.open()
	txns := make([]registry.Txn, n)
	for i := range txns {
		item := fmt.Sprintf("/items/%d", i)
		txns[i] = registry.Txn{
			If:   []registry.Condition{registry.Absent("/disabled"), registry.Absent(item + "/disabled")},
			Then: []registry.Write{registry.Put(item+"/running", "me"), registry.Put(item+"/record", "running")},
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, o := range p.CommitAll(e.ctx, txns) {
			require.NoError(b, o.Err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "txns/s")
}

// benchBurst measures commits that meet in the same instant: many jobs with the same schedule.
func benchBurst(b *testing.B, backend Backend, n int) {
	e := newEnv(b, backend, nil)
	p := e.open()
	errs := make([]error, n)
	b.ReportAllocs()
	for b.Loop() {
		var burst sync.WaitGroup
		for i := range n {
			burst.Go(func() {
				_, errs[i] = p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Put(fmt.Sprintf("/jobs/%d", i), "")}})
			})
		}
		burst.Wait()
		for _, err := range errs {
			require.NoError(b, err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// benchFanOut measures from the commit until every handle's view shows it.
func benchFanOut(b *testing.B, backend Backend, handles int) {
	e := newEnv(b, backend, nil)
	p := e.open()
	var views []*registry.View
	for range handles {
		views = append(views, e.view(e.open(), "/job"))
	}
	b.ReportAllocs()
	for b.Loop() {
		revision := e.commit(p, registry.Put("/job/necessary", ""))
		for _, v := range views {
			e.waitRevision(v, revision)
		}
	}
}

// benchList measures reading a large subtree as a whole.
func benchList(b *testing.B, backend Backend) {
	e := newEnv(b, backend, nil)
	p := e.open()
	fill(e, p)
	b.ReportAllocs()
	for b.Loop() {
		require.Len(b, e.list(p, "/big"), many)
	}
}
