package bench_test

import (
	"fmt"
	"testing"

	"github.com/elasticron/elasticron/registry/etcd"
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
		plain := newPlainStore(b)
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
