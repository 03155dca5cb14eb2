package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// everyFiveMinutes is a job of four items.
func everyFiveMinutes() job.Config {
	return job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 4}
}

// The whole of a test: three instances, an hour, a crash in the middle of an execution, another hour.
func TestACrash(t *testing.T) {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		cfg := everyFiveMinutes()
		cfg.Failover = true
		c.Job(cfg, clustertest.Work(30*time.Second))
		c.StartN(3)
		c.Advance(time.Hour + time.Second) // each item is one second into its work
		c.Owner("invoices", 0).Crash()
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
	})
}

// Without failover, a crash loses what it cuts short, and nothing else.
func TestACrashWithoutFailover(t *testing.T) {
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

// Who ran what: the items of an instance that stops move at once.
func TestAStop(t *testing.T) {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		a, b := c.Start("a"), c.Start("b")
		c.Advance(5 * time.Minute)
		a.Stop()
		c.Advance(5 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(5*time.Minute), a)
		c.RanOn("invoices", 0, clustertest.At(10*time.Minute), b)
		c.EveryFireRanOnce("invoices")
	})
}

// A rolling update: every instance is stopped and started again, one after the other.
func TestARollingUpdate(t *testing.T) {
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

// All instances die, and come back two hours later. The job has a window for what was missed meanwhile, which
// runs once, for the newest fire.
func TestAllDieAndComeBack(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := job.Config{
			Name:               "report",
			Cron:               "0 0 * * * ?",
			ShardingTotalCount: 1,
			MisfireWindow:      24 * time.Hour,
		}
		c.Job(cfg, nil)
		a := c.Start("a")
		c.Advance(90 * time.Minute)
		a.Crash()
		c.Advance(2 * time.Hour)
		a.Restart()
		c.Advance(time.Minute)
		c.MissedExactly("report", clustertest.Fire{Item: 0, Time: clustertest.At(2 * time.Hour)})
		if ran := c.Executions("report"); ran[1].Source != job.Misfire || !ran[1].Fire.Equal(clustertest.At(3*time.Hour)) {
			t.Fatal(c.Story("report"))
		}
	})
}

// An instance stands still for longer than its session lasts: another one takes over what it was running,
// and when it goes on, its context has ended.
func TestAFreeze(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := everyFiveMinutes()
		cfg.Failover = true
		c.Job(cfg, clustertest.Work(30*time.Second))
		a, b := c.Start("a"), c.Start("b")
		c.Advance(5*time.Minute + time.Second)
		a.Freeze()
		c.Advance(time.Minute)
		a.Thaw()
		c.Advance(5 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(5*time.Minute), b)
		c.EveryFireRanOnce("invoices")
		if first := c.Executions("invoices")[0]; first.Outcome != clustertest.CutShort || !errors.Is(first.Err, registry.ErrSessionLost) {
			t.Fatal(c.Story("invoices"))
		}
	})
}

// An instance is cut off from the registry, and the others take over. Its code does not heed its context, so the
// fires of that moment run twice: what fencing tokens are for.
func TestACutConnection(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := everyFiveMinutes()
		cfg.Failover = true
		c.Job(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			time.Sleep(30 * time.Second) // and not clustertest.Sleep with the context
			return nil
		}))
		a := c.Start("a")
		c.Start("b")
		c.Advance(5*time.Minute + time.Second)
		a.CutOff()
		c.Advance(2 * time.Minute)
		a.Heal()
		c.Advance(5 * time.Minute)
		c.MissedExactly("invoices")
		c.NothingFailed("invoices")
		twice := make(map[clustertest.Fire]int)
		for _, e := range c.Executions("invoices") {
			twice[clustertest.Fire{Item: e.Item, Time: e.Fire}]++
		}
		if at := (clustertest.Fire{Item: 0, Time: clustertest.At(5 * time.Minute)}); twice[at] != 2 {
			t.Fatal(c.Story("invoices"))
		}
	})
}

// The clock of one of two instances is ten seconds ahead: its items run early, and nothing runs twice.
func TestAWrongClock(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		a := c.Start("a")
		c.Start("b")
		a.SetClock(10 * time.Second)
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
		for _, e := range c.Executions("invoices") {
			if early := e.Fire.Sub(e.Began); early > 0 != (e.Instance == "a") {
				t.Fatal(c.Story("invoices"))
			}
		}
	})
}

// A slow network delays the runs and loses none.
func TestASlowNetwork(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		c.Start("a").Slow(300 * time.Millisecond)
		c.Advance(time.Hour + time.Second)
		c.EveryFireRanOnce("invoices")
		if first := c.Executions("invoices")[0]; first.Began.Sub(first.Fire) < 600*time.Millisecond {
			t.Fatal(c.Story("invoices"))
		}
	})
}

