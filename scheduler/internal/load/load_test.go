package load

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// told collects what a load reports.
type told struct {
	mu      sync.Mutex
	reports []Report
}

func newTold() (*told, *Load) {
	c := &told{}
	return c, &Load{Tell: func(r Report) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reports = append(c.reports, r)
	}}
}

// pass has time go by, and all done that comes then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// take returns the reports since the last take.
func (c *told) take() []Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	reports := c.reports
	c.reports = nil
	return reports
}

func firesOf(wanted, begun, dropped int64) Fires {
	return Fires{Wanted: wanted, Begun: begun, Dropped: dropped}
}

// An overload begins with the first fire that is dropped and is over when none was for a while. It is told
// each second, logged when it begins, each minute and when it is over, and counts what came in it alone.
func TestAnOverloadIsToldFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, l := newTold()
		l.Want(100)
		l.Begin(100)
		l.Drop(0)
		pass(time.Minute)
		require.Empty(t, c.take(), "all begin")
		require.False(t, l.Over())

		l.Drop(3)
		require.True(t, l.Over())
		l.Want(10)
		l.Begin(4)
		l.Drop(3)
		pass(time.Second)
		first := c.take()
		require.Len(t, first, 1)
		require.Equal(t, Second{Fires: firesOf(10, 4, 6), Overloaded: true, Interval: time.Second}, first[0].Second)
		require.Equal(t, Begins, first[0].Line)
		require.Equal(t, firesOf(10, 4, 6), l.Last().Fires)

		for range 65 {
			l.Want(2)
			l.Begin(1)
			l.Drop(1)
			pass(time.Second)
		}
		var still []int
		for i, r := range c.take() {
			require.Equal(t, firesOf(2, 1, 1), r.Fires)
			if r.Line != NoLine {
				still = append(still, i)
				require.Equal(t, Lasts, r.Line)
				require.Equal(t, firesOf(120, 60, 60), r.Sum.Fires)
			}
		}
		require.Equal(t, []int{59}, still, "after a minute")
		require.Equal(t, firesOf(2, 1, 1), l.Last().Fires)

		l.Want(5)
		l.Begin(5)
		pass(over)
		require.Len(t, c.take(), 5)
		require.True(t, l.Over())
		require.Equal(t, firesOf(0, 0, 0), l.Last().Fires)
		pass(time.Second)
		last := c.take()
		require.Len(t, last, 1)
		require.False(t, last[0].Overloaded)
		require.Equal(t, Ends, last[0].Line)
		require.Equal(t, firesOf(145, 74, 71), last[0].Sum.Fires, "all of it")
		require.False(t, l.Over())
		require.Zero(t, l.Last())
		l.Want(50)
		pass(time.Minute)
		require.Empty(t, c.take())

		l.Drop(1)
		pass(time.Second)
		again := c.take()
		require.Len(t, again, 1)
		require.Equal(t, Begins, again[0].Line, "another overload")
		require.Equal(t, firesOf(0, 0, 1), again[0].Fires)
	})
}

// A pause shorter than that is part of the overload.
func TestAnOverloadWithAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, l := newTold()
		for range 3 {
			l.Drop(1)
			pass(over)
		}
		lines := 0
		for _, r := range c.take() {
			require.True(t, r.Overloaded)
			if r.Line != NoLine {
				lines++
			}
		}
		require.Equal(t, 1, lines)
		l.Stop()
	})
}

func TestNothingIsToldAfterAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, l := newTold()
		l.Drop(1)
		l.Stop()
		l.Drop(1)
		pass(time.Minute)
		require.Empty(t, c.take())
		require.Nil(t, l.compare(), "one that was under way says nothing")
		_, l = newTold()
		l.Stop()
		l.Drop(1)
		require.False(t, l.Over())
	})
}
