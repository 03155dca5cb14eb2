package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

// minutelySchedule is the schedule of which minute gives the fires.
func minutelySchedule(t *testing.T) cronexpr.Schedule {
	t.Helper()
	s, err := cronexpr.Parse("0 * * * * ?")
	require.NoError(t, err)
	return s
}

func TestWhatAClockTicked(t *testing.T) {
	t.Parallel()
	s := minutelySchedule(t)
	var w witness
	require.Empty(t, w.fires(s, time.Time{}, minute(100), 10))
	require.Zero(t, w.newest())
	w.saw(minute(1), minute(1))
	w.saw(minute(2), minute(4)) // two went by unseen
	w.missing()
	w.saw(minute(7), minute(7))
	w.saw(minute(5), minute(5)) // the clock was set back
	w.saw(minute(8), minute(8))
	require.Equal(t, minutes(1, 2, 3, 4, 7, 8), w.fires(s, minute(-9), minute(100), 10))
	require.Equal(t, minutes(3, 4, 7), w.fires(s, minute(2), minute(7), 10))
	require.Equal(t, minutes(4, 7, 8), w.fires(s, minute(0), minute(100), 3), "the newest")
	require.Equal(t, minute(8), w.newest())
	require.True(t, w.has(minute(3)))
	require.False(t, w.has(minute(0)))
	require.False(t, w.has(minute(5)))
	w.forget()
	require.Empty(t, w.fires(s, minute(-9), minute(100), 10))
}

// A job that pauses again and again costs no more memory for it.
func TestAWitnessIsBounded(t *testing.T) {
	t.Parallel()
	var w witness
	for n := range 1000 {
		w.saw(minute(2*n), minute(2*n))
		w.missing()
	}
	require.Len(t, w.spans, spansKept)
	require.True(t, w.has(minute(1998)))
	for n := range 1000 {
		w.follow(n % 7)
		w.saw(minute(2000+n), minute(2000+n))
	}
	require.Less(t, len(w.grown), 8)
}

// Of the time in which an item was disabled, or was none, it owes nothing.
func TestTheFloorOfAnItem(t *testing.T) {
	t.Parallel()
	var w witness
	w.bar(0, true)
	w.bar(0, false)
	w.follow(2)
	require.Zero(t, w.floor(0), "nothing was ticked yet")
	require.Zero(t, w.floor(1))
	w.saw(minute(1), minute(1))
	w.bar(0, true)
	w.saw(minute(2), minute(2))
	w.bar(0, true)
	w.bar(1, false)
	w.saw(minute(3), minute(3))
	w.bar(0, false)
	w.saw(minute(4), minute(4))
	require.Equal(t, minute(3), w.floor(0))
	require.Zero(t, w.floor(1))
	w.follow(5)
	require.Equal(t, minute(4), w.floor(2))
	require.Equal(t, minute(4), w.floor(4))
	w.follow(3)
	w.saw(minute(5), minute(5))
	w.follow(8)
	require.Equal(t, minute(4), w.floor(2), "it was there all the time")
	require.Equal(t, minute(5), w.floor(3), "it was none for a while")
	require.Equal(t, minute(3), w.floor(0))
	w.saw(minute(6), minute(6))
	w.bar(3, true)
	w.bar(3, false)
	require.Equal(t, minute(6), w.floor(3))
	w.forget()
	require.Zero(t, w.floor(3))
}

func TestMergeMissedFires(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy misfires
		before due
		fires  []time.Time
		want   due
	}{
		"none":                            {makeUpAll, onTime(9, 1), nil, onTime(9, 1)},
		"off":                             {makeUpNone, onTime(9), minutes(3), onTime(9)},
		"once: nothing was due":           {makeUpOnce, due{}, minutes(2, 1), missedFires(2)},
		"once: an older one":              {makeUpOnce, missedFires(5), minutes(4), missedFires(5)},
		"once: a newer one":               {makeUpOnce, missedFires(5), minutes(6), missedFires(6)},
		"once: the run on time is theirs": {makeUpOnce, onTime(9), minutes(6), onTime(9)},
		"once: later than what is due":    {makeUpOnce, onTime(9), minutes(10), missedFires(10)},
		"all: each once, in order":        {makeUpAll, missedFires(2, 4), minutes(4, 3, 3), missedFires(2, 3, 4)},
		"all: the newest are kept":        {makeUpAll, missedFires(2, 4), minutes(3, 5), missedFires(3, 4, 5)},
		"all: what is on time is no missed fire": {
			makeUpAll, onTime(9, 8), minutes(7, 9), onTime(9, 7, 8),
		},
		"all: later than what is due": {makeUpAll, onTime(9), minutes(8, 10), missedFires(8, 9, 10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.merge(test.before, test.fires...))
		})
	}
}

func TestRulesOfDroppedFires(t *testing.T) {
	t.Parallel()
	same(t, missedFires(7, 8), onTime(9, 7, 8).dropDisabled())
	same(t, onTime(5, 3, 4), onTime(5, 3, 4, 9, 10).dropAhead(minute(5)))
	same(t, onTime(9, 8), onTime(9, 7, 8).dropImpossible(minute(7)))
	require.Nil(t, makeUpNone.dropUnwanted(minutes(1)))
	require.Equal(t, minutes(3), makeUpOnce.dropBeyond(minutes(1, 2, 3)))
	require.Equal(t, minutes(2, 3, 4), makeUpAll.dropBeyond(minutes(1, 2, 3, 4)))
}

// Notes are compared by what a job fires by, the same in every process and after every restart.
func TestTheNameOfTimes(t *testing.T) {
	t.Parallel()
	a := times{cron: "0 * * * * ?", zone: "Europe/Berlin", start: minute(1)}
	same := a
	same.start = same.start.In(time.FixedZone("elsewhere", 3600))
	require.Equal(t, a.name(), same.name())
	require.Equal(t, "1crc04gmermot", a.name(), "what was noted by an earlier version is still known")
	for _, change := range []func(*times){
		func(t *times) { t.cron = "1 * * * * ?" }, func(t *times) { t.zone = "" }, func(t *times) { t.daylightSaving = "quartz" },
		func(t *times) { t.start = time.Time{} }, func(t *times) { t.end = minute(9) }, func(t *times) { t.jitter = time.Second }, func(t *times) { t.offset = time.Second },
	} {
		other := a
		change(&other)
		require.NotEqual(t, a.name(), other.name())
	}
}
