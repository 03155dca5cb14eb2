package bench_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// sharers is how many processes share the job, and sharedItems how many items it has.
const (
	sharers     = 50
	sharedItems = 200
)

// shared is a job whose items fire each second in its own half of every twenty seconds.
type shared struct {
	following scheduler.Following
	from      time.Duration // when its half begins
	runs      atomic.Int64
	late      sample

	cpu  float64 // milliseconds
	done int64
}

// What an execution of a job costs that many processes share, and how late it is: where all of them follow all items,
// and where each follows its own. Both clusters live on one server, in this process, and fire in turns.
func BenchmarkShared(b *testing.B) {
	if testing.Short() {
		b.Skip("a hundred processes at once take the whole machine")
	}
	clusters := []*shared{{following: scheduler.FollowWhole}, {following: scheduler.FollowByCost, from: 10 * time.Second}}
	var processes []*process
	for i, c := range clusters {
		namespace := newNamespace()
		var starts errgroup.Group
		for n := range sharers {
			p := newProcess(b, openEtcd(b, namespace), named(fmt.Sprintf("%d-%d", i, n)), scheduler.WithFollowing(c.following))
			p.add(job.Config{
				Name: "shared", Cron: []string{"0-9,20-29,40-49 * * * * ?", "10-19,30-39,50-59 * * * * ?"}[i], ShardingTotalCount: sharedItems,
			}, func(_ context.Context, sc job.ShardingContext) error {
				c.runs.Add(1)
				c.late.add(time.Since(sc.Fire))
				return nil
			})
			processes = append(processes, p)
			starts.Go(func() error { p.start(); return nil })
		}
		require.NoError(b, starts.Wait())
	}
	time.Sleep(5 * time.Second) // for the processes to change over
	for b.Loop() {
		for _, c := range clusters {
			turn := time.Now().Truncate(20 * time.Second).Add(c.from)
			for time.Until(turn) < 0 {
				turn = turn.Add(20 * time.Second)
			}
			time.Sleep(time.Until(turn.Add(1500 * time.Millisecond)))
			cpu, runs := processorTime(b), c.runs.Load()
			c.late.mu.Lock()
			c.late.all = nil
			c.late.mu.Unlock()
			time.Sleep(8 * time.Second)
			c.cpu += float64(processorTime(b)-cpu) / float64(time.Millisecond)
			c.done += c.runs.Load() - runs
		}
	}
	hideTime(b)
	for _, c := range clusters {
		name := map[scheduler.Following]string{scheduler.FollowWhole: "whole", scheduler.FollowByCost: "own"}[c.following]
		b.ReportMetric(c.cpu/float64(c.done), "cpu-ms/execution-"+name)
		b.ReportMetric(float64(c.done)/float64(b.N)/8, "executions/s-"+name)
		reportMS(b, c.late.median(), "p50-"+name)
		reportMS(b, c.late.quantile(0.99), "p99-"+name)
	}
	for _, p := range processes {
		p.cancel()
	}
	var stops errgroup.Group
	for _, p := range processes {
		stops.Go(func() error { p.finish(); return nil })
	}
	require.NoError(b, stops.Wait())
}
