package notify

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What an observer that hangs should hear is kept up to a bound; the rest is counted and not told, and what
// was kept it hears in order when it goes on.
func TestAnObserverThatHangsMissesAndCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		missed, hanging := 0, 0
		forever := make(chan struct{})
		o := &listing{forever: forever}
		h := NewHearer("list", o.Observe, func(_ slog.Level, message string, _ error) {
			switch message {
			case observerMissed:
				missed++
			case observerHangs:
				hanging++
			}
		})
		for n := range observerBacklog + 101 {
			h.Post(fmt.Sprint(n))
			if n == 0 {
				synctest.Wait() // it is in its first call
			}
		}
		require.Equal(t, 100, missed)
		require.Zero(t, hanging, "not yet")
		close(forever)
		synctest.Wait()
		require.Len(t, o.heard, observerBacklog+1)
		require.Equal(t, fmt.Sprint(observerBacklog), o.heard[observerBacklog])

		o.forever = make(chan struct{})
		h.Post("again")
		time.Sleep(observerPatience)
		h.Post("waits")
		require.Equal(t, 1, hanging)
		enough := make(chan struct{})
		close(enough)
		hang, untold := h.Close(enough)
		require.True(t, hang)
		require.Equal(t, 1, untold)
		require.False(t, h.Post("late"))
		close(o.forever)
		synctest.Wait()
		require.Equal(t, "again", o.heard[len(o.heard)-1])
	})
}

// listing notes what it hears, once it does not hang.
type listing struct {
	forever chan struct{}
	heard   []string
}

func (l *listing) Observe(event string) {
	<-l.forever
	l.heard = append(l.heard, event)
}

// A call is given up only if it had time to return, however late the observer is waited for.
func TestAnObserverIsGivenUpOnlyForWhatItDoes(t *testing.T) {
	t.Parallel()
	enough := make(chan struct{})
	close(enough)
	for name, test := range map[string]struct {
		takes  time.Duration // each call
		hang   bool
		untold int
		heard  int64
	}{
		"at once":     {0, false, 0, 2},
		"in time":     {OneCall - 1, false, 1, 1},
		"not in time": {OneCall + 1, true, 1, 0},
		"not by any":  {time.Hour, true, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var heard atomic.Int64
				h := NewHearer("counts", func(string) { time.Sleep(test.takes); heard.Add(1) }, func(slog.Level, string, error) {})
				h.Post("one")
				h.Post("two")
				synctest.Wait() // it has heard all, or is in its first call
				began := time.Now()
				hang, untold := h.Close(enough)
				require.Equal(t, test.hang, hang)
				require.Equal(t, test.untold, untold)
				require.Equal(t, test.heard, heard.Load())
				require.LessOrEqual(t, time.Since(began), OneCall)
				time.Sleep(2 * time.Hour)
			})
		})
	}
}
