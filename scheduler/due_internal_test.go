package scheduler

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/job"
)

// minute is a fire that comes some minutes after a fixed time.
func minute(n int) time.Time {
	return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

func minutes(numbers ...int) []time.Time {
	var times []time.Time
	for _, n := range numbers {
		times = append(times, minute(n))
	}
	return times
}

// onTime and missedFires make a due.
func onTime(n int, missed ...int) due { return due{onTime: minute(n), missed: minutes(missed...)} }

func missedFires(numbers ...int) due { return due{missed: minutes(numbers...)} }

// The policies of these tests.
var (
	makeUpNone = misfires{}
	makeUpOnce = misfires{on: true, most: 3}
	makeUpAll  = misfires{on: true, all: true, most: 3}
	offAll     = misfires{all: true, most: 3}
)

// same compares dues by what they say: an empty list is none.
func same(t require.TestingT, want, got due) {
	if len(want.missed) == 0 && len(got.missed) == 0 {
		want.missed, got.missed = nil, nil
	}
	require.Equal(t, want, got)
}

func TestMisfiresOf(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
	require.Equal(t, misfires{on: true, most: job.DefaultMisfireMax}, misfiresOf(cfg))
	cfg.Misfire = job.MisfireOnce
	require.Equal(t, misfires{on: true, most: job.DefaultMisfireMax}, misfiresOf(cfg))
	cfg.Misfire, cfg.MisfireMax, cfg.MisfireWindow = job.MisfireAll, 7, 90*time.Second
	require.Equal(t, misfires{on: true, all: true, most: 7, window: 90 * time.Second}, misfiresOf(cfg))
	cfg.Misfire = job.MisfireSkip
	require.Equal(t, misfires{most: 7, window: 90 * time.Second}, misfiresOf(cfg))
}

func TestTickOfADue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy misfires
		before due
		passed []time.Time
		want   due
	}{
		"off: the first fire":                      {makeUpNone, due{}, nil, onTime(9)},
		"off: one that was on time is gone":        {makeUpNone, onTime(8), nil, onTime(9)},
		"off: whatever the policy would be":        {offAll, onTime(8), minutes(7), onTime(9)},
		"once: the run of this one is all theirs":  {makeUpOnce, onTime(8, 5), minutes(6, 7), onTime(9)},
		"all: the first fire":                      {makeUpAll, due{}, nil, onTime(9)},
		"all: one that was on time is missed":      {makeUpAll, onTime(8), nil, onTime(9, 8)},
		"all: those that passed unseen are missed": {makeUpAll, due{}, minutes(7, 8), onTime(9, 7, 8)},
		"all: in their order":                      {makeUpAll, onTime(7, 6), minutes(8), onTime(9, 6, 7, 8)},
		"all: the newest are kept":                 {makeUpAll, onTime(6, 3, 4, 5), minutes(7, 8), onTime(9, 6, 7, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.tick(test.before, minute(9), test.passed))
		})
	}
}

func TestMiss(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy       misfires
		before, want due
	}{
		"nothing is on time": {makeUpAll, missedFires(1), missedFires(1)},
		"off":                {makeUpNone, onTime(9), due{}},
		"off, all":           {offAll, onTime(9), due{}},
		"once":               {makeUpOnce, onTime(9), missedFires(9)},
		"once, of several":   {makeUpOnce, onTime(9, 8), missedFires(9)},
		"all":                {makeUpAll, onTime(9, 7, 8), missedFires(7, 8, 9)},
		"all, one too many":  {makeUpAll, onTime(9, 6, 7, 8), missedFires(7, 8, 9)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.miss(test.before))
		})
	}
}

func TestAddMissedFires(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy misfires
		before due
		fires  []time.Time
		want   due
	}{
		"none":                   {makeUpAll, onTime(9, 1), nil, onTime(9, 1)},
		"off":                    {makeUpNone, due{}, minutes(1), due{}},
		"once: the newest":       {makeUpOnce, missedFires(1), minutes(2, 3), missedFires(3)},
		"all":                    {makeUpAll, missedFires(1), minutes(2, 3), missedFires(1, 2, 3)},
		"all: the newest":        {makeUpAll, missedFires(1, 2), minutes(3, 4, 5), missedFires(3, 4, 5)},
		"on time is not touched": {makeUpAll, onTime(9), minutes(5), onTime(9, 5)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.add(test.before, test.fires...))
		})
	}
}

