package clustertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// The tests in example_test.go run what these examples show.

// t is the one of your test function.
var t *testing.T

// A job of four items runs on three instances for an hour. One instance crashes while it runs an item, and the
// others run this item again.
func ExampleRun() {
	invoices := job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4, Failover: true}
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(invoices, clustertest.Work(30*time.Second)) // or the code of your application
		c.StartN(3)
		c.Advance(time.Hour + time.Second) // each item is one second into its work
		c.Owner("invoices", 0).Crash()
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
	})
}

// A rolling update stops and starts one instance after the other.
func ExampleInstance_Restart() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), clustertest.Work(10*time.Second))
		c.StartN(3)
		for _, i := range c.Instances() {
			c.Advance(5*time.Minute + time.Second)
			i.Restart()
		}
		c.EveryFireRanOnce("invoices")
	})
}

// When an instance stops, another one runs its items from the next fire on.
func ExampleInstance_Stop() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		a, b := c.Start("a"), c.Start("b")
		c.Advance(5 * time.Minute)
		a.Stop()
		c.Advance(5 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(5*time.Minute), a)
		c.RanOn("invoices", 0, clustertest.At(10*time.Minute), b)
	})
}

// Without failover, a crash loses the executions that it cuts short, and nothing else.
func ExampleInstance_Crash() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), clustertest.Work(30*time.Second))
		c.StartN(4)
		c.Advance(time.Hour + time.Second)
		c.Owner("invoices", 0).Crash()
		c.Advance(time.Hour)
		c.MissedExactly("invoices", clustertest.Fire{Item: 0, Time: clustertest.At(time.Hour)})
		c.NoFireRanTwice("invoices")
	})
}

// An instance stands still for longer than its session lasts. Another instance runs the item again, and the
// context of the first execution has ended when its instance goes on.
func ExampleInstance_Freeze() {
	cfg := everyFiveMinutes()
	cfg.Failover = true
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(cfg, clustertest.Work(30*time.Second))
		a, b := c.Start("a"), c.Start("b")
		c.Advance(5*time.Minute + time.Second)
		a.Freeze()
		c.Advance(time.Minute)
		a.Thaw()
		c.Advance(5 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(5*time.Minute), b)
		c.EveryFireRanOnce("invoices")
	})
}

// An instance loses its connection for two minutes, and the others take over.
func ExampleInstance_CutOff() {
	cfg := everyFiveMinutes()
	cfg.Failover = true
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(cfg, clustertest.Work(30*time.Second))
		a := c.Start("a")
		c.Start("b")
		c.Advance(5*time.Minute + time.Second)
		a.CutOff()
		c.Advance(2 * time.Minute)
		a.Heal()
		c.Advance(5 * time.Minute)
		c.MissedExactly("invoices")
	})
}

// The clock of one instance is ten seconds ahead: its items run early, and nothing runs twice.
func ExampleInstance_SetClock() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		a := c.Start("a")
		c.Start("b")
		a.SetClock(10 * time.Second)
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
	})
}

// A slow network delays the runs and loses none.
func ExampleInstance_Slow() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		c.Start("a").Slow(300 * time.Millisecond)
		c.Advance(time.Hour + time.Second)
		c.EveryFireRanOnce("invoices")
	})
}

// An operator takes a server out of a job, and puts it back.
func ExampleInstance_Disable() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		a, b := c.Start("a"), c.Start("b")
		a.Disable("invoices")
		c.Advance(5 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(5*time.Minute), b)
		a.Enable("invoices")
		c.Advance(5 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(10*time.Minute), a)
	})
}

// Fires of an item that is disabled do not count as missed.
func ExampleCluster_DisableItem() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		c.StartN(2)
		c.DisableItem("invoices", 3)
		c.Advance(10 * time.Minute)
		c.EnableItem("invoices", 3)
		c.Advance(5 * time.Minute)
		c.EveryFireRanOnce("invoices")
	})
}

// Somebody changes the settings while the job runs.
func ExampleCluster_Update() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		c.StartN(2)
		c.Advance(time.Hour)
		c.Update("invoices", func(cfg *job.Config) { cfg.Cron, cfg.ShardingTotalCount = "0 * * * * ?", 8 })
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
	})
}

// A job that runs only when somebody asks for it.
func ExampleCluster_Trigger() {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(job.Config{Name: "cleanup", Cron: "@triggered", ShardingTotalCount: 2}, nil)
		c.StartN(2)
		c.Advance(time.Hour)
		c.Trigger("cleanup")
		if ran := c.Executions("cleanup"); len(ran) != 2 || ran[0].Source != job.Manual {
			t.Fatal(c.Story("cleanup"))
		}
	})
}

// The registry is down for a minute.
func ExampleCluster_Store() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), clustertest.Work(2*time.Second))
		c.StartN(2)
		c.Advance(5*time.Minute + time.Second)
		c.Store().Stop()
		c.Advance(time.Minute)
		c.Store().Start()
		c.Advance(10 * time.Minute)
		c.EveryFireRanOnce("invoices")
	})
}

// The night in which Berlin's clocks go forward: the job at half past two runs once, when the gap is over.
func ExampleCluster_AdvanceTo() {
	nightly := job.Config{Name: "nightly", Cron: "0 30 2 * * ?", ShardingTotalCount: 1, TimeZone: "Europe/Berlin"}
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(nightly, nil)
		c.AdvanceTo(time.Date(2026, time.March, 29, 0, 0, 0, 0, time.UTC))
		a := c.Start("a")
		c.Advance(2 * time.Hour)
		c.RanOn("nightly", 0, time.Date(2026, time.March, 29, 1, 0, 0, 0, time.UTC), a)
	})
}

// An application declares its jobs in a function of its own.
func ExampleCluster_Setup() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Setup(func(ctx context.Context, i *clustertest.Instance) error {
			return declareJobs(ctx, i.Scheduler())
		})
		c.StartN(2)
		c.Advance(10 * time.Minute)
		c.EveryFireRanOnce("invoices")
	})
}

// declareJobs is a function of an application.
func declareJobs(ctx context.Context, s *scheduler.Scheduler) error {
	_, err := s.Add(ctx, everyFiveMinutes(), clustertest.Work(0))
	return err
}

// Code that crashes its own instance half-way.
func ExampleInstanceName() {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		crashed := false
		c.Job(job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1, Failover: true},
			job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
				if !crashed {
					crashed = true
					c.Instance(clustertest.InstanceName(ctx)).Crash()
				}
				return ctx.Err()
			}))
		c.StartN(2)
		c.Advance(10 * time.Minute)
		c.EveryFireRanOnce("invoices")
	})
}
