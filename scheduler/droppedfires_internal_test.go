//go:build unix

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
)

// crowd is a scheduler whose jobs fire each second, by a clock that the test sets, and may begin nothing: all
// that a process beyond its capacity can take is under way, and stays so.
type crowd struct {
	nobody nobody
	*Scheduler
	tb     testing.TB
	items  int               // of all jobs
	now    atomic.Int64      // Unix seconds
	alarm  *fires.Entry      // wakes the timetable when it is set
	yearly cronexpr.Schedule // of the alarm
	end    func()
}

// timeless is a registry without a clock, so that nothing contradicts the test's.
type timeless struct{ registry.Registry }

func (timeless) ServerTime(context.Context) (time.Time, error) {
	return time.Time{}, errors.New("no clock")
}

// nobody takes turns and does not use them.
type nobody struct{ place *admission.Place }

func (nobody) Granted(admission.Grant) bool { return false }
func (n nobody) Place() *admission.Place    { return n.place }

// newCrowd starts jobs that have not fired yet.
func newCrowd(tb testing.TB, jobs, items int, change func(*job.Config)) *crowd {
	tb.Helper()
	c := &crowd{tb: tb, items: jobs * items, alarm: fires.NewEntry(func(fires.Tick) {})}
	c.now.Store(1_800_000_000)
	reg := memory.NewServer().Open("test")
	var err error
	c.yearly, err = cronexpr.Parse("0 0 0 1 1 ?")
	require.NoError(tb, err)
	c.Scheduler, err = New(timeless{reg}, WithClock(func() time.Time { return time.Unix(c.now.Load(), 0) }))
	require.NoError(tb, err)
	c.stopWithin = 0
	c.nobody.place = new(admission.Place)
	for c.admission.Take(c.nobody, admission.OnTimeFirst) { // until nothing is left
	}
	nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	for n := range jobs {
		cfg := job.Config{Name: fmt.Sprintf("job-%d", n), Cron: "* * * * * ?", ShardingTotalCount: items}
		change(&cfg)
		_, err := c.Add(tb.Context(), cfg, nothing)
		require.NoError(tb, err)
	}
	ctx, stop := context.WithCancel(tb.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	c.end = func() {
		stop()
		require.NoError(tb, <-done)
		require.NoError(tb, reg.Close(context.Background()))
	}
	<-c.Ready()
	c.untilQuiet(func() bool { return c.owned() == c.items })
	return c
}

// owned is how many items the jobs have that may begin.
func (c *crowd) owned() int {
	asked, owned := 0, make(chan int, len(c.runners))
	for _, r := range c.runners {
		asked++
		r.box.Post(func() {
			n := 0
			for item := range r.state.Total() {
				if v := r.look(); v.Owns(item) && v.Attached.Connected() && r.rounds.MayBegin(v) {
					n++
				}
			}
			owned <- n
		})
	}
	all := 0
	for range asked {
		all += <-owned
	}
	return all
}

// second has each job fire once.
func (c *crowd) second() {
	want := c.load.Counted().Wanted + int64(c.items)
	c.now.Add(1)
	c.timetable.Set(c.alarm, c.yearly, jitter.Jitter{}, false, time.Time{}) // wakes it
	c.untilQuiet(func() bool { return c.load.Counted().Wanted == want })
}

// untilQuiet waits for a condition.
func (c *crowd) untilQuiet(quiet func() bool) {
	for patience := time.Now().Add(time.Minute); !quiet(); time.Sleep(100 * time.Microsecond) {
		require.True(c.tb, time.Now().Before(patience))
	}
}

// cpu is what this process has used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// spent is what a crowd's process has used up while some seconds went by, for each fire.
func (c *crowd) spent(seconds func()) (cpuTime time.Duration, allocations float64) {
	c.tb.Helper()
	var before, after runtime.MemStats
	counted := c.load.Counted().Wanted
	runtime.ReadMemStats(&before)
	used := cpu(c.tb)
	seconds()
	used = cpu(c.tb) - used
	runtime.ReadMemStats(&after)
	fires := c.load.Counted().Wanted - counted
	return used / time.Duration(fires), float64(after.Mallocs-before.Mallocs) / float64(fires)
}

// A fire that is dropped costs no memory, from the timetable to the job: not even a goroutine is started for it.
func TestADroppedFireCostsNoMemory(t *testing.T) { // not parallel: it counts what the process allocates
	for name, change := range policies() {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t, 20, 10, change)
			defer c.end()
			c.second()
			c.second()
			_, allocations := c.spent(func() {
				for range 100 {
					c.second()
				}
			})
			require.Less(t, allocations, 0.1, "four allocations for each fire of a job of ten items are 0.4")
			require.EqualValues(t, 101*c.items, c.load.Counted().Dropped, "all but the newest, which may still begin")
		})
	}
}

// deciding is an actor whose decisions are counted.
type deciding struct {
	actor.Actor
	decisions *atomic.Int64
}

// After implements [actor.Actor].
func (d deciding) After() {
	d.decisions.Add(1)
	d.Actor.After()
}

// While there is no room for one begin more, a fire is waited for without a decision. When there is room, what waits
// begins.
func TestWhatMustWaitIsNotDecidedUpon(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 3, 10, func(*job.Config) {})
	defer c.end()
	var decisions atomic.Int64
	for _, r := range c.runners {
		r.box.Post(func() {
			r.box.Of = deciding{r.box.Of, &decisions}
		})
	}
	c.owned()                  // comes after that
	c.untilQuiet(func() bool { // what the start has left to decide is over at some time
		before := decisions.Load()
		for range 3 {
			c.second()
		}
		return decisions.Load() == before
	})
	require.Zero(t, c.load.Counted().Begun)
	c.admission.GiveBack(c.nobody, c.items)
	c.untilQuiet(func() bool { return c.load.Counted().Begun == int64(c.items) })
}

func policies() map[string]func(*job.Config) {
	return map[string]func(*job.Config){"once": func(*job.Config) {}, "all": func(c *job.Config) { c.Misfire = job.MisfireAll }}
}

// What a fire costs that is dropped, beyond a process's capacity: all jobs fire each second, and none of their items
// can begin.
func BenchmarkDroppedFires(b *testing.B) {
	for _, s := range []struct{ jobs, items int }{{2000, 10}, {5000, 1}, {2, 10_000}} {
		for policy, change := range policies() {
			b.Run(fmt.Sprintf("jobs=%d/items=%d/%s", s.jobs, s.items, policy), func(b *testing.B) {
				c := newCrowd(b, s.jobs, s.items, change)
				defer c.end()
				c.second()
				c.second()
				cpuTime, allocations := c.spent(func() {
					for b.Loop() {
						c.second()
					}
				})
				b.ReportMetric(float64(cpuTime.Nanoseconds()), "cpu-ns/fire")
				b.ReportMetric(allocations, "allocs/fire")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
