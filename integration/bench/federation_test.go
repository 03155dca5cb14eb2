package bench_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// BenchmarkFederation runs the same jobs over one etcd and spread over three, by turns, and compares the processor time that
// an execution takes, of the process and the servers together. Where three clusters have machines of their own, equal time
// for an execution is three times the rate.
func BenchmarkFederation(b *testing.B) {
	const clusters, jobs, items, seconds, turns = 3, 60, 10, 4, 2
	var servers []*embedded.Server
	for range clusters {
		s, err := embedded.Start(b.Context())
		require.NoError(b, err)
		defer func() { require.NoError(b, s.Close()) }()
		servers = append(servers, s)
	}
	// perExecution is the processor time of an execution, in milliseconds, over the first n clusters.
	perExecution := func(n int) float64 {
		var ran atomic.Int64
		var registries []federation.Registry
		namespace := fmt.Sprintf("federation-%d", namespaces.Add(1))
		for i := range n {
			registries = append(registries, federation.Registry{Name: fmt.Sprintf("c%d", i), Open: func(ctx context.Context) (registry.Registry, error) {
				return etcd.Open(ctx, etcd.Config{
					Endpoints: servers[i].Endpoints(), Namespace: namespace, RequestTimeout: 10 * time.Second, SessionTTL: 30 * time.Second,
				})
			}})
		}
		f, err := federation.New("c0", registries, federation.WithPatience(time.Minute))
		require.NoError(b, err)
		for i := range jobs {
			_, err := f.Add(b.Context(), job.Config{Name: fmt.Sprintf("job-%d", i), Cron: "@every 1s", ShardingTotalCount: items},
				job.HandlerFunc(func(context.Context, job.ShardingContext) error {
					ran.Add(1)
					return nil
				}))
			require.NoError(b, err)
		}
		ctx, stop := context.WithCancel(b.Context())
		done := make(chan error, 1)
		go func() { done <- f.Run(ctx) }()
		require.Eventually(b, func() bool { return ran.Load() >= 2*jobs*items }, time.Minute, 10*time.Millisecond)
		before, began := ran.Load(), processorTime(b)
		require.Eventually(b, func() bool { return ran.Load() >= before+seconds*jobs*items }, time.Minute, 10*time.Millisecond)
		took, executions := processorTime(b)-began, ran.Load()-before
		stop()
		require.NoError(b, <-done)
		return took.Seconds() * 1_000 / float64(executions)
	}
	for b.Loop() {
		var one, three float64
		for range turns {
			one += perExecution(1) / turns
			three += perExecution(clusters) / turns
		}
		b.ReportMetric(one, "cpu-ms/execution-1")
		b.ReportMetric(three, "cpu-ms/execution-3")
		b.ReportMetric(three/one, "x")
	}
	b.ReportMetric(0, "ns/op")
}

// processorTime is what this process has taken so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