// A job that only runs when it is asked to.
func TestATrigger(t *testing.T) {
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

// An operator takes a server out, and an item, and puts both back.
func TestAnOperatorDisables(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		a, b := c.Start("a"), c.Start("b")
		a.Disable("invoices")
		c.DisableItem("invoices", 3)
		c.Advance(10 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(10*time.Minute), b)
		a.Enable("invoices")
		c.EnableItem("invoices", 3)
		c.Advance(5 * time.Minute)
		c.RanOn("invoices", 0, clustertest.At(15*time.Minute), a)
		c.EveryFireRanOnce("invoices") // those of item 3 were none for ten minutes
		if n := len(c.Executions("invoices")); n != 3+3+4 {
			t.Fatal(c.Story("invoices"))
		}
	})
}

// The settings change while the job runs: three times as often, and twice the items.
func TestSettingsChange(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(everyFiveMinutes(), nil)
		c.StartN(2)
		c.Advance(time.Hour)
		c.Update("invoices", func(cfg *job.Config) { cfg.Cron, cfg.ShardingTotalCount = "0 * * * * ?", 8 })
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
		if n := len(c.Executions("invoices")); n != 12*4+60*8 {
			t.Fatalf("%d executions", n)
		}
	})
}

// The registry is down for a minute. Executions that are under way finish, and nothing runs twice.
func TestTheRegistryIsDown(t *testing.T) {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		cfg := everyFiveMinutes()
		cfg.Failover = true
		c.Job(cfg, clustertest.Work(2*time.Second))
		c.StartN(2)
		c.Advance(5*time.Minute + time.Second)
		c.Store().Stop()
		c.Advance(time.Minute)
		c.Store().Start()
		c.Advance(10 * time.Minute)
		c.EveryFireRanOnce("invoices")
	})
}

// A night in which the clock is moved forward: the job at half past two runs once, when the gap is over.
func TestAnotherDate(t *testing.T) {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		cfg := job.Config{
			Name:               "nightly",
			Cron:               "0 30 2 * * ?",
			ShardingTotalCount: 1,
			TimeZone:           "Europe/Berlin",
		}
		c.Job(cfg, nil)
		c.AdvanceTo(time.Date(2026, time.March, 29, 0, 0, 0, 0, time.UTC))
		a := c.Start("a")
		c.Advance(2 * time.Hour)
		c.RanOn("nightly", 0, time.Date(2026, time.March, 29, 1, 0, 0, 0, time.UTC), a)
		c.EveryFireRanOnce("nightly")
	})
}

// The code of a job crashes its own instance: the first execution of item 2 dies half-way. What else the
// instance ran in that moment runs elsewhere again, whether or not its code had just returned.
func TestCodeCrashesItsInstance(t *testing.T) {
	clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
		cfg := everyFiveMinutes()
		cfg.Failover = true
		var once sync.Once
		c.Job(cfg, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 2 {
				once.Do(func() { c.Instance(clustertest.InstanceName(ctx)).Crash() })
			}
			return ctx.Err()
		}))
		c.StartN(2)
		c.Advance(10 * time.Minute)
		c.MissedExactly("invoices")
	})
}

// app is an application that declares its jobs in a function of its own, and has a fake for what they need.
type app struct{ ledger *ledger }

func (a app) register(ctx context.Context, s *scheduler.Scheduler) error {
	_, err := s.Add(ctx, everyFiveMinutes(), job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		return a.ledger.write(ctx, fmt.Sprintf("invoices of item %d", sc.Item))
	}))
	return err
}

// ledger is a fake that takes its time, and knows who wrote.
type ledger struct {
	mu   sync.Mutex
	rows map[string]int // by instance
}

func (l *ledger) write(ctx context.Context, _ string) error {
	if err := clustertest.Sleep(ctx, time.Second); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[clustertest.InstanceName(ctx)]++
	return nil
}

// The application's own functions declare the jobs and make the scheduler.
func TestAnApplicationOfYourOwn(t *testing.T) {
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		shared := &ledger{rows: make(map[string]int)}
		c.Setup(func(ctx context.Context, i *clustertest.Instance) error {
			return app{ledger: shared}.register(ctx, i.Scheduler())
		})
		c.NewWith(func(reg registry.Registry, options ...scheduler.Option) (*scheduler.Scheduler, error) {
			ours := []scheduler.Option{scheduler.WithStopTimeout(time.Second)}
			return scheduler.New(reg, append(ours, options...)...)
		})
		c.StartN(2)
		c.Advance(10*time.Minute + time.Second)
		c.EveryFireRanOnce("invoices")
		if shared.rows["a"] != 4 || shared.rows["b"] != 4 {
			t.Fatal(shared.rows)
		}
	})
}
