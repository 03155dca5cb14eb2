package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// listener is a testing.TB that keeps what it is told.
type listener struct {
	testing.TB
	said string
}

func (l *listener) Helper()           {}
func (l *listener) Output() io.Writer { return io.Discard }

func (l *listener) Fatal(args ...any) {
	l.said += fmt.Sprint(args...)
	runtime.Goexit()
}

func (l *listener) Fatalf(format string, args ...any) { l.Fatal(fmt.Sprintf(format, args...)) }
func (l *listener) Errorf(format string, args ...any) { l.said += fmt.Sprintf(format, args...) }

// said returns with what a deed fails the test; empty if it does not.
func said(c *clustertest.Cluster, deed func()) string {
	l := &listener{}
	defer c.Report(l)()
	done := make(chan struct{})
	go func() {
		defer close(done)
		deed()
	}()
	<-done
	return l.said
}

// invoices is a job of two items that fires every five minutes.
func invoices() job.Config {
	return job.Config{Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 2}
}

// The package documentation shows the first of these.
func TestWhatAFailureSays(t *testing.T) {
	t.Parallel()
	errBank := errors.New("the bank is closed\nuntil Monday")
	for name, test := range map[string]struct {
		story func(c *clustertest.Cluster)
		want  string
	}{
		"a fire that did not run": {
			func(c *clustertest.Cluster) {
				c.Job(invoices(), clustertest.Work(30*time.Second))
				c.StartN(2)
				c.Advance(10*time.Minute + time.Second)
				c.Instance("b").Crash()
				c.Advance(10 * time.Second)
				c.EveryFireRanOnce("invoices")
			},
			`not every fire of "invoices" ran once:
  item 1, fire 00:10:00: did not run, it crashed on b

what happened, and ran of "invoices", in UTC, until 00:10:11:
began     item  fire      source     on  took  outcome
00:00:00  a starts
00:00:00  b starts
00:05:00  0     00:05:00  scheduled  a   30s   ok
00:05:00  1     00:05:00  scheduled  b   30s   ok
00:10:00  0     00:10:00  scheduled  a   11s   running
00:10:00  1     00:10:00  scheduled  b   1s    crashed
00:10:01  b crashes
`,
		},
		"a fire that ran twice": {
			func(c *clustertest.Cluster) {
				cfg := invoices()
				cfg.Failover = true
				c.Job(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
					time.Sleep(10 * time.Second)
					return nil
				}))
				a := c.Start("a")
				c.Start("b")
				c.Advance(5*time.Minute + time.Second)
				a.CutOff()
				c.Advance(time.Minute)
				c.NoFireRanTwice("invoices")
			},
			`fires of "invoices" ran twice:
  item 0, fire 00:05:00: ran 2 times, on a and b

what happened, and ran of "invoices", in UTC, until 00:06:01:
began         item  fire      source     on  took  outcome
00:00:00      a starts
00:00:00      b starts
00:05:00      0     00:05:00  scheduled  a   10s   ok
00:05:00      1     00:05:00  scheduled  b   10s   ok
00:05:01      a is cut off
00:05:04.999  0     00:05:00  failover   b   10s   ok
`,
		},
		"other fires were missed": {
			func(c *clustertest.Cluster) {
				c.Job(invoices(), nil)
				a := c.Start("a")
				a.Stop()
				c.Advance(5 * time.Minute)
				a.Restart()
				c.Advance(5 * time.Minute)
				at := func(item, minute int) clustertest.Fire {
					return clustertest.Fire{Item: item, Time: clustertest.At(time.Duration(minute) * time.Minute)}
				}
				c.MissedExactly("invoices", at(0, 5), at(0, 7), at(1, 10))
			},
			`other fires of "invoices" were missed than should have been:
  item 1, fire 00:05:00 should have run: did not run
  item 0, fire 00:07:00 should have been missed, and was not due
  item 1, fire 00:10:00 should have been missed, and ran on a

what happened, and ran of "invoices", in UTC, until 00:10:00:
began     item  fire      source     on  took  outcome
00:00:00  a starts
00:00:00  a stops
00:05:00  a starts again
00:10:00  0     00:10:00  scheduled  a   0s    ok
00:10:00  1     00:10:00  scheduled  a   0s    ok
`,
		},
		"another instance ran it": {
			func(c *clustertest.Cluster) {
				c.Job(invoices(), nil)
				c.StartN(2)
				c.Advance(5 * time.Minute)
				c.RanOn("invoices", 0, clustertest.At(5*time.Minute), c.Instance("b"))
			},
			`item 0, fire 00:05:00 of "invoices" did not run on b alone:
  item 0, fire 00:05:00: ran on a

what happened, and ran of "invoices", in UTC, until 00:05:00:
began     item  fire      source     on  took  outcome
00:00:00  a starts
00:00:00  b starts
00:05:00  0     00:05:00  scheduled  a   0s    ok
00:05:00  1     00:05:00  scheduled  b   0s    ok
`,
		},
		"code failed, and was tried again": {
			func(c *clustertest.Cluster) {
				cfg := invoices()
				cfg.Retries, cfg.ShardingTotalCount = 2, 1
				attempts := 0
				c.Job(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
					if attempts++; attempts%3 == 0 && attempts > 3 {
						return nil
					}
					return errBank
				}))
				c.Start("a", scheduler.WithLogger(slog.New(slog.DiscardHandler)))
				c.Advance(14 * time.Minute)
				c.NothingFailed("invoices")
			},
			`executions of "invoices" failed:
  item 0, began at 00:05:00 on a: the bank is closed
until Monday

what happened, and ran of "invoices", in UTC, until 00:14:00:
*
00:00:00  a starts
00:05:00  0     00:05:00  scheduled  a   *  failed: the bank is closed, 3 attempts
00:10:00  0     00:10:00  scheduled  a   *  ok, 3 attempts
`,
		},
		"another day": {
			func(c *clustertest.Cluster) {
				cfg := job.Config{Name: "daily", Cron: "@daily", ShardingTotalCount: 1}
				c.Job(cfg, nil)
				c.AdvanceTo(clustertest.At(24*time.Hour - time.Minute))
				c.Start("a")
				c.Advance(time.Minute)
				c.Trigger("daily")
				c.MissedExactly("daily", clustertest.Fire{Time: clustertest.At(24 * time.Hour)})
			},
			`other fires of "daily" were missed than should have been:
  item 0, fire 2000-01-02 00:00:00 should have been missed, and ran on a

what happened, and ran of "daily", in UTC, until 2000-01-02 00:00:00:
began                item  fire                 source     on  took  outcome
23:59:00             a starts
2000-01-02 00:00:00  0     2000-01-02 00:00:00  scheduled  a   0s    ok
2000-01-02 00:00:00  "daily" is triggered
2000-01-02 00:00:00  0     by hand              manual     a   0s    ok
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
				got := said(c, func() { test.story(c) })
				if parts := strings.Split(test.want, "*"); len(parts) > 1 { // how long back-off takes is chance
					for _, part := range parts {
						require.Contains(t, got, part)
					}
					return
				}
				require.Equal(t, test.want, got)
			})
		})
	}
}

// A long story is cut to what a failure is about.
func TestALongStoryIsCut(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(job.Config{Name: "ticks", Cron: "0 * * * * ?", ShardingTotalCount: 1}, nil)
		a := c.Start("a")
		c.Advance(2 * time.Hour)
		a.Stop()
		c.Advance(20 * time.Minute)
		a.Restart()
		c.Advance(2 * time.Hour)
		got := said(c, func() { c.EveryFireRanOnce("ticks") })
		require.Contains(t, got, "  item 0, fire 02:10:00: did not run\n  and 10 more\n")
		require.Contains(t, got, "\n(92 lines before)\n")
		require.Contains(t, got, "\n02:00:00  a stops\n")
		require.Contains(t, got, "\n(91 lines after)\n")
		require.Less(t, strings.Count(got, "\n"), 100)
		require.Greater(t, strings.Count(c.Story("ticks"), "\n"), 4*60)
	})
}

// What cannot be done says why.
func TestMisuse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deed func(c *clustertest.Cluster)
		want string
	}{
		"time back":        {func(c *clustertest.Cluster) { c.Advance(-time.Second) }, "Advance by -1s: time does not go back"},
		"to the past":      {func(c *clustertest.Cluster) { c.AdvanceTo(clustertest.At(-time.Hour)) }, "AdvanceTo 1999-12-31 23:00:00: it is 2000-01-01 00:00:00 already"},
		"a name twice":     {func(c *clustertest.Cluster) { c.Start("a") }, "there is an instance a already: Restart starts it again"},
		"a bad name":       {func(c *clustertest.Cluster) { c.Start("x/y") }, "start x/y: invalid option: instance id"},
		"no such instance": {func(c *clustertest.Cluster) { c.Instance("z") }, `there is no instance "z"`},
		"no such job":      {func(c *clustertest.Cluster) { c.EveryFireRanOnce("orders") }, `EveryFireRanOnce: there is no job "orders" in the registry, which has ["invoices"]`},
		"no fire yet":      {func(c *clustertest.Cluster) { c.EveryFireRanOnce("invoices") }, `EveryFireRanOnce: "invoices" had no fire since its first instance started, so there is nothing to say of it`},
		"a bad job":        {func(c *clustertest.Cluster) { c.Job(job.Config{Name: "x", Cron: "never", ShardingTotalCount: 1}, nil) }, `job "x": `},
		"a job twice":      {func(c *clustertest.Cluster) { c.Job(invoices(), nil) }, `job "invoices" is declared already: Update changes its settings`},
		"a job that a scheduler refuses": {
			func(c *clustertest.Cluster) {
				c.Job(job.Config{Name: "x", Cron: "0 0 0 1 1 ? 1990", ShardingTotalCount: 1}, nil)
			},
			`job "x" on a: declare job "x": `,
		},
		"bad settings": {
			func(c *clustertest.Cluster) {
				c.Update("invoices", func(cfg *job.Config) { cfg.ShardingTotalCount = 0 })
			},
			`Update "invoices": `,
		},
		"settings that never fire": {
			func(c *clustertest.Cluster) {
				c.Update("invoices", func(cfg *job.Config) { cfg.Cron = "0 0 0 30 2 ?" })
			},
			`Update "invoices": cron is "0 0 0 30 2 ?", never fires after`,
		},
		"another name": {
			func(c *clustertest.Cluster) { c.Update("invoices", func(cfg *job.Config) { cfg.Name = "orders" }) },
			`Update "invoices": jobName is "orders", must be "invoices"`,
		},
		"another class": {
			func(c *clustertest.Cluster) { c.Update("invoices", func(cfg *job.Config) { cfg.Class = "orders" }) },
			`Update "invoices": its class must stay "invoices"`,
		},
		"no change":        {func(c *clustertest.Cluster) { c.Update("invoices", nil) }, `Update "invoices": the function is nil`},
		"no such item":     {func(c *clustertest.Cluster) { c.DisableItem("invoices", 2) }, `DisableItem: "invoices" has no item 2: its stored settings have 2`},
		"an item below 0":  {func(c *clustertest.Cluster) { c.DisableItem("invoices", -1) }, `DisableItem: "invoices" has no item -1`},
		"a negative delay": {func(c *clustertest.Cluster) { c.Instance("a").Slow(-time.Second) }, "Slow a by -1s: no message arrives before it was sent"},
		"to stop a frozen one": {
			func(c *clustertest.Cluster) {
				c.Instance("a").Freeze()
				c.Instance("a").Restart()
			},
			"stop a: it is frozen and hears nothing; Thaw or Crash it first",
		},
		"nobody to ask": {
			func(c *clustertest.Cluster) {
				c.Instance("a").Stop()
				c.Trigger("invoices")
			},
			`Trigger "invoices": no instance takes part in it`,
		},
		"the owner is dead": {
			func(c *clustertest.Cluster) {
				c.Advance(time.Minute)
				c.Instance("a").Crash()
				c.Owner("invoices", 0).Crash()
			},
			"item 0 of \"invoices\" belongs to 10.0.250.250@-@a, which does not run\n\nwhat happened so far:\n00:00:00  a starts\n00:01:00  a crashes",
		},
		"nobody leads": {
			func(c *clustertest.Cluster) {
				c.Instance("a").Stop()
				c.Leader("invoices")
			},
			"the leadership of \"invoices\" belongs to nobody",
		},
		"its scheduler was stopped": {
			func(c *clustertest.Cluster) {
				c.Instance("a").Scheduler().StopNow()
				c.Advance(time.Minute)
			},
			"a has ended by itself: <nil>",
		},
		"setup fails": {
			func(c *clustertest.Cluster) {
				c.Setup(func(context.Context, *clustertest.Instance) error { return errors.New("no ledger") })
				c.Start("b")
			},
			"start b: no ledger",
		},
		"setup is nil": {func(c *clustertest.Cluster) { c.Setup(nil) }, "Setup: the function is nil"},
		"a constructor that forgets the options": {
			func(c *clustertest.Cluster) {
				c.NewWith(func(reg registry.Registry, _ ...scheduler.Option) (*scheduler.Scheduler, error) {
					return scheduler.New(reg)
				})
				c.Start("b")
			},
			"start b: the function of NewWith does not hand its options on to scheduler.New",
		},
		"nothing to join": {
			func(c *clustertest.Cluster) {
				c.Store().Stop()
				c.Start("b")
			},
			"start b: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
				c.Job(invoices(), nil)
				c.Start("a")
				require.Contains(t, said(c, func() { test.deed(c) }), "clustertest: "+test.want)
			})
		})
	}
}

// A cluster that outlives its bubble, or is used from outside of it, says so.
func TestMisuseFromOutside(t *testing.T) {
	t.Parallel()
	var kept *clustertest.Cluster
	var instance *clustertest.Instance
	outside := make(chan func())
	answered := make(chan struct{})
	go func() {
		for deed := range outside {
			deed()
			answered <- struct{}{}
		}
	}()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		kept = c
		c.Job(invoices(), nil)
		instance = c.Start("a")
		l := &listener{}
		restore := c.Report(l)
		outside <- func() {
			done := make(chan struct{})
			go func() { defer close(done); c.Advance(time.Second) }()
			<-done
		}
		<-answered
		restore()
		require.Contains(t, l.said, "clustertest: Advance was called outside of the bubble that Run made")
	})
	close(outside)
	for name, deed := range map[string]func(){
		"Advance": func() { kept.Advance(time.Second) }, "Crash": instance.Crash, "Stop": instance.Stop,
		"Executions": func() { kept.Executions("invoices") }, "Instance": func() { kept.Instance("a") },
	} {
		require.Contains(t, said(kept, deed), "clustertest: "+name+" was called after the test function of Run had returned")
	}
}

// These fail as tests of users would; the test below looks at how.
func TestThatFails(t *testing.T) {
	switch os.Getenv("CLUSTERTEST_FAILS") {
	case "":
		t.Skip("it is for TestWhatATestPrints")
	case "without a function":
		clustertest.Run(t, nil)
	case "nested":
		clustertest.Run(t, func(t *testing.T, _ *clustertest.Cluster) {
			clustertest.Run(t, func(*testing.T, *clustertest.Cluster) {})
		})
	case "code that never returns":
		clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
			c.Job(invoices(), job.HandlerFunc(func(context.Context, job.ShardingContext) error { select {} }))
			c.Start("a")
			c.Advance(5 * time.Minute)
		})
	case "a goroutine that waits for ever":
		clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
			c.Job(invoices(), job.HandlerFunc(func(context.Context, job.ShardingContext) error {
				go func() { select {} }()
				return nil
			}))
			c.Start("a")
			c.Advance(5 * time.Minute)
		})
	case "a ticker that is never stopped":
		clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
			c.Job(invoices(), job.HandlerFunc(func(context.Context, job.ShardingContext) error {
				go func() {
					for range time.Tick(time.Second) {
					}
				}()
				return nil
			}))
			c.Start("a")
			c.Advance(5 * time.Minute)
		})
	case "an assertion":
		clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
			c.Job(invoices(), job.HandlerFunc(func(context.Context, job.ShardingContext) error { return errors.New("the bank is closed") }))
			c.Start("a")
			c.Advance(5 * time.Minute)
			c.NothingFailed("invoices")
		})
	}
}

func TestWhatATestPrints(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"without a function":              {"clustertest: Run: the function is nil"},
		"nested":                          {"clustertest: Run makes a synctest bubble of its own and cannot be called in one"},
		"code that never returns":         {"clustertest: this code has not returned a day after the end of its context: job \"invoices\" item 0 on a; job \"invoices\" item 1 on a"},
		"a goroutine that waits for ever": {"deadlock: main bubble goroutine has exited but blocked goroutines remain", "TestThatFails"},
		"a ticker that is never stopped":  {"deadlock: main bubble goroutine has exited but blocked goroutines remain", "TestThatFails"},
		"an assertion":                    {"failure_test.go:", "executions of \"invoices\" failed:", "level=ERROR", "the bank is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestThatFails$")
			program.Env = append(os.Environ(), "CLUSTERTEST_FAILS="+name)
			output, err := program.CombinedOutput()
			require.Error(t, err)
			for _, text := range want {
				require.Contains(t, string(output), text)
			}
		})
	}
}
