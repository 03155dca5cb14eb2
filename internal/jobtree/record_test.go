package jobtree_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// scheduled begins the fire of a minute, with failover on, some time after it.
func scheduled(minute int) jobtree.Begin {
	return jobtree.Begin{
		Instance: "10.0.0.1@-@7", Session: 0x1f, Source: job.Scheduled,
		Fire: at(minute), Failover: true, Time: at(minute).Add(3 * time.Millisecond),
	}
}

func byHand(trigger registry.Revision) jobtree.Begin {
	return jobtree.Begin{
		Instance: "10.0.0.1@-@7", Session: 0x1f, Source: job.Manual, Trigger: trigger, Failover: true, Time: at(0),
	}
}

var claim = jobtree.Claim{Instance: "10.0.0.2@-@9", Session: 0x2f, Time: at(30)}

func must(tb testing.TB) func(jobtree.Record, error) jobtree.Record {
	tb.Helper()
	return func(r jobtree.Record, err error) jobtree.Record {
		tb.Helper()
		require.NoError(tb, err)
		return r
	}
}

// past is the current execution of a record as that of the next one knows it.
func past(r jobtree.Record) jobtree.Execution {
	e := *r.Current
	e.Session = 0
	return e
}

func success(token int64) jobtree.End {
	return jobtree.End{Token: token, Time: at(1), Outcome: jobtree.Success}
}

func TestAScheduledExecution(t *testing.T) {
	t.Parallel()
	begin := scheduled(0)
	begin.Round = "r1"
	running := must(t)(jobtree.Record{}.Begin(begin))
	require.Equal(t, jobtree.Record{
		State: jobtree.ItemRunning, LastFire: at(0),
		Before: &jobtree.Before{State: jobtree.ItemIdle},
		Current: &jobtree.Execution{
			Instance: "10.0.0.1@-@7", Session: 0x1f, Source: job.Scheduled, Fire: at(0),
			Begin: at(0).Add(3 * time.Millisecond), Failover: true, Round: "r1",
		},
	}, running)

	ended := must(t)(running.End(jobtree.End{Token: 17, Time: at(1), Outcome: jobtree.Failure, Error: "disk full"}))
	require.Equal(t, jobtree.ItemIdle, ended.State)
	require.Equal(t, at(0), ended.LastFire)
	require.Equal(t, jobtree.Counts{Failure: 1}, ended.Counts)
	require.Nil(t, ended.Before)
	require.Equal(t, int64(17), ended.Current.Token)
	require.Equal(t, at(1), ended.Current.End)
	require.Equal(t, jobtree.Failure, ended.Current.Outcome)
	require.Equal(t, "disk full", ended.Current.Error)
	require.Zero(t, running.Current.Token, "the record that was read is as it was")
}

func TestAFireRunsOnce(t *testing.T) {
	t.Parallel()
	idle := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(5))).End(success(17)))
	for _, minute := range []int{4, 5} {
		_, err := idle.Begin(scheduled(minute))
		require.ErrorIs(t, err, jobtree.ErrFirePassed)
	}
	must(t)(idle.Begin(scheduled(6)))

	misfire := scheduled(5)
	misfire.Source = job.Misfire
	_, err := idle.Begin(misfire)
	require.ErrorIs(t, err, jobtree.ErrFirePassed)
	require.EqualError(t, err, "begin of an item that is idle: fire was run already: "+
		"fire 2026-01-02T12:05:00Z, last one 2026-01-02T12:05:00Z")
}

func TestARunByHandLeavesTheScheduleAlone(t *testing.T) {
	t.Parallel()
	idle := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(5))).End(success(17)))
	running := must(t)(idle.Begin(byHand(40)))
	require.Equal(t, at(5), running.LastFire)
	require.Equal(t, registry.Revision(40), running.Trigger)
	require.True(t, running.Current.Fire.IsZero())

	idle = must(t)(running.End(success(41)))
	for _, trigger := range []registry.Revision{39, 40} {
		_, err := idle.Begin(byHand(trigger))
		require.ErrorIs(t, err, jobtree.ErrTriggerPassed)
	}
	must(t)(idle.Begin(byHand(42)))
	must(t)(idle.Begin(scheduled(6)))
}

