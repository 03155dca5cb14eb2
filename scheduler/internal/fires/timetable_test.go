package fires

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jitter"
)

// board is a timetable at work in a bubble, with a wall clock that can be set, and a list of what it
// told.
type board struct {
	*Timetable
	mu   sync.Mutex
	off  time.Duration
	told map[string][]told
}

// told is a tick and when it came by the true clock, as times since midnight.
type told struct{ first, fire, at time.Duration }

// onTimeAt is a fire of which the timetable told when it came, by a clock that is right.
func onTimeAt(d time.Duration) told { return told{d, d, d} }

// set gives an entry fires that nothing delays.
func (t *Timetable) set(e *Entry, schedule cronexpr.Schedule) {
	t.Set(e, schedule, jitter.Jitter{}, false, time.Time{})
}

func newBoard(t *testing.T) *board {
	t.Helper()
	b := &board{told: make(map[string][]told)}
	b.Timetable = NewTimetable(b.now)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return b
}

func (b *board) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Add(b.off)
}

// turn sets the wall clock.
func (b *board) turn(off time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.off += off
}

// entry makes an entry that is not in the timetable yet.
func (b *board) entry(name string) *Entry {
	return NewEntry(func(due Tick) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.told[name] = append(b.told[name], told{
			first: due.First.Sub(midnight), fire: due.Fire.Sub(midnight), at: time.Since(midnight),
		})
	})
}

// take returns what the timetable told of an entry since the last take.
func (b *board) take(name string) []told {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.told[name]
	delete(b.told, name)
	return all
}

func parsed(t require.TestingT, expr string) cronexpr.Schedule {
	schedule, err := cronexpr.Parse(expr)
	require.NoError(t, err)
	return schedule
}

// To tell the jobs of one fire takes a while. Another one does not hear of its own later for that.
func TestTellingManyDelaysNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		b.set(NewEntry(func(Tick) { time.Sleep(50 * time.Millisecond) }), parsed(t, "@every 1m"))
		offset, err := cronexpr.Parse("@every 1m", cronexpr.WithOffset(200*time.Millisecond))
		require.NoError(t, err)
		b.set(b.entry("other"), offset)
		until(2 * time.Minute)
		require.Equal(t, []told{onTimeAt(200 * time.Millisecond), onTimeAt(time.Minute + 200*time.Millisecond)}, b.take("other"))
	})
}

func TestEveryJobIsToldOfEachFireWhenItComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		schedules := make(map[string]cronexpr.Schedule)
		for n := range 60 {
			schedules[fmt.Sprintf("every %d", n)] = parsed(t, fmt.Sprintf("@every %dms", 900+37*n))
			schedules[fmt.Sprintf("cron %d", n)] = parsed(t, fmt.Sprintf("%d/7 * * * * ?", n))
		}
		for name, schedule := range schedules {
			b.set(b.entry(name), schedule)
		}
		until(90*time.Second + 1)
		for name, schedule := range schedules {
			var want []told
			for fire := range cronexpr.Between(schedule, midnight, midnight.Add(90*time.Second)) {
				want = append(want, onTimeAt(fire.Sub(midnight)))
			}
			require.Equal(t, want, b.take(name), name)
		}
	})
}

func TestEveryTenMilliseconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		b.set(b.entry("fast"), parsed(t, "@every 10ms"))
		until(time.Second)
		got := b.take("fast")
		require.Len(t, got, 100)
		for i, tick := range got {
			require.Equal(t, onTimeAt(time.Duration(i+1)*10*time.Millisecond), tick)
		}
	})
}

