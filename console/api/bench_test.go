package api

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// What a namespace has of which pages are measured: 20 instances, 3 of which take part in each job.
const (
	benchJobs       = 10_000
	benchInstances  = 20
	benchOfJob      = 3
	benchItems      = 3
	benchOperations = 4
)

func benchInstance(i int) string { return fmt.Sprintf("10.0.0.%d@-@7-a", i%benchInstances) }

// thousands returns a registry with jobs that have run and were operated.
func thousands(b *testing.B, jobs int) *memory.Registry {
	b.Helper()
	reg := memory.NewServer().Open("shop", memory.WithTTL(time.Hour))
	session, err := reg.Session(b.Context())
	require.NoError(b, err)
	fire := time.Now().UTC().Truncate(time.Minute)
	var records [benchInstances]string
	for i := range records {
		records[i] = strings.ReplaceAll(jobtree.EncodeRecord(ran(b, fire, jobtree.Success, "")), first, benchInstance(i))
	}
	for i := range jobs {
		name := fmt.Sprintf("job-%05d", i)
		text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: fmt.Sprintf("%d * * * * ?", i%60), ShardingTotalCount: benchItems})
		require.NoError(b, err)
		tree := jobtree.For(name)
		writes := []registry.Write{registry.Put(tree.Config(), text), registry.PutOwned(tree.Leader(), benchInstance(i), session)}
		for n := range benchOfJob {
			writes = append(writes, registry.PutOwned(tree.Instance(benchInstance(i+n)), "", session))
		}
		for item := range benchItems {
			writes = append(writes, registry.Put(tree.ItemInstance(item), benchInstance(i+item)), registry.Put(tree.ItemRecord(item), records[(i+item)%benchInstances]))
		}
		var done jobtree.Operated
		for n := range benchOperations {
			done = done.With(jobtree.Operation{
				ID: fmt.Sprintf("op-%d-of-%d", n, i), Verb: "change settings", Who: "anna", When: time.Now().Add(-time.Duration(i*7%jobs) * time.Minute), Before: text,
			})
		}
		writes = append(writes, registry.Put(tree.Operated(), jobtree.EncodeOperated(done)))
		_, err = reg.Commit(b.Context(), registry.Txn{Then: writes})
		require.NoError(b, err)
	}
	return reg
}

// runs has items of the jobs run, 500 in a second, until the benchmark ends.
func runs(b *testing.B, reg *memory.Registry) {
	b.Helper()
	session, err := reg.Session(b.Context())
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	b.Cleanup(func() {
		cancel()
		running.Wait()
	})
	running.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			path := jobtree.For(fmt.Sprintf("job-%05d", i/2*37%benchJobs)).ItemRunning(0)
			write := registry.PutOwned(path, "", session)
			if i%2 == 1 {
				write = registry.Delete(path)
			}
			_, _ = reg.Commit(ctx, registry.Txn{Then: []registry.Write{write}}) // the end cuts one off
		}
	})
}

// What pages ask for, over ten thousand jobs, of which nothing changes or 500 items a second begin or end. The goal is
// 50 ms for 99 of 100 requests. The tree below a job is what one look at a job by the command line asks for.
func BenchmarkPageData(b *testing.B) {
	pages := []struct{ name, path string }{
		{"Jobs", "/jobs?limit=100"},
		{"JobsByNext", "/jobs?sort=next&limit=100&offset=5000"},
		{"JobsFiltered", "/jobs?match=*99*&status=ok&sort=-last"},
		{"Job", "/jobs/job-07777"},
		{"Servers", "/servers"},
		{"Instances", "/instances"},
		{"Operations", "/operations?limit=200"},
		{"Operation", "/operations/op-2-of-7777"},
		{"Executions", "/executions?per-page=50"},
		{"Failures", "/executions?outcome=failure&per-page=50"},
		{"OnServer", "/executions?ip=10.0.0.3&per-page=50"},
		{"Failovers", "/executions?source=failover&per-page=200"},
		{"Nodes", "/nodes?path=/job-07777"},
	}
	for _, state := range []string{"quiet", "busy"} {
		b.Run(state, func(b *testing.B) {
			reg := thousands(b, benchJobs)
			w := serve(b, reg, nil)
			if state == "busy" {
				runs(b, reg)
			}
			for _, page := range pages {
				b.Run(page.name, func(b *testing.B) { w.measure(b, page.path) })
			}
		})
	}
}

// What the whole tree costs, which the command line asks for once a call.
func BenchmarkNodesOf10000Jobs(b *testing.B) {
	serve(b, thousands(b, benchJobs), nil).measure(b, "/nodes")
}

func (w *world) measure(b *testing.B, path string) {
	b.Helper()
	ctx := access.NewContext(context.Background(), vera)
	var took []time.Duration
	size, used := 0, cpu(b)
	for b.Loop() {
		began := time.Now()
		recorder := httptest.NewRecorder()
		w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, "GET", "/namespaces/shop"+path, nil))
		took = append(took, time.Since(began))
		size = recorder.Body.Len()
		if recorder.Code != 200 {
			b.Fatal(recorder.Code, recorder.Body.String())
		}
	}
	slices.Sort(took)
	at := func(percent int) float64 { return float64(took[len(took)*percent/100].Microseconds()) / 1000 }
	b.ReportMetric(float64((cpu(b)-used).Microseconds())/1000/float64(len(took)), "cpu-ms")
	b.ReportMetric(at(50), "p50-ms")
	b.ReportMetric(at(99), "p99-ms")
	b.ReportMetric(float64(size)/1024, "KiB")
}

// cpu is how long the process has used processors: what a request takes on a machine that does nothing else.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
