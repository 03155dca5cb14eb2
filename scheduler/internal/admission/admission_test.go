package admission

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// applying is a job that notes what it is granted.
type applying struct {
	place   Place
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

func (j applicantOf) Place() *Place { return &j.place }

func (j applicantOf) Granted(g Grant) bool {
	if j.closed {
		return false
	}
	j.grant(g.Begins)
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
	require.False(t, a.Take(late, MissedLast))
	for range 100 {
		require.False(t, a.Take(large, OnTimeFirst))
	}
	require.False(t, a.Take(closed, OnTimeFirst))
	require.False(t, a.Take(small, OnTimeFirst))
	require.Empty(t, granted)
	for range 4 * quantum {
		a.GiveBack(anybody{}, 1)
	}
	require.Contains(t, granted, "small")
	require.NotContains(t, granted, "closed")
	for range 100 {
		a.GiveBack(anybody{}, 1)
	}
	require.Contains(t, granted, "late")
	require.Len(t, granted, 103)
	require.Equal(t, 103+2-(4*quantum+100), a.out, "all that was given back was admitted, and more")
}

// anybody gives back what others were given.
type anybody struct{}

func (anybody) Granted(Grant) bool { return false }
func (anybody) Place() *Place      { return &Place{out: 1 << 30} }

// turnTaker is a job that notes its turns, and how many begins came with each.
type turnTaker struct {
	name string
	log  *turnLog
}

type turnLog struct {
	turns  []string
	places map[string]*Place
}

func newTurnLog() *turnLog { return &turnLog{places: make(map[string]*Place)} }

func (j turnTaker) Place() *Place {
	if j.log.places[j.name] == nil {
		j.log.places[j.name] = new(Place)
	}
	return j.log.places[j.name]
}

func (j turnTaker) Granted(g Grant) bool {
	turn := fmt.Sprint(j.name, " ", g.Begins)
	if g.Ahead {
		turn += " ahead"
	}
	j.log.turns = append(j.log.turns, turn)
	return true
}

// Who waits takes turns, a few begins each. Those that had no turn yet and those that had one alternate, so
// that neither a large job nor many small ones hold the others up.
func TestAdmissionAlternates(t *testing.T) {
	t.Parallel()
	log := newTurnLog()
	a := New()
	a.window = quantum
	want := func(u Urgency, name string, n int) {
		for range n {
			require.False(t, a.Take(turnTaker{name, log}, u))
		}
	}
	for range quantum {
		require.True(t, a.Take(turnTaker{"first", log}, OnTimeFirst))
	}
	want(OnTimeFirst, "large", 3*quantum)
	want(OnTimeFirst, "middle", 2*quantum)
	a.GiveBack(anybody{}, a.out)
	a.GiveBack(anybody{}, a.out)
	a.GiveBack(anybody{}, a.out)
	require.Equal(t, []string{"large 16", "large 16", "middle 16"}, log.turns)
	want(OnTimeFirst, "one", 1)
	want(OnTimeFirst, "two", 1)
	want(OnTimeFirst, "three", 1)
	for a.out > 0 {
		require.Less(t, len(log.turns), 20)
		a.Confirmed(anybody{}, a.out, a.Hand(anybody{}, false, time.Now()), true, time.Now())
	}
	require.Equal(t, []string{"large 16", "one 1", "middle 16", "two 1", "three 1"}, log.turns[3:])
	require.True(t, a.Take(turnTaker{"last", log}, MissedLast), "nobody waits")
}

// Of the jobs that wait, the one that had its turn longest ago comes first, and a turn that was of no use to it is none.
func TestWhoHadItsTurnLongestAgoComesFirst(t *testing.T) {
	t.Parallel()
	log := newTurnLog()
	job := func(name string) turnTaker { return turnTaker{name, log} }
	a := New()
	a.window = 1
	require.True(t, a.Take(job("first"), OnTimeFirst))
	for range 3 {
		for _, name := range []string{"a", "b", "c"} {
			require.False(t, a.Take(job(name), OnTimeFirst))
		}
		for range 3 {
			a.GiveBack(anybody{}, 1)
			if turn := log.turns[len(log.turns)-1]; turn != "c 1" {
				a.Hand(job(turn[:1]), false, time.Now())
			}
		}
	}
	require.Equal(t, []string{"a 1", "b 1", "c 1", "c 1", "a 1", "b 1", "c 1", "a 1", "b 1"}, log.turns)
}

// A job that goes takes nothing with it: what it was granted is free again, and it is granted nothing more.
func TestAJobThatGoesLeavesItsTurnsToOthers(t *testing.T) {
	t.Parallel()
	log := newTurnLog()
	gone, other := turnTaker{"gone", log}, turnTaker{"other", log}
	a := New()
	a.window = 4
	for range 4 {
		require.True(t, a.Take(gone, OnTimeFirst))
	}
	require.False(t, a.Take(gone, OnTimeFirst))
	require.False(t, a.Take(gone, MissedLast))
	require.False(t, a.Take(other, OnTimeFirst))
	a.GiveBack(gone, 1) // what is free now is for others
	a.Withdraw(gone)
	require.Contains(t, log.turns, "other 1")
	a.Withdraw(gone)
	require.Equal(t, 1, a.out, "that of the other one")
	a.Confirmed(gone, 3, Handed{}, false, time.Now()) // an answer that comes after all
	require.Equal(t, 1, a.out)
}

// What a job returns of a grant at once was no turn of late ones.
func TestReturnedTurnsAreMadeUpFor(t *testing.T) {
	t.Parallel()
	log := newTurnLog()
	late, onTime := turnTaker{"late", log}, turnTaker{"on time", log}
	a := New()
	a.window, a.passed = 8, lateShare-1
	for range 8 {
		require.True(t, a.Take(onTime, OnTimeFirst))
	}
	for range 2 {
		require.False(t, a.Take(late, MissedLast))
	}
	a.passed = lateShare - 1
	a.GiveBack(onTime, 1)
	require.Equal(t, []string{"late 2 ahead"}, log.turns)
	require.False(t, a.Take(late, MissedLast))
	before := a.passed
	a.pass(Grant{Urgency: MissedLast, Ahead: true}, 2)
	a.Decline(late, Grant{Urgency: MissedLast, Begins: 2, Ahead: true}, 2)
	require.Equal(t, before, a.passed)
	require.Equal(t, []string{"late 2 ahead", "late 1"}, log.turns)
}

// Late begins wait for those on time, but none waits for ever: they have one of four.
func TestLateBeginsAreGivenOneOfFour(t *testing.T) {
	t.Parallel()
	const late, onTime = 1000, 10 * 1000
	var granted []string
	job := func(name string) applicantOf { return applicantOf{&applying{name: name, granted: &granted}} }
	a := New()
	a.window = 100
	for range 100 {
		require.True(t, a.Take(job("first"), OnTimeFirst))
	}
	for range late {
		require.False(t, a.Take(job("late"), MissedLast))
	}
	for range onTime {
		require.False(t, a.Take(job("on time"), OnTimeFirst))
	}
	given := func() (n int) {
		for _, name := range granted {
			if name == "late" {
				n++
			}
		}
		return n
	}
	for range 4000 {
		a.GiveBack(anybody{}, 1)
	}
	require.InDelta(t, 4000/lateShare, given(), 2*quantum)
	for range 12_000 {
		a.GiveBack(anybody{}, min(1, a.out))
	}
	require.Equal(t, late, given())
	require.Len(t, granted, late+onTime)
}

// Begins that were admitted at once, for want of others on time, are made up for as well.
func TestLateBeginsAreNotPassedByForEver(t *testing.T) {
	t.Parallel()
	log := newTurnLog()
	a := New()
	a.window = 100
	for range 100 {
		require.True(t, a.Take(turnTaker{"first", log}, OnTimeFirst))
	}
	require.False(t, a.Take(turnTaker{"late", log}, MissedLast))
	for range lateShare - 1 { // each is confirmed, and another comes
		require.Empty(t, log.turns)
		a.GiveBack(anybody{}, 1)
		require.True(t, a.Take(turnTaker{"next", log}, OnTimeFirst))
	}
	a.GiveBack(anybody{}, 1)
	require.Equal(t, []string{"late 1 ahead"}, log.turns)
}

// As those on time would pass them by, no more late begins are under way than are soon confirmed, however many there are.
func TestLateBeginsFillAPartOfTheWindow(t *testing.T) {
	t.Parallel()
	log := newTurnLog()
	a := New()
	a.window, a.lastOnTime = 100, time.Now()
	for range 100 / lateWindow {
		require.True(t, a.Take(turnTaker{"late", log}, MissedLast))
	}
	require.False(t, a.Take(turnTaker{"late", log}, MissedLast))
	require.True(t, a.Take(turnTaker{"on time", log}, OnTimeFirst))
	a.GiveBack(anybody{}, 1)
	require.Empty(t, log.turns)
	a.GiveBack(anybody{}, 1)
	require.Equal(t, []string{"late 1"}, log.turns)

	a.lastOnTime = a.lastOnTime.Add(-lull) // and none came since
	for range 75 {
		require.True(t, a.Take(turnTaker{"late", log}, MissedLast))
	}
	require.False(t, a.Take(turnTaker{"late", log}, MissedLast))
}

// The window follows how soon begins are confirmed, and a registry that is merely slow is no reason to
// ask less of it.
func TestTheWindowFollowsTheRegistry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, theWindowFollowsTheRegistry)
}