// A schedule that is set anew counts from then on, also if it fires earlier than all that were there.
func TestSchedulesAreReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		e, other := b.entry("a"), b.entry("other")
		b.set(other, parsed(t, "@every 20s"))
		b.set(e, parsed(t, "@every 1h"))
		until(11 * time.Second) // it sleeps until second 20
		b.set(e, parsed(t, "@every 3s"))
		until(16 * time.Second)
		require.Equal(t, []told{onTimeAt(12 * time.Second), onTimeAt(15 * time.Second)}, b.take("a"))
		b.set(e, parsed(t, "@every 30s"))
		until(61 * time.Second)
		require.Equal(t, []told{onTimeAt(30 * time.Second), onTimeAt(60 * time.Second)}, b.take("a"))
		require.Len(t, b.take("other"), 3, "others go on")
	})
}

func TestEntriesAreRemovedAndComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		first, second := b.entry("first"), b.entry("second")
		b.set(first, parsed(t, "@every 5s"))
		b.set(second, parsed(t, "@every 5s"))
		until(7 * time.Second)
		b.Remove(first)
		b.Remove(first)
		b.Remove(b.entry("never there"))
		until(17 * time.Second)
		require.Equal(t, []told{onTimeAt(5 * time.Second)}, b.take("first"))
		require.Len(t, b.take("second"), 3)

		b.set(first, parsed(t, "@every 5s"))
		until(21 * time.Second)
		require.Equal(t, []told{onTimeAt(20 * time.Second)}, b.take("first"), "nothing is made up")
	})
}

// A job that has had its last fire is told of none any more, and others go on.
func TestAScheduleThatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		last, never, other := b.entry("last"), b.entry("never"), b.entry("other")
		b.set(last, parsed(t, "5,7 0 0 1 1 ? 2000"))
		b.set(never, parsed(t, "0 0 0 30 2 ?"))
		b.set(other, parsed(t, "@every 10s"))
		until(time.Minute)
		require.Equal(t, []told{onTimeAt(5 * time.Second), onTimeAt(7 * time.Second)}, b.take("last"))
		require.Empty(t, b.take("never"))
		require.Len(t, b.take("other"), 6)

		b.set(last, parsed(t, "@every 10s"))
		until(time.Minute + 11*time.Second)
		require.Equal(t, []told{onTimeAt(70 * time.Second)}, b.take("last"))
	})
}

// Fires that a clock passed over, set forward or on a machine that slept, come as one tick, as soon
// as that shows.
func TestTheClockIsSetForward(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		b.set(b.entry("a"), parsed(t, "@every 10m"))
		until(15 * time.Minute)
		require.Equal(t, []told{onTimeAt(10 * time.Minute)}, b.take("a"))
		b.turn(61 * time.Minute) // it shows 1:16
		until(30 * time.Minute)
		got := b.take("a")
		require.Equal(t, told{first: 20 * time.Minute, fire: 70 * time.Minute, at: got[0].at}, got[0])
		require.LessOrEqual(t, got[0].at, 15*time.Minute+longestSleep)
		require.Equal(t, []told{
			{first: 80 * time.Minute, fire: 80 * time.Minute, at: 19 * time.Minute},
			{first: 90 * time.Minute, fire: 90 * time.Minute, at: 29 * time.Minute},
		}, got[1:])
	})
}

func TestAMachineSleepsForWeeks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		b.set(b.entry("a"), parsed(t, "* * * * * ?"))
		b.set(b.entry("yearly"), parsed(t, "0 0 0 1 1 ?"))
		until(time.Second)
		b.take("a")
		const weeks = 3 * 7 * 24 * time.Hour
		b.turn(weeks)
		until(2 * time.Second)
		require.Equal(t, []told{{first: 2 * time.Second, fire: weeks + 2*time.Second, at: 2 * time.Second}}, b.take("a"))
		until(3 * time.Second)
		require.Len(t, b.take("a"), 1)
		require.Empty(t, b.take("yearly"))
	})
}