func TestNothingBeginsWhileSomethingRuns(t *testing.T) {
	t.Parallel()
	running := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	_, err := running.Begin(scheduled(1))
	require.ErrorIs(t, err, jobtree.ErrItemRunning)
	_, err = running.Begin(byHand(40))
	require.ErrorIs(t, err, jobtree.ErrItemRunning)
	_, err = running.Claim(claim)
	require.ErrorIs(t, err, jobtree.ErrItemNotWaiting)
}

func TestALostExecutionIsRunAgain(t *testing.T) {
	t.Parallel()
	running := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	waiting := must(t)(running.DeclareLost(17, at(2), 3))
	require.Equal(t, jobtree.ItemWaiting, waiting.State)
	require.Equal(t, jobtree.Lost, waiting.Current.Outcome)
	require.Equal(t, int64(17), waiting.Current.Token)

	_, err := waiting.Begin(scheduled(1))
	require.ErrorIs(t, err, jobtree.ErrItemWaiting, "the schedule does not bury lost work")
	_, err = waiting.DeclareLost(18, at(2), 3)
	require.ErrorIs(t, err, jobtree.ErrItemNotRunning)

	rerun := must(t)(waiting.Claim(claim))
	require.Equal(t, jobtree.ItemRunning, rerun.State)
	require.Equal(t, 1, rerun.Reruns)
	require.Equal(t, job.Failover, rerun.Current.Source)
	require.Equal(t, at(0), rerun.Current.Fire, "for the fire that was lost")
	require.Equal(t, "10.0.0.2@-@9", rerun.Current.Instance)
	require.Equal(t, at(0), rerun.LastFire)

	idle := must(t)(rerun.End(success(20)))
	require.Equal(t, jobtree.ItemIdle, idle.State)
	require.Zero(t, idle.Reruns)
	require.Equal(t, jobtree.Counts{Success: 1, Lost: 1}, idle.Counts)
	lost, ok := idle.Previous()
	require.True(t, ok)
	require.Equal(t, past(waiting), lost)
}

func TestALostRunByHandIsRunAgain(t *testing.T) {
	t.Parallel()
	waiting := must(t)(must(t)(jobtree.Record{}.Begin(byHand(40))).DeclareLost(41, at(2), 3))
	rerun := must(t)(waiting.Claim(claim))
	require.True(t, rerun.Current.Fire.IsZero())
	require.Equal(t, registry.Revision(40), rerun.Trigger)
}

func TestWithoutFailoverALostExecutionIsInterrupted(t *testing.T) {
	t.Parallel()
	begin := scheduled(0)
	begin.Failover = false
	interrupted := must(t)(must(t)(jobtree.Record{}.Begin(begin)).DeclareLost(17, at(2), 3))
	require.Equal(t, jobtree.ItemInterrupted, interrupted.State)
	require.False(t, interrupted.GaveUp())
	_, err := interrupted.Claim(claim)
	require.ErrorIs(t, err, jobtree.ErrItemNotWaiting)
	must(t)(interrupted.Begin(scheduled(1)))
}

func TestWhenFailoverIsSwitchedOffTheNextFireDropsWhatWaits(t *testing.T) {
	t.Parallel()
	waiting := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).DeclareLost(17, at(2), 3))
	begin := scheduled(1)
	begin.Failover = false
	running := must(t)(waiting.Begin(begin))
	require.Equal(t, jobtree.ItemWaiting, running.Before.State)
	require.Equal(t, jobtree.ItemInterrupted, must(t)(running.DeclareLost(18, at(3), 3)).State)
}

func TestPoisonIsGivenUp(t *testing.T) {
	t.Parallel()
	for limit, reruns := range map[int]int{1: 1, 3: 3} {
		r := must(t)(jobtree.Record{}.Begin(scheduled(0)))
		r = must(t)(r.DeclareLost(17, at(2), limit))
		for range reruns {
			require.False(t, r.GaveUp())
			r = must(t)(r.Claim(claim))
			r = must(t)(r.DeclareLost(18, at(2), limit))
		}
		require.Equal(t, jobtree.ItemInterrupted, r.State, "limit %d", limit)
		require.True(t, r.GaveUp())
		require.Zero(t, must(t)(r.Begin(scheduled(1))).Reruns, "the next fire starts afresh")
	}
	r := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	for range 50 {
		r = must(t)(must(t)(r.DeclareLost(17, at(2), 0)).Claim(claim))
	}
	require.Equal(t, 50, r.Reruns, "0 is no limit")
}