func theWindowFollowsTheRegistry(t *testing.T) {
	now := time.Now()
	answer := func(a *Admission, took time.Duration) {
		a.out = a.open()
		h := a.Hand(anybody{}, false, time.Now())
		time.Sleep(took)
		a.Confirmed(anybody{}, 1, h, true, time.Now())
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
		answer(a, 700*time.Millisecond)
	}
	require.Equal(t, mostWindow, a.window, "it takes that long for anything")
	queued := func() { // each takes a while, and waits for all before it
		for range 60 {
			answer(a, time.Duration(a.open())*150*time.Millisecond)
		}
	}
	queued()
	require.Equal(t, leastWindow, a.window, "one after the other")
	require.Less(t, a.best, time.Second, "which what waited for others does not tell")

	a = New()
	for range 30 {
		answer(a, 3*time.Second)
	}
	require.Equal(t, mostWindow, a.window, "it never was faster")

	a = New()
	burst := a.Hand(anybody{}, false, now) // its first begins
	a.out = 10 * firstWindow
	a.learn(burst, true, now.Add(time.Millisecond))
	require.Equal(t, firstWindow, a.window, "these had nothing to wait for")

	a = New()
	a.out = 3
	a.learn(a.Hand(anybody{}, false, now), true, now.Add(10*time.Second))
	require.Equal(t, firstWindow, a.window, "a few do not wait for each other")
	usual, _ := a.Expected()
	require.Positive(t, usual)
}

