package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
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
	var w Witness
	require.Empty(t, w.Fires(s, time.Time{}, minute(100), 10))
	require.Zero(t, w.Newest())
	w.Saw(minute(1), minute(1))
	w.Saw(minute(2), minute(4)) // two went by unseen
	w.Missing()
	w.Saw(minute(7), minute(7))
	w.Saw(minute(5), minute(5)) // the clock was set back
	w.Saw(minute(8), minute(8))
	require.Equal(t, minutes(1, 2, 3, 4, 7, 8), w.Fires(s, minute(-9), minute(100), 10))
	require.Equal(t, minutes(3, 4, 7), w.Fires(s, minute(2), minute(7), 10))
	require.Equal(t, minutes(4, 7, 8), w.Fires(s, minute(0), minute(100), 3), "the newest")
	require.Equal(t, minute(8), w.Newest())
	require.True(t, w.Has(minute(3)))
	require.False(t, w.Has(minute(0)))
	require.False(t, w.Has(minute(5)))
	w.Forget()
	require.Empty(t, w.Fires(s, minute(-9), minute(100), 10))
}

// A fire whose jitter is not over was missed by nobody: it does not come within a window, and a note of it says nothing yet.
func TestADelayedFireIsNotMissed(t *testing.T) {
	t.Parallel()
	r := Rules{Schedule: minutelySchedule(t), Policy: Policy{On: true, All: true, Most: 9, Window: 3 * time.Minute}}
	r.Jitter = jitter.Jitter{Job: "orders", Most: time.Minute}
	fire := minute(9)
	for r.Told(fire).Sub(fire) < 2*time.Second {
		fire = fire.Add(time.Minute)
	}
	before, record := []time.Time{fire.Add(-2 * time.Minute), fire.Add(-time.Minute)}, jobtree.Record{LastFire: fire.Add(-10 * time.Minute)}
	var w Witness
	w.Saw(before[0], before[1])
	for _, at := range []struct {
		now  time.Time
		want []time.Time
	}{
		{r.Told(fire).Add(-1), before},
		{r.Told(fire), append(slices.Clone(before), fire)},
	} {
		unseen, known := r.Unseen(&w, 0, record, at.now)
		require.True(t, known)
		require.Equal(t, at.want, unseen)
		require.Equal(t, at.want, r.RecallNoted(Due{}, append(slices.Clone(before), fire), at.now).Missed)
		require.Equal(t, at.now.Before(r.Told(fire)), r.Accounted(&w, 0, Due{}, before[0], at.now))
	}
}

// Of an item without a record, a fire is due that came just now, and none that was ticked under a shorter jitter: somebody may
// have run it then.
func TestTheLatestFireOfAnItemWithoutARecord(t *testing.T) {
	t.Parallel()
	r := Rules{Schedule: minutelySchedule(t), Policy: Policy{On: true, Jitter: jitter.Jitter{Job: "orders", Most: 10 * time.Minute}}}
	fire := minute(9)
	for r.Told(fire).Sub(fire) < 2*LateAfter {
		fire = fire.Add(time.Minute)
	}
	var w Witness
	w.Saw(fire, fire)
	told := r.Told(fire)
	for now, due := range map[time.Time]bool{
		fire:                        false,
		told.Add(-LateAfter - 1):    false,
		told.Add(-time.Millisecond): true, // clocks are corrected
		told:                        true,
		told.Add(LateAfter):         true,
		told.Add(LateAfter + 1):     false,
		told.Add(20 * time.Minute):  false,
	} {
		require.Equal(t, due, len(r.TickedLately(&w, 0, time.Time{}, now)) == 1, "%s after it was told of", now.Sub(told))
	}
	require.Empty(t, r.TickedLately(&w, 0, fire, told), "it was seen for the item")
}

// A job that pauses again and again costs no more memory for it.
func TestAWitnessIsBounded(t *testing.T) {
	t.Parallel()
	var w Witness
	for n := range 1000 {
		w.Saw(minute(2*n), minute(2*n))
		w.Missing()
	}
	require.Len(t, w.spans, spansKept)
	require.True(t, w.Has(minute(1998)))
	for n := range 1000 {
		w.Follow(n%7, minute(0))
		w.Saw(minute(2000+n), minute(2000+n))
	}
	require.Less(t, len(w.gaps.grown), 8)
}