// A due is a value: what becomes of one does not change another that has the same past.
func TestDuesShareNothingThatChanges(t *testing.T) {
	t.Parallel()
	past := due{missed: append(make([]time.Time, 0, 8), minutes(2, 3)...)}
	left, right := makeUpAll.add(past, minute(4)), makeUpAll.add(past, minute(5))
	same(t, missedFires(2, 3, 4), left)
	same(t, missedFires(2, 3, 5), right)
	same(t, missedFires(2, 3), past)
}

func TestExpire(t *testing.T) {
	t.Parallel()
	window := makeUpAll
	window.window = 2 * time.Minute
	for name, test := range map[string]struct {
		policy misfires
		before due
		now    time.Time
		want   due
	}{
		"just so on time":           {makeUpOnce, onTime(9), minute(9).Add(lateAfter), onTime(9)},
		"too late":                  {makeUpOnce, onTime(9), minute(9).Add(lateAfter + 1), missedFires(9)},
		"too late, off":             {makeUpNone, onTime(9), minute(9).Add(lateAfter + 1), due{}},
		"too late, all":             {makeUpAll, onTime(9, 8), minute(10), missedFires(8, 9)},
		"of a clock that is behind": {makeUpOnce, onTime(9), minute(8), onTime(9)},
		"any age without a window":  {makeUpAll, missedFires(1), minute(100_000), missedFires(1)},
		"just within the window":    {window, missedFires(7, 8), minute(9), missedFires(7, 8)},
		"just too old":              {window, missedFires(7, 8), minute(9).Add(1), missedFires(8)},
		"all are too old":           {window, missedFires(6, 7, 8), minute(20), due{}},
		"too late and too old":      {window, onTime(9), minute(12), due{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.expire(test.before, test.now))
		})
	}
}

// Until when a begin makes sense. What makes nothing up must be confirmed in time, too; that much is kept back
// for it, and no more than half of the time.
func TestUntil(t *testing.T) {
	t.Parallel()
	window, ageless, late := makeUpAll, makeUpNone, makeUpNone
	window.window, ageless.ageless, late.jitter = 2*time.Minute, true, time.Second
	for name, test := range map[string]struct {
		policy misfires
		due    due
		usual  time.Duration // for a confirmation
		want   time.Time
	}{
		"on time":                          {makeUpOnce, onTime(9), time.Second, minute(9).Add(lateAfter)},
		"not made up":                      {makeUpNone, onTime(9), 0, minute(9).Add(lateAfter)},
		"not made up, in a second":         {makeUpNone, onTime(9), time.Second, minute(9).Add(lateAfter - 2*time.Second)},
		"not made up, in a while":          {makeUpNone, onTime(9), time.Minute, minute(9).Add(lateAfter / 2)},
		"not made up, with jitter":         {late, onTime(9), 0, minute(9).Add(lateAfter + time.Second)},
		"with a fixed delay":               {ageless, onTime(9), time.Second, time.Time{}},
		"missed":                           {makeUpAll, missedFires(7, 8), time.Second, time.Time{}},
		"missed, and another is on time":   {makeUpAll, onTime(9, 8), time.Second, time.Time{}},
		"missed, within a window":          {window, missedFires(7, 8), time.Second, minute(9)},
		"on time, of a job with a window":  {window, onTime(9), time.Second, minute(9).Add(lateAfter)},
		"missed, another on time, windows": {window, onTime(9, 8), time.Second, minute(10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.policy.until(test.due, test.usual))
		})
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before due
		ran    time.Time
		want   due
	}{
		"nothing ran":              {onTime(9, 7, 8), time.Time{}, onTime(9, 7, 8)},
		"an older one":             {onTime(9, 7, 8), minute(6), onTime(9, 7, 8)},
		"the first":                {onTime(9, 7, 8), minute(7), onTime(9, 8)},
		"the last that was missed": {onTime(9, 7, 8), minute(8), onTime(9)},
		"the one on time":          {onTime(9, 7, 8), minute(9), due{}},
		"a later one":              {onTime(9, 7, 8), minute(10), due{}},
		"nothing was on time":      {missedFires(7, 8), minute(7), missedFires(8)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.before.after(test.ran))
		})
	}
}

