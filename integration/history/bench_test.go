package history_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/job"
)

// BenchmarkWrite tells how many executions a second a store takes, by the size of batches. Half of each
// batch are starts that are new, half are ends of the batch before.
func BenchmarkWrite(b *testing.B) {
	for _, p := range places {
		for _, size := range []int{2, 16, 64, 256, 1024} {
			b.Run(fmt.Sprintf("store=%s/batch=%d", p.name, size), func(b *testing.B) {
				store, _, _ := p.open(b)
				require.NoError(b, store.Prepare(b.Context()))
				var before, batch []history.Event
				token, written := 0, 0
				b.ReportAllocs()
				began := time.Now()
				for b.Loop() {
					batch = batch[:0]
					for _, e := range before {
						batch = append(batch, e.(history.Execution).Ended(began, nil, nil))
					}
					before = before[:0]
					for range size / 2 {
						token++
						before = append(before, history.Started("host-1", strconv.Itoa(token), job.ShardingContext{
							JobName: "orders", TaskID: "orders@-@0,1@-@READY@-@10.0.0.1@-@42", Token: int64(token), Source: job.Scheduled, Fire: began,
						}, began))
					}
					batch = append(batch, before...)
					require.NoError(b, store.Write(b.Context(), batch))
					written += size / 2
				}
				b.ReportMetric(float64(written)/time.Since(began).Seconds(), "executions/s")
			})
		}
	}
}