// Jobs of three items each keep a small window full: what the registry takes at best is found out all the same.
func TestProbesComeToTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newTurnLog()
		a := New()
		a.window, a.best, a.bestAt = leastWindow, time.Millisecond, time.Now()
		for range 2 * 3 {
			require.True(t, a.Take(turnTaker{"first", log}, OnTimeFirst))
		}
		log.turns = []string{"first 3", "first 3"}
		for n := range 100 {
			for range 3 {
				a.lines[OnTimeFirst].want(turnTaker{fmt.Sprint("job-", n), log})
			}
		}
		underWay := []Handed{a.Hand(anybody{}, false, time.Now()), a.Hand(anybody{}, false, time.Now())}
		time.Sleep(2 * bestFor)
		for n := range 20 {
			for len(underWay) < len(log.turns)-n {
				underWay = append(underWay, a.Hand(anybody{}, false, time.Now()))
			}
			time.Sleep(100 * time.Millisecond)
			var begins int
			_, err := fmt.Sscanf(log.turns[n], "%s %d", new(string), &begins)
			require.NoError(t, err)
			a.Confirmed(turnTaker{strings.Fields(log.turns[n])[0], log}, begins, underWay[0], true, time.Now())
			underWay = underWay[1:]
		}
		require.GreaterOrEqual(t, a.best, 100*time.Millisecond)
	})
}

