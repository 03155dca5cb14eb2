package etcd_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/registrytest"
)

func BenchmarkBackend(b *testing.B) { registrytest.Bench(b, description()) }

// BenchmarkBurst commits ten thousand transactions from as many goroutines, as jobs that fire in the
// same second do, with and without coalescing, on a server that syncs to disk.
func BenchmarkBurst(b *testing.B) {
	const burst = 10_000
	server := startDurableServer(b)
	for _, alone := range []bool{false, true} {
		b.Run(fmt.Sprintf("commits=%d/alone=%v", burst, alone), func(b *testing.B) {
			var sent counter
			r := open(b, server.Endpoints(), sent.on, func(c *etcd.Config) { c.NoCoalescing = alone })
			errs := make([]error, burst)
			b.ReportAllocs()
			for b.Loop() {
				var commits sync.WaitGroup
				for i := range burst {
					commits.Go(func() { errs[i] = begin(b.Context(), r, i) })
				}
				commits.Wait()
			}
			for _, err := range errs {
				require.NoError(b, err)
			}
			b.ReportMetric(float64(sent.commits.Load())/float64(b.N), "requests/op")
			b.ReportMetric(burst*float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// begin is about what the begin of an item is.
func begin(ctx context.Context, r registry.Committer, i int) error {
	item := fmt.Sprintf("/job%d/sharding/0", i)
	_, err := r.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.Absent(item + "/disabled")},
		Then: []registry.Write{registry.Put(item+"/running", "me"), registry.Put(item+"/record", "running")},
	})
	return err
}