// Of the time in which an item was disabled, or was none, it owes nothing.
func TestTheFloorOfAnItem(t *testing.T) {
	t.Parallel()
	var w Witness
	w.Bar(0, true)
	w.Bar(0, false)
	w.Follow(2, minute(0))
	require.Zero(t, w.Floor(0), "nothing was ticked yet")
	require.Zero(t, w.Floor(1))
	w.Saw(minute(1), minute(1))
	w.Bar(0, true)
	w.Saw(minute(2), minute(2))
	w.Bar(0, true)
	w.Bar(1, false)
	w.Saw(minute(3), minute(3))
	w.Bar(0, false)
	w.Saw(minute(4), minute(4))
	require.Equal(t, minute(3), w.Floor(0))
	require.Zero(t, w.Floor(1))
	w.Follow(5, minute(4))
	require.Equal(t, minute(4), w.Floor(2))
	require.Equal(t, minute(4), w.Floor(4))
	w.Follow(3, minute(4))
	w.Saw(minute(5), minute(5))
	w.Follow(8, minute(5))
	require.Equal(t, minute(4), w.Floor(2), "it was there all the time")
	require.Equal(t, minute(5), w.Floor(3), "it was none for a while")
	require.Equal(t, minute(3), w.Floor(0))
	w.Saw(minute(6), minute(6))
	w.Bar(3, true)
	w.Bar(3, false)
	require.Equal(t, minute(6), w.Floor(3))
	w.Forget()
	require.Zero(t, w.Floor(3))
}

// What comes while a job pauses is not ticked. Items that it has more of when it goes on owe nothing of that.
func TestTheFloorOfAnItemThatComesWithTheEndOfAPause(t *testing.T) {
	t.Parallel()
	var w Witness
	w.Follow(2, minute(0))
	w.Follow(3, minute(1))
	require.Equal(t, minute(1), w.Floor(2), "nothing was ticked yet")
	w.Saw(minute(2), minute(2))
	w.Missing()
	w.Follow(4, minute(9))
	require.Equal(t, minute(9), w.Floor(3))
	require.Equal(t, minute(1), w.Floor(2))
	require.Zero(t, w.Floor(1))
}

func TestMergeMissedFires(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy Policy
		before Due
		fires  []time.Time
		want   Due
	}{
		"none":                            {makeUpAll, onTime(9, 1), nil, onTime(9, 1)},
		"off":                             {makeUpNone, onTime(9), minutes(3), onTime(9)},
		"once: nothing was due":           {makeUpOnce, Due{}, minutes(2, 1), missedFires(2)},
		"once: an older one":              {makeUpOnce, missedFires(5), minutes(4), missedFires(5)},
		"once: a newer one":               {makeUpOnce, missedFires(5), minutes(6), missedFires(6)},
		"once: the run on time is theirs": {makeUpOnce, onTime(9), minutes(6), onTime(9)},
		"once: later than what is due":    {makeUpOnce, onTime(9), minutes(10), missedFires(10)},
		"All: each once, in order":        {makeUpAll, missedFires(2, 4), minutes(4, 3, 3), missedFires(2, 3, 4)},
		"All: the newest are kept":        {makeUpAll, missedFires(2, 4), minutes(3, 5), missedFires(3, 4, 5)},
		"All: what is on time is no missed fire": {
			makeUpAll, onTime(9, 8), minutes(7, 9), onTime(9, 7, 8),
		},
		"All: later than what is due": {makeUpAll, onTime(9), minutes(8, 10), missedFires(8, 9, 10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.Merge(test.before, test.fires...))
		})
	}
}

func TestRulesOfDroppedFires(t *testing.T) {
	t.Parallel()
	same(t, missedFires(7, 8), onTime(9, 7, 8).DropDisabled())
	same(t, onTime(5, 3, 4), onTime(5, 3, 4, 9, 10).DropAhead(minute(5)))
	same(t, onTime(9, 8), onTime(9, 7, 8).DropImpossible(minute(7)))
	require.Nil(t, makeUpNone.dropUnwanted(minutes(1)))
	require.Equal(t, minutes(3), makeUpOnce.dropBeyond(minutes(1, 2, 3)))
	require.Equal(t, minutes(2, 3, 4), makeUpAll.dropBeyond(minutes(1, 2, 3, 4)))
}
