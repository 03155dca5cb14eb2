package bench_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// How late items start of a thousand jobs of one process that fire in the same second: with the mark
// in the store that a start needs, and without.
func BenchmarkSameSecond(b *testing.B) {
	const jobs = 1_000
	for _, monitored := range []bool{true, false} {
		b.Run(fmt.Sprintf("jobs=%d/monitored=%t", jobs, monitored), func(b *testing.B) {
			c := newCrowd(b, jobs, 1, monitored)
			c.fire() // the first time, memory and buffers grow
			var p50, p99 sample
			for b.Loop() {
				r := c.fire()
				p50.add(r.late.median())
				p99.add(r.late.quantile(0.99))
			}
			hideTime(b)
			reportMS(b, p50.median(), "late-p50")
			reportMS(b, p99.median(), "late-p99")
			c.process.stop()
		})
	}
}

// Ten thousand items of a thousand jobs that one process begins and ends in the same moment: with
// commits that meet in shared requests, with a request for each, and beside them as many plain
// transactions by etcd's own client, which nothing can beat. One by one an item takes as long however
// many there are, so a tenth of the jobs is enough to tell how long ten thousand items would take.
func BenchmarkBurst(b *testing.B) {
	const jobs, items, part = 1_000, 10, 10
	b.Run(fmt.Sprintf("jobs=%d/items=%d", jobs, items), func(b *testing.B) {
		shared := newCrowd(b, jobs, items, true)
		apart := newCrowd(b, jobs/part, items, true, func(c *etcd.Config) { c.NoCoalescing = true })
		plain := newPlainStore(b, store.endpoints(b))
		plain.burst(jobs) // the first time, memory and buffers grow
		var together, oneByOne, limit sample
		for b.Loop() {
			together.add(shared.fire().took())
			oneByOne.add(apart.fire().took() * part)
			limit.add(plain.burst(2 * jobs * items)) // a begin and an end for each
		}
		hideTime(b)
		reportMS(b, together.median(), "shared")
		reportMS(b, oneByOne.median(), "apart")
		reportMS(b, limit.median(), "plain")
		reportRatio(b, oneByOne.median(), together.median(), "apart-to-shared")
		reportRatio(b, together.median(), limit.median(), "shared-to-plain")
		shared.process.stop()
		apart.process.stop()
	})
}

// The same burst where three processes share the items, and where the store has three members: until all items have begun,
// and until all ends are recorded, beside as many plain transactions on the same store.
func BenchmarkBurstOfMany(b *testing.B) {
	const jobs, items = 1_000, 10
	for _, shape := range []struct{ processes, members int }{{3, 1}, {1, 3}} {
		b.Run(fmt.Sprintf("processes=%d/members=%d", shape.processes, shape.members), func(b *testing.B) {
			cluster, err := embedded.StartCluster(b.Context(), shape.members)
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, cluster.Close()) })
			namespace := newNamespace()
			c := newSharedCrowd(b, shape.processes, jobs, items, func(b *testing.B) handle {
				return openEtcd(b, namespace, func(c *etcd.Config) { c.Endpoints = cluster.Endpoints() })
			})
			plain := newPlainStore(b, cluster.Endpoints())
			plain.burst(jobs) // the first time, memory and buffers grow
			c.fire()
			var begun, ended, limit sample
			for b.Loop() {
				r := c.fire()
				begun.add(r.late.quantile(1))
				ended.add(r.took())
				limit.add(plain.burst(2 * jobs * items)) // a begin and an end for each
			}
			hideTime(b)
			reportMS(b, begun.median(), "all-begun")
			reportMS(b, ended.median(), "all-ended")
			reportMS(b, limit.median(), "plain")
			reportRatio(b, ended.median(), limit.median(), "all-ended-to-plain")
			c.stop()
		})
	}
}