func TestWhatAnAnswerSaysOfTheWindow(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for name, test := range map[string]struct {
		window, out int
		best        time.Duration // that is known
		handed      time.Duration // after the window was changed
		took        time.Duration
		late        bool // it was of late ones, while one was on time lately
		unsent      bool // it was none
		want        int
	}{
		"slow":                              {window: 1000, out: 1000, took: 1250 * time.Millisecond, want: 800},
		"slow, and the window was not full": {window: 1000, out: 500, took: 1250 * time.Millisecond, want: 400},
		"very slow":                         {window: 1000, out: 1000, took: time.Minute, want: 500},
		"slow, few":                         {window: 12, out: 12, took: time.Minute, want: leastWindow},
		"slow, of the window before":        {window: 1000, out: 1000, handed: -1, took: time.Minute, want: 1000},
		"very swift":                        {window: 1000, out: 1000, took: 100 * time.Millisecond, want: 2000},
		"very swift, and not full":          {window: 1000, out: 999, took: 100 * time.Millisecond, want: 1000},
		"very swift, and large":             {window: 10_000, out: 10_000, took: 100 * time.Millisecond, want: mostWindow},
		"swift":                             {window: 1000, out: 1000, took: 200 * time.Millisecond, want: 1250},
		"swift, and not full":               {window: 1000, out: 999, took: 200 * time.Millisecond, want: 1000},
		"swift, and large":                  {window: 16_000, out: 16_000, took: 200 * time.Millisecond, want: mostWindow},
		"slow at best, and swift for it":    {window: 1000, out: 1000, best: 1500 * time.Millisecond, took: 1600 * time.Millisecond, want: 2000},
		"neither":                           {window: 1000, out: 1000, took: 600 * time.Millisecond, want: 1000},
		"slow at best":                      {window: 1000, out: 1000, best: 1500 * time.Millisecond, took: 2900 * time.Millisecond, want: 1000},
		"slower than twice the best":        {window: 1000, out: 1000, best: 1500 * time.Millisecond, took: 4 * time.Second, want: 750},
		"too slow, however slow the best":   {window: 1000, out: 1000, best: 10 * time.Second, took: 8 * time.Second, want: 500},
		"slow, a while after the best":      {window: 1000, out: 125, handed: bestFor, took: 3 * time.Second, want: 1000},
		"slow, a while after, behind much":  {window: 1000, out: 1000, handed: bestFor, took: 3 * time.Second, want: 500},
		"swift, all that are late":          {window: 1000, out: 250, late: true, took: 100 * time.Millisecond, want: 2000},
		"swift, some that are late":         {window: 1000, out: 249, late: true, took: 100 * time.Millisecond, want: 1000},
		"slow, all that are late":           {window: 1000, out: 250, late: true, took: 2 * time.Second, want: 500},
		"dropped soon":                      {window: 1000, out: 1000, unsent: true, took: time.Millisecond, want: 1000},
		"dropped late":                      {window: 1000, out: 1000, unsent: true, took: 2 * time.Second, want: 500},
		"too slow, a while after":           {window: 1000, out: 125, handed: bestFor, took: 5 * time.Second, want: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &Admission{window: test.window, out: test.out, changed: start, best: test.best, bestAt: start, lastOnTime: time.Now()}
			if test.best == 0 {
				a.best = time.Millisecond
			}
			handed := start.Add(test.handed)
			a.learn(a.Hand(anybody{}, test.late, handed), !test.unsent, handed.Add(test.took))
			require.Equal(t, test.want, a.window)
			require.Equal(t, test.want != test.window, !a.changed.Equal(start))
		})
	}
}
