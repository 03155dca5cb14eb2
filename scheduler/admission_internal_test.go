package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// applying is a job that notes what it is granted.
type applying struct {
	name    string
	granted *[]string
	closed  bool
}

func (j *applying) grant(n int) {
	for range n {
		*j.granted = append(*j.granted, j.name)
	}
}

type applicantOf struct{ *applying }

func (j applicantOf) granted(_ urgency, n int) bool {
	if j.closed {
		return false
	}
	j.grant(n)
	return true
}

func TestAdmissionServesJobsInTurn(t *testing.T) {
	t.Parallel()
	var granted []string
	job := func(name string) applicantOf { return applicantOf{&applying{name: name, granted: &granted}} }
	a := newAdmission()
	a.window = 2
	large, small, late, closed := job("large"), job("small"), job("late"), job("closed")
	closed.closed = true
	require.True(t, a.take(large, onTimeFirst))
	require.True(t, a.take(large, onTimeFirst))
	require.False(t, a.take(late, missedLast))
	for range 100 {
		require.False(t, a.take(large, onTimeFirst))
	}
	require.False(t, a.take(closed, onTimeFirst))
	require.False(t, a.take(small, onTimeFirst))
	require.Empty(t, granted)
	for range 8 {
		a.giveBack(1)
	}
	require.Contains(t, granted, "small")
	require.NotContains(t, granted, "late")
	require.NotContains(t, granted, "closed")
	for range 100 {
		a.giveBack(1)
	}
	require.Contains(t, granted, "late")
	require.Len(t, granted, 102)
	require.Equal(t, 102+2-108, a.out, "all that was given back was admitted, and more")
}

// The window follows how soon begins are confirmed, and a registry that is merely slow is no reason to
// ask less of it.
func TestTheWindowFollowsTheRegistry(t *testing.T) {
	t.Parallel()
	now := time.Now()
	answer := func(a *admission, took time.Duration) {
		a.out = a.window
		now = now.Add(took)
		a.confirmed(1, now.Add(-took), now)
	}
	a := newAdmission()
	for range 30 {
		answer(a, 10*time.Millisecond)
	}
	require.Equal(t, mostWindow, a.window, "swift answers")
	for range 30 {
		answer(a, 10*time.Second)
	}
	require.Equal(t, leastWindow, a.window, "slow ones")
	for range 30 {
		answer(a, 1500*time.Millisecond)
	}
	require.Equal(t, leastWindow, a.window, "neither")

	a = newAdmission()
	for range 30 {
		answer(a, 3*time.Second)
	}
	require.Equal(t, firstWindow, a.window, "it never was faster")

	a = newAdmission()
	a.out = 3
	a.learn(now, now.Add(10*time.Second))
	require.Equal(t, firstWindow, a.window, "a few do not wait for each other")
	require.Positive(t, a.confirmation())
}
