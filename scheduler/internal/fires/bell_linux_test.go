package fires

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

func TestABellRings(t *testing.T) {
	t.Parallel()
	rung := make(chan time.Time, 10)
	b := newBell(func() { rung <- time.Now() })
	require.NotNil(t, b)
	for range 3 {
		set := time.Now()
		b.set(time.Hour)
		b.set(20 * time.Millisecond) // in place of that
		select {
		case at := <-rung:
			require.GreaterOrEqual(t, at.Sub(set), 20*time.Millisecond, "not before")
		case <-time.After(time.Minute):
			require.Fail(t, "it does not ring")
		}
	}
	b.set(time.Hour)
	b.close() // does not wait for that
	require.Empty(t, rung, "once each time that it is set")
}

// A bubble's time is not the machine's: a bell would keep it from passing.
func TestABubbleHasNoBell(t *testing.T) {
	t.Parallel()
	require.True(t, machineTime())
	synctest.Test(t, func(t *testing.T) {
		require.Nil(t, newBell(func() {}))
		time.Sleep(time.Hour)
		require.Nil(t, newBell(func() {}))
	})
}

// A timetable hears of its fires by the bell alone, if it must.
func TestTheBellTellsOfFires(t *testing.T) {
	t.Parallel()
	told := make(chan Tick, 1)
	e := NewEntry(func(due Tick) {
		select {
		case told <- due:
		default: // nobody listens any more
		}
	})
	table := NewTimetable(time.Now)
	table.timerLate = time.Hour
	run(t, table)
	table.set(e, every(t, 100*time.Millisecond))
	for last := (time.Time{}); ; {
		select {
		case due := <-told:
			require.True(t, due.Fire.After(last))
			if !last.IsZero() {
				return
			}
			last = due.Fire
		case <-time.After(time.Minute):
			require.Fail(t, "nothing is told")
		}
	}
}

// How late the timetable of a process that has nothing else to do tells of a fire, and how late a timer of Go's rings.
func BenchmarkLateness(b *testing.B) {
	told := make(chan time.Duration, 1)
	e := NewEntry(func(due Tick) {
		select {
		case told <- time.Since(due.Fire):
		default: // nobody listens any more
		}
	})
	table := NewTimetable(time.Now)
	run(b, table)
	table.set(e, every(b, 100*time.Millisecond))
	var late, timers []time.Duration
	for b.Loop() {
		late = append(late, <-told)
		set := time.Now()
		time.Sleep(20 * time.Millisecond)
		timers = append(timers, time.Since(set)-20*time.Millisecond)
	}
	b.ReportMetric(0, "ns/op")
	for name, all := range map[string][]time.Duration{"fire": late, "timer": timers} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), name+"-p50-us")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), name+"-p99-us")
	}
}

// run runs a timetable until the test ends.
func run(tb testing.TB, table *Timetable) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	var running sync.WaitGroup
	running.Go(func() { table.Run(ctx) })
	tb.Cleanup(func() { cancel(); running.Wait() })
}

func every(tb testing.TB, d time.Duration) cronexpr.Schedule {
	tb.Helper()
	schedule, err := cronexpr.Parse("@every " + d.String())
	require.NoError(tb, err)
	return schedule
}