// A clock that is set back has every job go on with its next fire by the clock as it is.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		b.set(b.entry("a"), parsed(t, "@every 10m"))
		b.set(b.entry("b"), parsed(t, "@every 1h"))
		until(75 * time.Minute)
		require.Len(t, b.take("a"), 7)
		require.Len(t, b.take("b"), 1)
		b.turn(-time.Hour) // it shows 0:15
		until(86 * time.Minute)
		require.Equal(t, []told{
			{first: 20 * time.Minute, fire: 20 * time.Minute, at: 80 * time.Minute},
		}, b.take("a"))
		until(121 * time.Minute)
		require.Equal(t, []told{
			{first: time.Hour, fire: time.Hour, at: 2 * time.Hour},
		}, b.take("b"))
	})
}

// A schedule that has ended by a clock that was ahead goes on when that is set right, whether it ended while the job was there
// or before.
func TestAScheduleThatEndedByAWrongClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		before, meanwhile := b.entry("before"), b.entry("meanwhile")
		b.set(before, parsed(t, "0 0 1,2 1 1 ? 2000"))
		b.turn(24 * time.Hour)
		until(time.Minute)
		b.set(meanwhile, parsed(t, "0 0 1,2 1 1 ? 2000"))
		require.Len(t, b.take("before"), 1, "of both fires")
		b.turn(-24 * time.Hour)
		until(3 * time.Hour)
		both := []told{onTimeAt(time.Hour), onTimeAt(2 * time.Hour)}
		require.Equal(t, both, b.take("before"))
		require.Equal(t, both, b.take("meanwhile"))
	})
}

// A fire that has come, and waits for its jitter, is told of though the clock is set back meanwhile, also if it is the last.
func TestTheClockIsSetBackWhileAFireIsDelayed(t *testing.T) {
	t.Parallel()
	for _, cron := range []string{"0 0 * * * ?", "0 0 1 1 1 ? 2000"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBoard(t)
			j := jitter.Jitter{Job: "orders", Most: 30 * time.Minute}
			delay := j.Of(midnight.Add(time.Hour))
			require.Greater(t, delay, 2*time.Minute)
			until(40 * time.Minute)
			b.Set(b.entry("a"), parsed(t, cron), j, true, time.Time{})
			until(time.Hour + time.Minute)
			b.turn(-30 * time.Second)
			until(time.Hour + 50*time.Minute)
			require.Equal(t, []told{{first: time.Hour, fire: time.Hour, at: time.Hour + delay + 30*time.Second}}, b.take("a"))
		})
	}
}

// A clock that is corrected by a little tells no fire twice, and none is lost.
func TestTheClockIsCorrected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		b.set(b.entry("a"), parsed(t, "@every 2s"))
		var got []time.Duration
		for range 20 {
			time.Sleep(2100 * time.Millisecond)
			b.turn(-time.Second / 2)
			for _, tick := range b.take("a") {
				require.Equal(t, tick.first, tick.fire)
				got = append(got, tick.fire)
			}
		}
		for i, fire := range got {
			require.Equal(t, time.Duration(i+1)*2*time.Second, fire)
		}
		require.Greater(t, len(got), 10)
	})
}

// By how much a clock must go back to count as set.
func TestSetBackOrCorrected(t *testing.T) {
	t.Parallel()
	for back, again := range map[time.Duration]bool{setBack: false, setBack + 1: true} {
		table := NewTimetable(time.Now)
		fires := 0
		e := NewEntry(func(Tick) { fires++ })
		table.now = func() time.Time { return midnight }
		table.set(e, parsed(t, "@every 500ms"))
		noon := midnight.Add(12 * time.Hour)
		table.fire(noon)
		require.Equal(t, 1, fires)
		table.fire(noon.Add(-back))
		table.fire(noon)
		require.Equal(t, again, fires == 2, "back by %s", back)
	}
}

