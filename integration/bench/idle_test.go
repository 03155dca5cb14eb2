package bench_test

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// What jobs take of a process while they wait for their next fire, and how long it takes until all of
// them have an owner. The memory is that of the scheduler and of its copy of the tree, without the
// store's own: that which goes when the process vanishes and the store keeps everything.
func BenchmarkIdle(b *testing.B) {
	inMemory, inEtcd := []int{100, 10_000}, 1_000
	if *large {
		inMemory, inEtcd = append(inMemory, 100_000), 10_000
	}
	for _, jobs := range inMemory {
		b.Run(fmt.Sprintf("store=memory/jobs=%d", jobs), func(b *testing.B) {
			cost := benchIdle(b, jobs, func(b *testing.B) handle {
				server := memory.NewServer()
				b.Cleanup(func() { runtime.KeepAlive(server) })
				return server.Open("bench")
			})
			b.ReportMetric(float64(cost.bytes)/float64(jobs), "B/job")
		})
	}
	b.Run(fmt.Sprintf("store=etcd/jobs=%d", inEtcd), func(b *testing.B) {
		benchIdle(b, inEtcd, func(b *testing.B) handle { return openEtcd(b, newNamespace()) })
	})
}

// How long a process takes that has no jobs of its own until every item of those that are in etcd has its owner.
func BenchmarkJobsOfTheRegistry(b *testing.B) {
	jobs := 1_000
	if *large {
		jobs = 10_000
	}
	b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
		var start time.Duration
		for b.Loop() {
			namespace := newNamespace()
			operator := openEtcd(b, namespace)
			storeJobs(b, operator, jobs)
			require.NoError(b, operator.Close(b.Context()))
			assigned := &reshardings{all: make(chan time.Time, 1)}
			assigned.left.Store(int64(jobs))
			p := newProcess(b, openEtcd(b, namespace), scheduler.WithObserver(assigned), scheduler.WithHandler("idle", job.HandlerFunc(idle)))
			began := time.Now()
			p.start()
			start = receive(b, assigned.all).Sub(began)
			p.crash()
		}
		hideTime(b)
		reportMS(b, start, "start")
	})
}

// storeJobs stores jobs of the class idle, as operators do.
func storeJobs(b *testing.B, reg registry.Registry, jobs int) {
	b.Helper()
	var txns []registry.Txn
	for i := range jobs {
		cfg := yearly(fmt.Sprintf("job-%d", i), 2)
		cfg.Class = "idle"
		text, err := jobtree.EncodeConfig(cfg)
		require.NoError(b, err)
		txns = append(txns, registry.Txn{Then: []registry.Write{registry.Put(jobtree.For(cfg.Name).Config(), text)}})
	}
	for _, outcome := range reg.CommitAll(b.Context(), txns) {
		require.NoError(b, outcome.Err)
	}
}

// mostOfAnIdleJob is what an idle job of two items may take of its process, in bytes. docs/scaling.md says what it takes.
const mostOfAnIdleJob = 4_900

// A job that waits for its next fire has no goroutine, and takes little memory: there may be thousands. Of several
// measurements the least counts, since what else happens in the process only adds to it.
func TestAnIdleJobTakesLittle(t *testing.T) {
	const jobs = 2_000
	least := int64(math.MaxInt64)
	for range 6 {
		server := memory.NewServer()
		cost := measureIdle(t, server.Open("bench"), jobs)
		runtime.KeepAlive(server)
		require.Less(t, cost.goroutines, jobs/100)
		if least = min(least, cost.bytes/jobs); least <= mostOfAnIdleJob {
			break
		}
	}
	require.LessOrEqual(t, least, int64(mostOfAnIdleJob))
}

// benchIdle reports what means the same for every store. The heap does not: an etcd server in this
// process has its own there.
func benchIdle(b *testing.B, jobs int, open func(*testing.B) handle) idleCost {
	var cost idleCost
	for b.Loop() {
		cost = measureIdle(b, open(b), jobs)
	}
	hideTime(b)
	b.ReportMetric(float64(cost.goroutines), "goroutines")
	reportMS(b, cost.declare, "declare")
	reportMS(b, cost.start, "start")
	return cost
}

// idleCost is what idle jobs take.
type idleCost struct {
	bytes      int64
	goroutines int
	declare    time.Duration // of all, one after the other
	start      time.Duration // from Run until every item has its owner
}

func measureIdle(tb testing.TB, reg handle, jobs int) idleCost {
	tb.Helper()
	var cost idleCost
	before := runtime.NumGoroutine()
	assigned := &reshardings{all: make(chan time.Time, 1)}
	assigned.left.Store(int64(jobs))
	p := newProcess(tb, reg, scheduler.WithObserver(assigned))
	began := time.Now()
	for i := range jobs {
		p.add(yearly(fmt.Sprintf("job-%d", i), 2), idle)
	}
	cost.declare = time.Since(began)
	began = time.Now()
	p.start()
	cost.start = receive(tb, assigned.all).Sub(began)
	cost.goroutines = fewestGoroutines() - before
	full := heapInUse()
	p.crash()
	p = nil
	fewestGoroutines() // those that end yet hold some of it
	cost.bytes = full - heapInUse()
	return cost
}

// fewestGoroutines returns how many there are when nothing is being done.
func fewestGoroutines() int {
	fewest := runtime.NumGoroutine()
	for range 50 {
		time.Sleep(10 * time.Millisecond)
		fewest = min(fewest, runtime.NumGoroutine())
	}
	return fewest
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// reshardings tells when so many jobs have been spread over their instances.
type reshardings struct {
	left atomic.Int64
	all  chan time.Time
}

// Observe counts a resharding.
func (r *reshardings) Observe(event scheduler.Event) {
	if _, is := event.(scheduler.ReshardEvent); is && r.left.Add(-1) == 0 {
		r.all <- time.Now()
	}
}
