package federation_test

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/scheduler"
)

// The clocks of processes differ from the registries', by less than is tolerated. Whichever fire comes while a job moves is run
// once.
func TestFiresWhileAJobMovesAndClocksDiffer(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-29 * time.Second, -12 * time.Second, 12 * time.Second, 25 * time.Second} {
		moveUnder(t, off, 0)
	}
}

// The clock of whoever moves a job is minutes off, as that of a laptop may be. Those of the processes are the registries'.
func TestAMoverWhoseClockIsOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		moveUnder(t, off, off)
	}
}

// moveUnder moves a job whose processes' clocks, and its registries', are off by so much. Each of its fires runs.
func moveUnder(t *testing.T, processes, registries time.Duration) {
	t.Helper()
	for offset := range 5 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for _, name := range names {
				w.servers[name].SetClockSkew(registries)
			}
			clock := func() time.Time { return time.Now().Add(processes) }
			all := jobs(1)
			w.start(to("b"), all, federation.WithScheduler(scheduler.WithClock(clock)))
			began := clock()
			time.Sleep(time.Minute + time.Duration(offset)*2*time.Second)
			w.move(all[0].Name, "c")
			time.Sleep(2 * time.Minute)
			w.book.ranEveryFire(all, began, clock().Add(-10*time.Second))
			w.stop()
		})
	}
}

// A fire that a jitter delays comes when that is over, which may be while the job moves.
func TestDelayedFiresWhileAJobMoves(t *testing.T) {
	t.Parallel()
	for offset := range 30 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			all := jobs(1)
			all[0].Cron, all[0].Jitter = "@every 1m", 55*time.Second
			w.start(to("b"), all)
			time.Sleep(10*time.Minute + time.Duration(offset)*2*time.Second)
			w.move(all[0].Name, "c")
			time.Sleep(10 * time.Minute)
			w.book.mu.Lock()
			ran := slices.SortedFunc(maps.Keys(w.book.items[all[0].Name+"/0"].fires), time.Time.Compare)
			w.book.mu.Unlock()
			require.Greater(t, len(ran), 15)
			for i, fire := range ran[1:] {
				require.Equal(t, time.Minute, fire.Sub(ran[i]), "moved after %d seconds: %v", 2*offset, ran)
			}
			w.stop()
		})
	}
}
