package scheduler

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJobsHandOverInTurn(t *testing.T) {
	t.Parallel()
	var h handovers
	var woken []string
	turns := make(map[string]*handoverTurn)
	take := func(name string, size int) bool {
		if turns[name] == nil {
			turns[name] = &handoverTurn{wake: func() { woken = append(woken, name) }}
		}
		return h.take(turns[name], size) > 0
	}
	require.True(t, take("huge", 10*firstHandedOver), "alone, any job may")
	require.True(t, take("huge", 1), "it has its turn")
	require.False(t, take("a", firstHandedOver-1))
	require.False(t, take("b", 1))
	require.False(t, take("gone", 1))
	require.False(t, take("c", 1))
	require.False(t, take("a", firstHandedOver-1), "nobody waits twice")
	require.True(t, h.waitsFor(turns["a"]))
	h.withdraw(turns["gone"])
	require.Empty(t, woken)

	h.giveBack(turns["huge"])
	h.giveBack(turns["huge"]) // once is enough
	require.Equal(t, []string{"a", "b"}, woken)
	require.False(t, h.waitsFor(turns["a"]))
	require.True(t, take("a", 1))
	require.False(t, take("c", 1))

	h.withdraw(turns["b"]) // which had its turn and went
	require.Equal(t, []string{"a", "b", "c"}, woken)
	h.giveBack(turns["a"])
	h.giveBack(turns["c"])
	require.Zero(t, h.underWay)
	require.Empty(t, h.waiting)
}

// Who comes later and is small goes behind those that wait: else a large job would wait for all others.
func TestALargeJobHandsOverInItsTurn(t *testing.T) {
	t.Parallel()
	var h handovers
	first, large, small := &handoverTurn{}, &handoverTurn{wake: func() {}}, &handoverTurn{wake: func() {}}
	require.Equal(t, 1, h.take(first, 1))
	require.Zero(t, h.take(large, firstHandedOver))
	require.Zero(t, h.take(small, 1))
	h.giveBack(first)
	require.Equal(t, firstHandedOver, h.take(large, 2*firstHandedOver), "as many as it asked for when it began to wait")
	require.True(t, h.waitsFor(small))
}

// How much is under way follows from how long answers take: what a slow registry has not answered yet is no reason to wait.
func TestMoreIsHandedOverAtOnceWhereAnswersTakeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { testMoreIsHandedOver(t) })
}

func testMoreIsHandedOver(t *testing.T) {
	t.Helper()
	var h handovers
	first, next := &handoverTurn{}, &handoverTurn{wake: func() {}}
	require.Equal(t, probe, h.part())
	h.answered(1, 100*time.Millisecond)
	require.Equal(t, firstHandedOver/2, h.part(), "nobody waits")

	require.Equal(t, firstHandedOver, h.take(first, firstHandedOver))
	require.Zero(t, h.take(next, 300))
	h.answered(300, 200*time.Millisecond)
	require.Equal(t, (firstHandedOver+300)/2, h.part())
	h.giveBack(first)
	require.True(t, next.has)
	require.Equal(t, firstHandedOver, h.take(first, firstHandedOver), "beside it")

	h.answered(h.part(), 300*time.Millisecond)
	require.Equal(t, (firstHandedOver+300)/2, h.part(), "they wait for each other: more would not be faster")
	h.answered(200, 401*time.Millisecond)
	require.Equal(t, (firstHandedOver+100)/2, h.part())
	h.answered(200, 500*time.Millisecond)
	require.Equal(t, firstHandedOver/2, h.part(), "never less than at first")

	for range mostHandedOver / firstHandedOver {
		h.answered(h.part(), 150*time.Millisecond)
	}
	require.Equal(t, mostHandedOver/2, h.part())
	h.answered(1, 50*time.Millisecond)
	h.answered(h.part(), 150*time.Millisecond)
	require.Equal(t, mostHandedOver/2, h.part())
	h.answered(h.part(), 201*time.Millisecond)
	require.Equal(t, mostHandedOver/4, h.part(), "by the best answer")

	time.Sleep(known + time.Second)
	require.Equal(t, mostHandedOver/4, h.part(), "the registry may take as long to answer")
	h.giveBack(first)
	h.giveBack(next)
	require.Equal(t, probe, h.part(), "what was learnt is of another stop")
}

// A job whose parts are used up makes all notes together that are left then, however many more there are by now: it comes to its end.
func TestALeaveComesToItsEnd(t *testing.T) {
	t.Parallel()
	f := farewell{parts: -1}
	require.Equal(t, probe, f.partOf(600, probe))
	for range 3 {
		require.Equal(t, 256, f.partOf(600, 256))
		require.Equal(t, 20, f.fitting(256, 20))
		require.Equal(t, 1, f.fitting(256, 0))
		f.parted(true)
	}
	for range 2 {
		require.Equal(t, 700, f.partOf(700, 256))
		require.Equal(t, 700, f.fitting(700, 20))
		f.parted(true)
	}
}