func TestWhatIsNextAndNewest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		due    due
		next   time.Time
		source job.Source
		newest time.Time
		none   bool
	}{
		"nothing":           {due{}, time.Time{}, job.Scheduled, time.Time{}, true},
		"one on time":       {onTime(9), minute(9), job.Scheduled, minute(9), false},
		"missed ones":       {missedFires(7, 8), minute(7), job.Misfire, minute(8), false},
		"missed ones first": {onTime(9, 7, 8), minute(7), job.Misfire, minute(9), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fire, source := test.due.next()
			require.Equal(t, test.next, fire)
			require.Equal(t, test.source, source)
			require.Equal(t, test.newest, test.due.newest())
			require.Equal(t, test.none, test.due.none())
		})
	}
}

// itemLife drives a due as a runner does, and watches what it gives out.
type itemLife struct {
	policy misfires
	due    due
	now    time.Time
	last   time.Time // the newest fire that was ticked
	ran    time.Time // the newest fire that was run
}

func (l *itemLife) tick(t *rapid.T) {
	fires := rapid.IntRange(1, 5).Draw(t, "fires")
	var passed []time.Time
	for range fires {
		l.last = l.last.Add(time.Minute)
		passed = append(passed, l.last)
	}
	l.now = l.last.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds late")) * time.Second)
	l.due = l.policy.tick(l.due, l.last, passed[:fires-1])
}

func (l *itemLife) wait(t *rapid.T) {
	l.now = l.now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "seconds")) * time.Second)
	if l.last.Add(time.Minute).Before(l.now) {
		l.last = l.now.Truncate(time.Minute) // fires went by that nobody ticked
	}
	l.due = l.policy.expire(l.due, l.now)
}

func (l *itemLife) miss(*rapid.T) { l.due = l.policy.miss(l.due) }

func (l *itemLife) run(t *rapid.T) {
	l.due = l.policy.expire(l.due, l.now)
	if l.due.none() {
		return
	}
	fire, source := l.due.next()
	require.True(t, fire.After(l.ran), "fires are run in order, and once")
	age := l.now.Sub(fire)
	if source == job.Scheduled {
		require.LessOrEqual(t, age, lateAfter)
	} else {
		require.True(t, l.policy.on)
		require.True(t, l.policy.window == 0 || age <= l.policy.window, "older than the window")
	}
	l.ran = fire
	l.due = l.due.after(fire)
}

// elsewhere is a run by another instance.
func (l *itemLife) elsewhere(t *rapid.T) {
	newest := l.due.newest()
	if newest.IsZero() {
		return
	}
	fire := newest.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "minutes")) * time.Minute)
	if fire.After(l.ran) {
		l.ran = fire
	}
	l.due = l.due.after(l.ran)
}

// check holds after every step.
func (l *itemLife) check(t *rapid.T) {
	most := 0
	switch {
	case l.policy.on && l.policy.all:
		most = l.policy.most
	case l.policy.on:
		most = 1
	}
	require.LessOrEqual(t, len(l.due.missed), most)
	all := l.due.missed
	if !l.due.onTime.IsZero() {
		all = append(slices.Clone(all), l.due.onTime)
	}
	for i := 1; i < len(all); i++ {
		require.True(t, all[i].After(all[i-1]), "ascending")
	}
	if !l.policy.all && !l.due.onTime.IsZero() {
		require.Empty(t, l.due.missed, "one run is for all")
	}
}

func TestFiresAreRunInOrderAndOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := &itemLife{now: minute(0), last: minute(0), policy: misfires{
			on: rapid.Bool().Draw(t, "on"), all: rapid.Bool().Draw(t, "all"),
			most:   rapid.IntRange(1, 4).Draw(t, "most"),
			window: time.Duration(rapid.IntRange(0, 4).Draw(t, "window")) * time.Minute,
		}}
		t.Repeat(map[string]func(*rapid.T){
			"tick": l.tick, "wait": l.wait, "miss": l.miss, "run": l.run, "elsewhere": l.elsewhere, "": l.check,
		})
	})
}