// A clock that was set back some time before the next look has passed fires anew by then: these are told of, once.
func TestFiresAfterAClockWasSetBackUnseen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ahead time.Duration
		table := NewTimetable(func() time.Time { return time.Now().Add(ahead) })
		start := time.Now()
		var told []string
		e := NewEntry(func(tick Tick) { told = append(told, fmt.Sprint(tick.First.Sub(start), " to ", tick.Fire.Sub(start))) })
		ahead = time.Minute
		table.set(e, parsed(t, "@every 2s"))
		time.Sleep(2 * time.Second)
		table.fire(table.now())
		require.Equal(t, []string{"1m2s to 1m2s"}, told)
		ahead = 0
		require.Equal(t, start.Add(2*time.Second), table.Passed(), "by more than a second: these fires come again")
		time.Sleep(time.Second)
		table.fire(table.now())
		require.Len(t, told, 1)
		ahead = time.Minute
		time.Sleep(3 * time.Second)
		table.fire(table.now())
		told = nil
		ahead = 0 // at 6 s
		time.Sleep(5 * time.Second)
		table.fire(table.now())
		require.Equal(t, []string{"8s to 10s"}, told)
		ahead = -900 * time.Millisecond
		require.Equal(t, start.Add(11*time.Second), table.Passed(), "by less: these fires do not")
		time.Sleep(time.Second)
		table.fire(table.now())
		require.Len(t, told, 1)
		require.Equal(t, start.Add(12*time.Second-900*time.Millisecond), table.Passed())
	})
}

// What is set after the clock was set back, and before the next look, is told of no fire that came before it was set.
func TestAnEntryIsSetAfterAClockWasSetBackUnseen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ahead time.Duration
		table := NewTimetable(func() time.Time { return time.Now().Add(ahead) })
		start := time.Now()
		told := make(map[string][]time.Duration)
		entry := func(name string) *Entry {
			return NewEntry(func(tick Tick) { told[name] = append(told[name], tick.First.Sub(start)) })
		}
		ahead = time.Minute
		table.set(entry("before"), parsed(t, "@every 2s"))
		table.fire(table.now())
		ahead = 0
		time.Sleep(3 * time.Second)
		table.set(entry("after"), parsed(t, "@every 2s"))
		time.Sleep(time.Second / 2)
		table.fire(table.now())
		require.Equal(t, map[string][]time.Duration{"before": {2 * time.Second}}, told)
	})
}

// The timetable looks at the wall clock again soon, however far away the next fire is.
func TestHowLongTheTimetableSleeps(t *testing.T) {
	t.Parallel()
	table := NewTimetable(func() time.Time { return midnight })
	require.Equal(t, longestSleep, table.fire(midnight))
	e := NewEntry(func(Tick) {})
	table.set(e, parsed(t, "@every 15s"))
	require.Equal(t, longestSleep, table.fire(midnight))
	require.Equal(t, 3*time.Second, table.fire(midnight.Add(12*time.Second)))
	require.Equal(t, longestSleep, table.fire(midnight.Add(15*time.Second)))
	require.Less(t, longestSleep, inforce.LateAfter)
	table.Remove(e)
	require.Equal(t, longestSleep, table.fire(midnight.Add(44*time.Second)))
}

// Whenever a timetable looks, and however its clock jumps forward, its ticks cover every fire once
// and in order.
func TestTicksCoverEveryFire(t *testing.T) {
	t.Parallel()
	exprs := []string{"@every 7s", "0/20 * * * * ?", "0 0/3 * * * ?", "30 1,5 0 * * ?", "10 0 0 1 1 ? 2000"}
	rapid.Check(t, func(t *rapid.T) {
		now := midnight
		table := NewTimetable(func() time.Time { return now })
		got := make([][]time.Time, len(exprs))
		for i, expr := range exprs {
			schedule := parsed(t, expr)
			table.set(NewEntry(func(due Tick) {
				if !due.First.Equal(due.Fire) {
					got[i] = slices.AppendSeq(got[i], cronexpr.Between(schedule, due.First.Add(-1), due.Fire.Add(-1)))
				}
				got[i] = append(got[i], due.Fire)
			}), schedule)
		}
		for range rapid.IntRange(1, 20).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
			table.fire(now)
			table.fire(now)
		}
		for i, expr := range exprs {
			require.Equal(t, slices.Collect(cronexpr.Between(parsed(t, expr), midnight, now)), got[i], expr)
		}
	})
}
