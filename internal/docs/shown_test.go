package docs_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// What docs/features.md shows.
func TestClusterOfFeatures(t *testing.T) {
	t.Parallel()
	invoices := clustertest.Work(time.Second)
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4, Failover: true}
		c.Job(cfg, invoices)
		c.StartN(3)
		c.Advance(time.Hour + time.Second)
		c.Owner("invoices", 0).Crash() // also Freeze, CutOff, Stop, Restart, SetClock, Disable
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices") // if not, the test prints who ran what when
	})
}

// What docs/operating.md shows, on a cluster in virtual time.
func TestDisableOfOperating(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}, clustertest.Work(time.Second))
		c.StartN(2)
		c.Advance(time.Minute)
		_, err := disableOfOperating(t.Context(), c.Operator())
		var refused *operate.Refusal
		require.ErrorAs(t, err, &refused, "no instance runs on that server")
	})
}

//nolint:staticcheck // the page leaves the errors to its reader
func disableOfOperating(ctx context.Context, reg registry.Registry) (any, error) {
	op, err := operate.New(reg, operate.By("anna", "runbook"))
	plan, err := op.DisableServer(ctx, "invoices", "10.0.0.7", operate.Options{DryRun: true}) // which items move
	result, err := op.DisableServer(ctx, "invoices", "10.0.0.7", operate.Options{
		Reason: "new disk", Shown: &plan.Plan, Wait: true,
	})
	return result, err
}

// What docs/java.md shows is built only: it wants a ZooKeeper, and Java.
var _ = declarationOfJava

//nolint:staticcheck // the page leaves the errors to its reader
func declarationOfJava(ctx context.Context, servers []string, unique string, orders job.Handler) (*scheduler.Scheduler, error) {
	reg, err := zkcompat.Open(ctx, zkcompat.Config{Servers: servers, Namespace: "prod"}) // Java's namespace and digest
	s, err := scheduler.New(reg, scheduler.WithJavaPeers(), scheduler.WithInstanceID("10.0.0.7@-@"+unique))
	cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 10}
	cfg.Class = "com.acme.OrderJob" // Java loads it by name
	_, err = s.Add(ctx, cfg, orders)
	return s, err
}

var _ = declarationBesideElasticJob3

func declarationBesideElasticJob3(reg registry.Registry, unique string) (*scheduler.Scheduler, error) {
	s, err := scheduler.New(reg, scheduler.WithElasticJob3Peers(), scheduler.WithInstanceID("10.0.0.7@-@"+unique))
	return s, err
}

// What docs/metrics.md shows.
func TestCollectorOfMetrics(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	s, err := collectorOfMetrics(reg)
	require.NoError(t, err)
	require.NotNil(t, s)
}

//nolint:staticcheck // the page leaves the errors to its reader
func collectorOfMetrics(reg registry.Registry) (*scheduler.Scheduler, error) {
	collector, err := prometheus.New()
	s, err := scheduler.New(reg, scheduler.WithObserver(collector))
	return s, err
}
