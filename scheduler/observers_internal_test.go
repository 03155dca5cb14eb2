package scheduler

import (
	"fmt"
	"log/slog"
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
		h := &hearer{observer: o, quiet: make(chan struct{}), tell: func(_ slog.Level, message string, _ error) {
			switch message {
			case observerMissed:
				missed++
			case observerHangs:
				hanging++
			}
		}}
		for n := range observerBacklog + 101 {
			h.post(JoinEvent{Job: fmt.Sprint(n)})
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
		h.post(JoinEvent{Job: "again"})
		time.Sleep(observerPatience)
		h.post(JoinEvent{Job: "waits"})
		require.Equal(t, 1, hanging)
		enough := make(chan struct{})
		close(enough)
		hang, untold := h.close(enough)
		require.True(t, hang)
		require.Equal(t, 1, untold)
		require.False(t, h.post(JoinEvent{Job: "late"}))
		close(o.forever)
		synctest.Wait()
		require.Equal(t, "again", o.heard[len(o.heard)-1])
	})
}

// listing notes which jobs were joined, once it does not hang.
type listing struct {
	forever chan struct{}
	heard   []string
}

func (l *listing) Observe(event Event) {
	<-l.forever
	l.heard = append(l.heard, event.(JoinEvent).Job)
}

// Logs tell one function that observes from another.
func TestNamesOfObservers(t *testing.T) {
	t.Parallel()
	require.Equal(t, "*scheduler.listing", nameOf(&listing{}))
	require.Regexp(t, `scheduler\.TestNamesOfObservers\.func1$`, nameOf(ObserverFunc(func(Event) {})))
}
