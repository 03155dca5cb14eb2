package admission

import (
	"fmt"
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

func (j applicantOf) Granted(_ Urgency, n int) bool {
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
	a := New()
	a.window = 2
	large, small, late, closed := job("large"), job("small"), job("late"), job("closed")
	closed.closed = true
	require.True(t, a.Take(large, OnTimeFirst))
	require.True(t, a.Take(large, OnTimeFirst))
	require.False(t, a.Take(late, MissedLast))
	for range 100 {
		require.False(t, a.Take(large, OnTimeFirst))
	}
	require.False(t, a.Take(closed, OnTimeFirst))
	require.False(t, a.Take(small, OnTimeFirst))
	require.Empty(t, granted)
	for range 4 * quantum {
		a.GiveBack(1)
	}
	require.Contains(t, granted, "small")
	require.NotContains(t, granted, "late")
	require.NotContains(t, granted, "closed")
	for range 100 {
		a.GiveBack(1)
	}
	require.Contains(t, granted, "late")
	require.Len(t, granted, 102)
	require.Equal(t, 102+2-(4*quantum+100), a.out, "all that was given back was admitted, and more")
}

// turnTaker is a job that notes its turns, and how many begins came with each.
type turnTaker struct {
	name  string
	turns *[]string
}

func (j turnTaker) Granted(_ Urgency, n int) bool {
	*j.turns = append(*j.turns, fmt.Sprint(j.name, " ", n))
	return true
}

// Who waits takes turns, a few begins each. Those that had no turn yet and those that had one alternate, so
// that neither a large job nor many small ones hold the others up; what is late waits for all of them.
func TestAdmissionAlternates(t *testing.T) {
	t.Parallel()
	var turns []string
	a := New()
	a.window = 1
	want := func(u Urgency, name string, n int) {
		for range n {
			require.False(t, a.Take(turnTaker{name, &turns}, u))
		}
	}
	require.True(t, a.Take(turnTaker{"first", &turns}, OnTimeFirst))
	want(MissedLast, "late", 2)
	want(OnTimeFirst, "large", 3*quantum)
	want(OnTimeFirst, "middle", 2*quantum)
	a.GiveBack(1)
	a.GiveBack(a.out)
	a.GiveBack(a.out)
	require.Equal(t, []string{"large 16", "large 16", "middle 16"}, turns)
	want(OnTimeFirst, "one", 1)
	want(OnTimeFirst, "two", 1)
	want(OnTimeFirst, "three", 1)
	for a.out > 0 {
		require.Less(t, len(turns), 20)
		a.Confirmed(a.out, time.Now(), time.Now())
	}
	require.Equal(t, []string{"large 16", "one 1", "middle 16", "two 1", "three 1", "late 2"}, turns[3:])
	require.True(t, a.Take(turnTaker{"last", &turns}, MissedLast), "nobody waits")
}

// The window follows how soon begins are confirmed, and a registry that is merely slow is no reason to
// ask less of it.
func TestTheWindowFollowsTheRegistry(t *testing.T) {
	t.Parallel()
	now := time.Now()
	answer := func(a *Admission, took time.Duration) {
		a.out = a.window
		now = now.Add(took)
		a.Confirmed(1, now.Add(-took), now)
	}
	a := New()
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

	a = New()
	for range 30 {
		answer(a, 3*time.Second)
	}
	require.Equal(t, firstWindow, a.window, "it never was faster")

	a = New()
	a.out = 3
	a.learn(now, now.Add(10*time.Second))
	require.Equal(t, firstWindow, a.window, "a few do not wait for each other")
	require.Positive(t, a.Confirmation())
}

func TestWhatAnAnswerSaysOfTheWindow(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for name, test := range map[string]struct {
		window, out int
		best        time.Duration // that is known
		handed      time.Duration // after the window was changed
		took        time.Duration
		want        int
	}{
		"slow":                                 {window: 1000, out: 1000, took: 2500 * time.Millisecond, want: 800},
		"slow, and the window was not full":    {window: 1000, out: 500, took: 2500 * time.Millisecond, want: 400},
		"very slow":                            {window: 1000, out: 1000, took: time.Minute, want: 500},
		"slow, few":                            {window: 12, out: 12, took: time.Minute, want: leastWindow},
		"slow, of the window before":           {window: 1000, out: 1000, handed: -1, took: time.Minute, want: 1000},
		"very swift":                           {window: 1000, out: 1000, took: 100 * time.Millisecond, want: 2000},
		"very swift, and not full":             {window: 1000, out: 999, took: 100 * time.Millisecond, want: 1000},
		"very swift, and large":                {window: 10_000, out: 10_000, took: 100 * time.Millisecond, want: mostWindow},
		"swift":                                {window: 1000, out: 1000, took: 900 * time.Millisecond, want: 1250},
		"swift, and not full":                  {window: 1000, out: 999, took: 900 * time.Millisecond, want: 1000},
		"swift, and large":                     {window: 16_000, out: 16_000, took: 900 * time.Millisecond, want: mostWindow},
		"neither":                              {window: 1000, out: 1000, took: 1100 * time.Millisecond, want: 1000},
		"slow at best":                         {window: 1000, out: 1000, best: 1500 * time.Millisecond, took: 2900 * time.Millisecond, want: 1000},
		"slower than twice the best":           {window: 1000, out: 1000, best: 1500 * time.Millisecond, took: 4 * time.Second, want: 750},
		"too slow, however slow the best":      {window: 1000, out: 1000, best: 10 * time.Second, took: 8 * time.Second, want: 500},
		"slow, a while after the best":         {window: 1000, out: 1000, best: time.Millisecond, handed: bestFor, took: 3 * time.Second, want: 1000},
		"slow, a while after, but not for all": {window: 1000, out: 1000, best: time.Millisecond, handed: bestFor, took: 5 * time.Second, want: 800},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &Admission{window: test.window, out: test.out, changed: start, best: test.best, bestAt: start}
			if test.best == 0 {
				a.best = time.Millisecond
			}
			handed := start.Add(test.handed)
			a.learn(handed, handed.Add(test.took))
			require.Equal(t, test.want, a.window)
			require.Equal(t, test.want != test.window, !a.changed.Equal(start))
		})
	}
}
