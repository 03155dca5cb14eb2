package scheduler

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// loadTold collects what a load reports.
type loadTold struct {
	mu      sync.Mutex
	reports []report
}

func newLoadTold() (*loadTold, *load) {
	c := &loadTold{}
	return c, &load{tell: func(r report) {
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
func (c *loadTold) take() []report {
	c.mu.Lock()
	defer c.mu.Unlock()
	reports := c.reports
	c.reports = nil
	return reports
}

func loadOf(wanted, begun, dropped int64) LoadHealth {
	return LoadHealth{Overloaded: true, Wanted: wanted, Begun: begun, Dropped: dropped}
}

// An overload begins with the first fire that is dropped and is over when none was for a while. It is told
// each second, logged when it begins, each minute and when it is over, and counts what came in it alone.
func TestAnOverloadIsToldFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, l := newLoadTold()
		l.Want(100)
		l.Begin(100)
		l.Drop(0)
		pass(time.Minute)
		require.Empty(t, c.take(), "all begin")
		require.False(t, l.over())

		l.Drop(3)
		require.True(t, l.over())
		l.Want(10)
		l.Begin(4)
		l.Drop(3)
		pass(time.Second)
		first := c.take()
		require.Len(t, first, 1)
		require.Equal(t, LoadEvent{LoadHealth: loadOf(10, 4, 6), Interval: time.Second}, first[0].event)
		require.Contains(t, first[0].text, "more fires are due")
		require.Equal(t, loadOf(10, 4, 6), l.health())

		for range 65 {
			l.Want(2)
			l.Begin(1)
			l.Drop(1)
			pass(time.Second)
		}
		var still []int
		for i, r := range c.take() {
			require.Equal(t, loadOf(2, 1, 1), r.event.LoadHealth)
			if r.text != "" {
				still = append(still, i)
				require.Contains(t, r.text, "still more")
				require.Equal(t, loadOf(120, 60, 60), r.sum.LoadHealth)
			}
		}
		require.Equal(t, []int{59}, still, "after a minute")
		require.Equal(t, loadOf(2, 1, 1), l.health())

		l.Want(5)
		l.Begin(5)
		pass(loadOver)
		require.Len(t, c.take(), 5)
		require.True(t, l.over())
		require.Equal(t, loadOf(0, 0, 0), l.health())
		pass(time.Second)
		last := c.take()
		require.Len(t, last, 1)
		require.False(t, last[0].event.Overloaded)
		require.Contains(t, last[0].text, "begin in time again")
		require.Equal(t, loadOf(145, 74, 71), last[0].sum.LoadHealth, "all of it")
		require.False(t, l.over())
		require.Zero(t, l.health())
		l.Want(50)
		pass(time.Minute)
		require.Empty(t, c.take())

		l.Drop(1)
		pass(time.Second)
		again := c.take()
		require.Len(t, again, 1)
		require.Contains(t, again[0].text, "more fires are due", "another overload")
		require.Equal(t, loadOf(0, 0, 1), again[0].event.LoadHealth)
	})
}

// A pause shorter than that is part of the overload.
func TestAnOverloadWithAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, l := newLoadTold()
		for range 3 {
			l.Drop(1)
			pass(loadOver)
		}
		lines := 0
		for _, r := range c.take() {
			require.True(t, r.event.Overloaded)
			if r.text != "" {
				lines++
			}
		}
		require.Equal(t, 1, lines)
		l.stop()
	})
}

func TestNothingIsToldAfterAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, l := newLoadTold()
		l.Drop(1)
		l.stop()
		l.Drop(1)
		pass(time.Minute)
		require.Empty(t, c.take())
		require.Nil(t, l.compare(), "one that was under way says nothing")
		_, l = newLoadTold()
		l.stop()
		l.Drop(1)
		require.False(t, l.over())
	})
}
