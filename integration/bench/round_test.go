package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// What a round adds to the code of its items: from the fire to the code of the last item, and from the return of the
// last item to the moment at which all ends are recorded. Both are one request to the store, so they are compared with one
// transaction of two puts by etcd's own client. How late a timer of Go's rings on this machine stands beside: what
// asks nobody is as late.
func BenchmarkRound(b *testing.B) {
	for _, items := range []int{1, 100} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) { benchRound(b, items) })
	}
}

func benchRound(b *testing.B, items int) {
	const perOp, warmUp = 10, 3
	rs := newRounds(items)
	p := newProcess(b, openEtcd(b, newNamespace()), scheduler.WithObserver(rs))
	p.add(job.Config{Name: "orders", Cron: "@every 200ms", ShardingTotalCount: items}, rs.work)
	p.start()
	plain := newPlainStore(b, store.endpoints(b))
	for range warmUp {
		receive(b, rs.done)
	}
	var begins, ends, txns, timers sample
	for b.Loop() {
		for range perOp {
			r := receive(b, rs.done)
			begins.add(r.late.quantile(1))
			ends.add(r.finish.quantile(1))
			timers.add(lateness()) // what the round left to be done is done meanwhile
			txns.add(plain.txn())
		}
	}
	hideTime(b)
	reportMS(b, txns.median(), "plain-txn")
	reportMS(b, timers.median(), "timer")
	reportMS(b, begins.median(), "fire-to-code")
	reportRatio(b, begins.median(), txns.median(), "fire-to-code")
	reportMS(b, ends.median(), "return-to-recorded")
	reportRatio(b, ends.median(), txns.median(), "return-to-recorded")
	p.stop()
}

// lateness returns how late a timer is now.
func lateness() time.Duration {
	const d = 30 * time.Millisecond
	began := time.Now()
	time.Sleep(d)
	return time.Since(began) - d
}
