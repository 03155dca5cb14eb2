package handover

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJobsHandOverInTurn(t *testing.T) {
	t.Parallel()
	var h Handovers
	var woken []string
	turns := make(map[string]*Turn)
	take := func(name string, size int) bool {
		if turns[name] == nil {
			turns[name] = &Turn{Wake: func() { woken = append(woken, name) }}
		}
		return h.Take(turns[name], size) > 0
	}
	require.True(t, take("huge", 10*firstWindow), "alone, any job may")
	require.True(t, take("huge", 1), "it has its turn")
	require.False(t, take("a", firstWindow-1))
	require.False(t, take("b", 1))
	require.False(t, take("gone", 1))
	require.False(t, take("c", 1))
	require.False(t, take("a", firstWindow-1), "nobody waits twice")
	require.True(t, h.WaitsFor(turns["a"]))
	h.Withdraw(turns["gone"])
	require.Empty(t, woken)

	h.GiveBack(turns["huge"])
	h.GiveBack(turns["huge"]) // once is enough
	require.Equal(t, []string{"a", "b"}, woken)
	require.False(t, h.WaitsFor(turns["a"]))
	require.True(t, take("a", 1))
	require.False(t, take("c", 1))

	h.Withdraw(turns["b"]) // which had its turn and went
	require.Equal(t, []string{"a", "b", "c"}, woken)
	h.GiveBack(turns["a"])
	h.GiveBack(turns["c"])
	require.Zero(t, h.underWay)
	require.Empty(t, h.waiting)
}

// Who comes later and is small goes behind those that wait: else a large job would wait for all others.
func TestALargeJobHandsOverInItsTurn(t *testing.T) {
	t.Parallel()
	var h Handovers
	first, large, small := &Turn{}, &Turn{Wake: func() {}}, &Turn{Wake: func() {}}
	require.Equal(t, 1, h.Take(first, 1))
	require.Zero(t, h.Take(large, firstWindow))
	require.Zero(t, h.Take(small, 1))
	h.GiveBack(first)
	require.Equal(t, firstWindow, h.Take(large, 2*firstWindow), "as many as it asked for when it began to wait")
	require.True(t, h.WaitsFor(small))
}

// How much is under way follows from how long answers take: what a slow registry has not answered yet is no reason to wait.
func TestMoreIsHandedOverAtOnceWhereAnswersTakeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { testMoreIsHandedOver(t) })
}

func testMoreIsHandedOver(t *testing.T) {
	t.Helper()
	var h Handovers
	first, next := &Turn{}, &Turn{Wake: func() {}}
	require.Equal(t, firstPart, h.Part())
	h.Answered(1, 100*time.Millisecond)
	require.Equal(t, firstWindow/2, h.Part(), "nobody waits")

	require.Equal(t, firstWindow, h.Take(first, firstWindow))
	require.Zero(t, h.Take(next, 300))
	h.Answered(300, 200*time.Millisecond)
	require.Equal(t, (firstWindow+300)/2, h.Part())
	h.GiveBack(first)
	require.True(t, next.has)
	require.Equal(t, firstWindow, h.Take(first, firstWindow), "beside it")

	h.Answered(h.Part(), 300*time.Millisecond)
	require.Equal(t, (firstWindow+300)/2, h.Part(), "they wait for each other: more would not be faster")
	h.Answered(200, 401*time.Millisecond)
	require.Equal(t, (firstWindow+100)/2, h.Part())
	h.Answered(200, 500*time.Millisecond)
	require.Equal(t, firstWindow/2, h.Part(), "never less than at first")

	for range mostWindow / firstWindow {
		h.Answered(h.Part(), 150*time.Millisecond)
	}
	require.Equal(t, mostWindow/2, h.Part())
	h.Answered(1, 50*time.Millisecond)
	h.Answered(h.Part(), 150*time.Millisecond)
	require.Equal(t, mostWindow/2, h.Part())
	h.Answered(h.Part(), 201*time.Millisecond)
	require.Equal(t, mostWindow/4, h.Part(), "by the best answer")

	time.Sleep(rememberFor + time.Second)
	require.Equal(t, mostWindow/4, h.Part(), "the registry may take as long to answer")
	h.GiveBack(first)
	h.GiveBack(next)
	require.Equal(t, firstPart, h.Part(), "what was learnt is of another stop")
}
