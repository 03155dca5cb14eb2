package fires

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jitter"
)

// ahead is the head start of these tests.
const ahead = 50 * time.Millisecond

// early is a fire of which the timetable told before it came.
func early(d time.Duration) told { return told{d, d, d - ahead} }

// A fire is told of early, and when it comes. What changes meanwhile is of the next one.
func TestAHeadStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		e := b.entry("orders")
		b.set(e, parsed(t, "0/5 * * * * ?"))
		until(4 * time.Second)
		b.SetHeadStart(e, ahead)
		require.False(t, b.ToldEarly(e))
		until(5*time.Second - ahead)
		require.Equal(t, []told{early(5 * time.Second)}, b.take("orders"))
		require.True(t, b.ToldEarly(e))
		b.SetHeadStart(e, 0)
		until(5 * time.Second)
		require.Equal(t, []told{onTimeAt(5 * time.Second)}, b.take("orders"))
		require.False(t, b.ToldEarly(e))
		until(10 * time.Second)
		require.Equal(t, []told{onTimeAt(10 * time.Second)}, b.take("orders"))
	})
}

// An entry that is taken out, or gets other fires, waits for none that it was told of early.
func TestAnEntryIsChangedBeforeItsFireComes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, b *board, e *Entry){
		"removed":      func(_ *testing.T, b *board, e *Entry) { b.Remove(e) },
		"another cron": func(t *testing.T, b *board, e *Entry) { b.set(e, parsed(t, "0/10 * * * * ?")) },
		"another jitter": func(_ *testing.T, b *board, e *Entry) {
			b.Delay(e, jitter.Jitter{Job: "orders", Most: 5 * time.Second})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBoard(t)
				e := b.entry("orders")
				b.set(e, parsed(t, "0/5 * * * * ?"))
				b.SetHeadStart(e, ahead)
				until(5*time.Second - ahead/2)
				require.Len(t, b.take("orders"), 1)
				change(t, b, e)
				require.False(t, b.ToldEarly(e))
				until(5 * time.Second)
				require.Empty(t, b.take("orders"))
			})
		})
	}
}

// When the clock is set back, whoever was told of a fire early hears that it does not come soon; it comes as every other one.
// When it is set forward, the fire is told of at once.
func TestTheClockIsSetBeforeAFireComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(t)
		e := b.entry("orders")
		b.set(e, parsed(t, "0/5 * * * * ?"))
		b.SetHeadStart(e, ahead)
		until(5*time.Second - ahead)
		require.Len(t, b.take("orders"), 1)
		b.turn(-63 * time.Second)
		b.notify()
		none := b.take("orders")
		require.Len(t, none, 1)
		require.Equal(t, time.Time{}.Sub(midnight), none[0].fire)
		require.False(t, b.ToldEarly(e))
		b.turn(63 * time.Second)
		b.notify()
		until(10*time.Second - ahead)
		all := b.take("orders")
		require.Equal(t, early(10*time.Second), all[len(all)-1])
		b.turn(ahead)
		b.notify()
		require.Equal(t, []told{{10 * time.Second, 10 * time.Second, 10*time.Second - ahead}}, b.take("orders"))
	})
}

// Whatever the head start, and however often it changes, the fires that are told of when they come are the same.
func TestAHeadStartChangesNoFire(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [2]time.Duration {
			return [2]time.Duration{
				time.Duration(rapid.IntRange(1, 3000).Draw(r, "after")) * time.Millisecond,
				time.Duration(rapid.IntRange(0, 200).Draw(r, "head start")) * time.Millisecond,
			}
		}), 1, 20).Draw(r, "changes")
		most := time.Duration(rapid.IntRange(0, 2).Draw(r, "jitter")) * 300 * time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			b := newBoard(t)
			plain, e := b.entry("plain"), b.entry("orders")
			schedule := parsed(t, "* * * * * ?")
			j := jitter.Jitter{Job: "orders", Most: most}
			b.Set(plain, schedule, j, true, time.Time{})
			b.Set(e, schedule, j, true, time.Time{})
			for _, c := range changes {
				time.Sleep(c[0])
				b.SetHeadStart(e, c[1])
			}
			time.Sleep(2 * time.Second)
			came := b.take("orders")
			n, last := 0, time.Duration(-1)
			for _, one := range came {
				if one.at < one.fire+j.Of(midnight.Add(one.fire)) {
					require.LessOrEqual(t, one.fire-one.at, MaxHeadStart)
					require.Greater(t, one.fire, last, "told of early after it came")
					continue
				}
				came[n], last = one, one.fire
				n++
			}
			require.Equal(t, b.take("plain"), came[:n])
			require.NotZero(t, n)
		})
	})
}
