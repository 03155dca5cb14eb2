package api

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// thousands returns a registry with jobs of three items each, which have run.
func thousands(b *testing.B, jobs int) *memory.Registry {
	b.Helper()
	reg := memory.NewServer().Open("shop")
	session, err := reg.Session(b.Context())
	require.NoError(b, err)
	record := jobtree.EncodeRecord(ran(b, time.Now().UTC().Truncate(time.Minute), jobtree.Success, ""))
	for i := range jobs {
		name := fmt.Sprintf("job-%05d", i)
		text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: fmt.Sprintf("%d * * * * ?", i%60), ShardingTotalCount: 3})
		require.NoError(b, err)
		tree := jobtree.For(name)
		writes := []registry.Write{registry.Put(tree.Config(), text), registry.PutOwned(tree.Instance(first), "", session), registry.PutOwned(tree.Leader(), first, session)}
		for item := range 3 {
			writes = append(writes, registry.Put(tree.ItemInstance(item), first), registry.Put(tree.ItemRecord(item), record))
		}
		_, err = reg.Commit(b.Context(), registry.Txn{Then: writes})
		require.NoError(b, err)
	}
	return reg
}

// What pages ask for, over ten thousand jobs. The goal is 50 ms for 99 of 100 requests.
func BenchmarkPageData(b *testing.B) {
	w := serve(b, thousands(b, 10_000), nil)
	for name, path := range map[string]string{
		"Jobs": "/jobs?limit=100", "JobsByNext": "/jobs?sort=next&limit=100&offset=5000", "JobsFiltered": "/jobs?match=*99*&status=ok&sort=-last",
		"Job": "/jobs/job-07777", "Servers": "/servers", "Instances": "/instances", "Operations": "/operations", "Executions": "/executions",
	} {
		b.Run(name, func(b *testing.B) {
			ctx := access.NewContext(context.Background(), vera)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				recorder := httptest.NewRecorder()
				w.api.ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, "GET", "/namespaces/shop"+path, nil))
				took = append(took, time.Since(began))
				if recorder.Code != 200 {
					b.Fatal(recorder.Code, recorder.Body.String())
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