func TestAnExecutionThatIsCutShortCountsLikeALostOne(t *testing.T) {
	t.Parallel()
	end := jobtree.End{Token: 17, Time: at(1), Outcome: jobtree.Interrupted, Error: "scheduler stopped", FailoverLimit: 3}
	waiting := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(end))
	require.Equal(t, jobtree.ItemWaiting, waiting.State)
	require.Equal(t, jobtree.Counts{Interrupted: 1}, waiting.Counts)

	begin := scheduled(0)
	begin.Failover = false
	interrupted := must(t)(must(t)(jobtree.Record{}.Begin(begin)).End(end))
	require.Equal(t, jobtree.ItemInterrupted, interrupted.State)
}

func TestUndoTakesABeginBack(t *testing.T) {
	t.Parallel()
	idle := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(success(17)))
	waiting := must(t)(must(t)(idle.Begin(scheduled(1))).DeclareLost(18, at(2), 3))
	interrupted := must(t)(must(t)(waiting.Claim(claim)).DeclareLost(19, at(3), 1))
	begin := func(b jobtree.Begin) func(jobtree.Record) (jobtree.Record, error) {
		return func(r jobtree.Record) (jobtree.Record, error) { return r.Begin(b) }
	}
	for _, test := range []struct {
		name   string
		before jobtree.Record
		begin  func(jobtree.Record) (jobtree.Record, error)
	}{
		{"a fire", idle, begin(scheduled(5))},
		{"a run by hand", idle, begin(byHand(40))},
		{"a claim", waiting, func(r jobtree.Record) (jobtree.Record, error) { return r.Claim(claim) }},
		{"a fire after an interruption", interrupted, begin(scheduled(5))},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			undone := must(t)(must(t)(test.begin(test.before)).Undo(30, at(6)))
			require.Equal(t, test.before.State, undone.State)
			require.Equal(t, test.before.LastFire, undone.LastFire)
			require.Equal(t, test.before.Trigger, undone.Trigger)
			require.Equal(t, test.before.Reruns, undone.Reruns)
			require.Equal(t, test.before.Counts, undone.Counts)
			require.Equal(t, jobtree.NotStarted, undone.Current.Outcome)

			again := must(t)(test.begin(undone))
			previous, ok := again.Previous()
			require.True(t, ok)
			require.Equal(t, past(test.before), previous, "what was never started is no history")
		})
	}
}

func TestABrokenClockIsSeen(t *testing.T) {
	t.Parallel()
	begin := scheduled(10)
	begin.Horizon = at(9)
	_, err := jobtree.Record{}.Begin(begin)
	require.ErrorIs(t, err, jobtree.ErrFireAhead)

	// A record that a broken clock wrote does not stop the schedule for years.
	broken := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(1_000_000))).End(success(17)))
	begin.Horizon = at(11)
	require.True(t, broken.FireAhead(begin.Horizon))
	require.Equal(t, at(10), must(t)(broken.Begin(begin)).LastFire)

	begin.Believe = true
	_, err = broken.Begin(begin)
	require.ErrorIs(t, err, jobtree.ErrFirePassed, "as long as too little is known")
	begin.Fire = at(12)
	_, err = broken.Begin(begin)
	require.ErrorIs(t, err, jobtree.ErrFireAhead)

	require.False(t, broken.FireAhead(time.Time{}))
	_, err = broken.Begin(scheduled(10))
	require.ErrorIs(t, err, jobtree.ErrFirePassed, "without a horizon nobody knows")
}

func TestEndedFindsTheLastTwo(t *testing.T) {
	t.Parallel()
	r := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(success(17)))
	running := must(t)(r.Begin(scheduled(1)))
	outcome, ok := running.Ended(17)
	require.True(t, ok)
	require.Equal(t, jobtree.Success, outcome)
	_, ok = running.Ended(0)
	require.False(t, ok, "what runs has no token, and has not ended")

	r = must(t)(running.DeclareLost(18, at(2), 3))
	outcome, ok = r.Ended(18)
	require.True(t, ok)
	require.Equal(t, jobtree.Lost, outcome)
	_, ok = r.Ended(16)
	require.False(t, ok)
}

func TestStepsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	running := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	waiting := must(t)(running.DeclareLost(17, at(2), 3))
	change := func(b jobtree.Begin, f func(*jobtree.Begin)) jobtree.Begin {
		f(&b)
		return b
	}
	for name, b := range map[string]jobtree.Begin{
		"no instance":         change(scheduled(1), func(b *jobtree.Begin) { b.Instance = "" }),
		"no session":          change(scheduled(1), func(b *jobtree.Begin) { b.Session = 0 }),
		"no fire":             change(scheduled(1), func(b *jobtree.Begin) { b.Fire = time.Time{} }),
		"unwritable fire":     change(scheduled(1), func(b *jobtree.Begin) { b.Fire = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"a trigger":           change(scheduled(1), func(b *jobtree.Begin) { b.Trigger = 3 }),
		"failover":            change(scheduled(1), func(b *jobtree.Begin) { b.Source = job.Failover }),
		"no source":           change(scheduled(1), func(b *jobtree.Begin) { b.Source = "" }),
		"by hand, no trigger": byHand(0),
		"by hand, unwritable": change(byHand(1), func(b *jobtree.Begin) { b.Fire = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"a parameter":         change(scheduled(1), func(b *jobtree.Begin) { b.Parameter = "x" }),
	} {
		_, err := jobtree.Record{}.Begin(b)
		require.ErrorIs(t, err, registry.ErrInvalid, name)
	}
	for name, step := range map[string]func() (jobtree.Record, error){
		"end without token":   func() (jobtree.Record, error) { return running.End(success(0)) },
		"end without outcome": func() (jobtree.Record, error) { return running.End(jobtree.End{Token: 17}) },
		"end as lost":         func() (jobtree.Record, error) { return running.End(jobtree.End{Token: 17, Outcome: jobtree.Lost}) },
		"undo without token":  func() (jobtree.Record, error) { return running.Undo(0, at(1)) },
		"lost without token":  func() (jobtree.Record, error) { return running.DeclareLost(-1, at(1), 0) },
		"claim by nobody":     func() (jobtree.Record, error) { return waiting.Claim(jobtree.Claim{Session: 1}) },
		"claim by no session": func() (jobtree.Record, error) { return waiting.Claim(jobtree.Claim{Instance: "a@-@b"}) },
	} {
		_, err := step()
		require.ErrorIs(t, err, registry.ErrInvalid, name)
	}
	for name, step := range map[string]func() (jobtree.Record, error){
		"end":  func() (jobtree.Record, error) { return waiting.End(success(17)) },
		"undo": func() (jobtree.Record, error) { return waiting.Undo(17, at(1)) },
		"lost": func() (jobtree.Record, error) { return jobtree.Record{}.DeclareLost(17, at(1), 0) },
	} {
		_, err := step()
		require.ErrorIs(t, err, jobtree.ErrItemNotRunning, name)
		var refused *jobtree.RefusedError
		require.ErrorAs(t, err, &refused)
		require.NotEmpty(t, refused.Step)
		require.NotEmpty(t, refused.State)
	}
}

// What is left out of a long error is the middle: the last words of a script tell why it failed.
func TestErrorTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	running := must(t)(jobtree.Record{}.Begin(scheduled(0)))
	for text, want := range map[string]string{
		"short":                          "short",
		"a\xffb":                         "a\ufffdb",
		strings.Repeat("x", 256):         strings.Repeat("x", jobtree.MaxErrorText),
		strings.Repeat("x", 300) + "why": strings.Repeat("x", 88) + " ... " + strings.Repeat("x", 160) + "why",
		strings.Repeat("ä", 150):         strings.Repeat("ä", 44) + " ... " + strings.Repeat("ä", 81),
		"x" + strings.Repeat("ä", 150):   "x" + strings.Repeat("ä", 43) + " ... " + strings.Repeat("ä", 81),
		strings.Repeat("x", 254) + "äöü": strings.Repeat("x", 88) + " ... " + strings.Repeat("x", 157) + "äöü",
	} {
		require.LessOrEqual(t, len(want), jobtree.MaxErrorText)
		ended := must(t)(running.End(jobtree.End{Token: 1, Outcome: jobtree.Failure, Error: text}))
		require.Equal(t, want, ended.Current.Error)
	}
}
