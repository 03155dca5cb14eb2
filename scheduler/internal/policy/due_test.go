package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jitter"
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
func onTime(n int, missed ...int) Due { return Due{OnTime: minute(n), Missed: minutes(missed...)} }

func missedFires(numbers ...int) Due { return Due{Missed: minutes(numbers...)} }

// The policies of these tests.
var (
	makeUpNone = Policy{}
	makeUpOnce = Policy{On: true, Most: 3}
	makeUpAll  = Policy{On: true, All: true, Most: 3}
	offAll     = Policy{All: true, Most: 3}
)

// same compares dues by what they say: an empty list is none.
func same(t require.TestingT, want, got Due) {
	if len(want.Missed) == 0 && len(got.Missed) == 0 {
		want.Missed, got.Missed = nil, nil
	}
	require.Equal(t, want, got)
}

func TestMisfiresOf(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
	none := jitter.Jitter{Job: "orders"}
	require.Equal(t, Policy{On: true, Most: job.DefaultMisfireMax, Jitter: none}, policyOf(cfg))
	cfg.Misfire = job.MisfireOnce
	require.Equal(t, Policy{On: true, Most: job.DefaultMisfireMax, Jitter: none}, policyOf(cfg))
	cfg.Misfire, cfg.MisfireMax, cfg.MisfireWindow = job.MisfireAll, 7, 90*time.Second
	require.Equal(t, Policy{On: true, All: true, Most: 7, Window: 90 * time.Second, Jitter: none}, policyOf(cfg))
	cfg.Misfire = job.MisfireSkip
	require.Equal(t, Policy{Most: 7, Window: 90 * time.Second, Jitter: none}, policyOf(cfg))
}

func TestTickOfADue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy Policy
		before Due
		passed []time.Time
		want   Due
	}{
		"off: the first fire":                      {makeUpNone, Due{}, nil, onTime(9)},
		"off: one that was on time is gone":        {makeUpNone, onTime(8), nil, onTime(9)},
		"off: whatever the policy would be":        {offAll, onTime(8), minutes(7), onTime(9)},
		"once: the run of this one is all theirs":  {makeUpOnce, onTime(8, 5), minutes(6, 7), onTime(9)},
		"All: the first fire":                      {makeUpAll, Due{}, nil, onTime(9)},
		"All: one that was on time is missed":      {makeUpAll, onTime(8), nil, onTime(9, 8)},
		"All: those that passed unseen are missed": {makeUpAll, Due{}, minutes(7, 8), onTime(9, 7, 8)},
		"All: in their order":                      {makeUpAll, onTime(7, 6), minutes(8), onTime(9, 6, 7, 8)},
		"All: the newest are kept":                 {makeUpAll, onTime(6, 3, 4, 5), minutes(7, 8), onTime(9, 6, 7, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.Tick(test.before, minute(9), test.passed))
		})
	}
}

func TestMiss(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy       Policy
		before, want Due
	}{
		"nothing is on time": {makeUpAll, missedFires(1), missedFires(1)},
		"off":                {makeUpNone, onTime(9), Due{}},
		"off, all":           {offAll, onTime(9), Due{}},
		"once":               {makeUpOnce, onTime(9), missedFires(9)},
		"once, of several":   {makeUpOnce, onTime(9, 8), missedFires(9)},
		"all":                {makeUpAll, onTime(9, 7, 8), missedFires(7, 8, 9)},
		"all, one too many":  {makeUpAll, onTime(9, 6, 7, 8), missedFires(7, 8, 9)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.Miss(test.before))
		})
	}
}

func TestAddMissedFires(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy Policy
		before Due
		fires  []time.Time
		want   Due
	}{
		"none":                   {makeUpAll, onTime(9, 1), nil, onTime(9, 1)},
		"off":                    {makeUpNone, Due{}, minutes(1), Due{}},
		"once: the newest":       {makeUpOnce, missedFires(1), minutes(2, 3), missedFires(3)},
		"all":                    {makeUpAll, missedFires(1), minutes(2, 3), missedFires(1, 2, 3)},
		"All: the newest":        {makeUpAll, missedFires(1, 2), minutes(3, 4, 5), missedFires(3, 4, 5)},
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
	past := Due{Missed: append(make([]time.Time, 0, 8), minutes(2, 3)...)}
	left, right := makeUpAll.add(past, minute(4)), makeUpAll.add(past, minute(5))
	same(t, missedFires(2, 3, 4), left)
	same(t, missedFires(2, 3, 5), right)
	same(t, missedFires(2, 3), past)
}

func TestExpire(t *testing.T) {
	t.Parallel()
	window, delayed := makeUpAll, makeUpOnce
	window.Window, delayed.Jitter = 2*time.Minute, jitter.Jitter{Job: "orders", Most: time.Hour}
	require.True(t, delayed.Told(minute(9)).Before(minute(60)), "or it would show nothing")
	told := delayed.Told(minute(9))
	require.True(t, told.After(minute(20)), "or it would show nothing")
	shorter := makeUpOnce.After(delayed, minute(15))
	again := shorter.After(shorter, minute(16))
	after := makeUpOnce.After(delayed, told.Add(time.Minute))
	none := makeUpOnce.After(Policy{}, minute(15))
	for name, test := range map[string]struct {
		policy Policy
		before Due
		now    time.Time
		want   Due
	}{
		"just so on time":              {makeUpOnce, onTime(9), minute(9).Add(LateAfter), onTime(9)},
		"too late":                     {makeUpOnce, onTime(9), minute(9).Add(LateAfter + 1), missedFires(9)},
		"too late, off":                {makeUpNone, onTime(9), minute(9).Add(LateAfter + 1), Due{}},
		"too late, all":                {makeUpAll, onTime(9, 8), minute(10), missedFires(8, 9)},
		"of a clock that is behind":    {makeUpOnce, onTime(9), minute(8), onTime(9)},
		"any age without a window":     {makeUpAll, missedFires(1), minute(100_000), missedFires(1)},
		"just within the window":       {window, missedFires(7, 8), minute(9).Add(-1), missedFires(7, 8)},
		"just too old":                 {window, missedFires(7, 8), minute(9), missedFires(8)},
		"delayed":                      {delayed, onTime(9), delayed.Told(minute(9)).Add(LateAfter), onTime(9)},
		"too late, delayed":            {delayed, onTime(9), delayed.Told(minute(9)).Add(LateAfter + 1), missedFires(9)},
		"its delay is cut short":       {shorter, onTime(9), minute(15).Add(LateAfter), onTime(9)},
		"too late, delay cut short":    {shorter, onTime(9), minute(15).Add(LateAfter + 1), missedFires(9)},
		"the settings change again":    {again, onTime(9), minute(15).Add(LateAfter), onTime(9)},
		"a later fire":                 {shorter, onTime(16), minute(16).Add(LateAfter + 1), missedFires(16)},
		"its delay was over":           {after, onTime(9), told.Add(LateAfter), onTime(9)},
		"too late, its delay was over": {after, onTime(9), told.Add(LateAfter + 1), missedFires(9)},
		"the job had paused":           {none, onTime(9), minute(9).Add(LateAfter + 1), missedFires(9)},
		"a longer delay":               {delayed.After(shorter, minute(10)), onTime(9), told.Add(LateAfter + 1), missedFires(9)},
		"all are too old":              {window, missedFires(6, 7, 8), minute(20), Due{}},
		"too late and too old":         {window, onTime(9), minute(12), Due{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.policy.Expire(test.before, test.now))
		})
	}
}

// Until when a begin makes sense. What makes nothing up must be confirmed in time, too; that much is kept back
// for it, and no more than half of the time.
func TestUntil(t *testing.T) {
	t.Parallel()
	window, ageless, late := makeUpAll, makeUpNone, makeUpNone
	window.Window, ageless.Ageless, late.Jitter.Most = 2*time.Minute, true, time.Second
	long := Policy{Jitter: jitter.Jitter{Job: "orders", Most: time.Hour}} // of the fire of minute 9 it is over long after 15
	for name, test := range map[string]struct {
		policy Policy
		due    Due
		usual  time.Duration // for a confirmation
		want   time.Time
	}{
		"on time":                          {makeUpOnce, onTime(9), time.Second, minute(9).Add(LateAfter)},
		"not made up":                      {makeUpNone, onTime(9), 0, minute(9).Add(LateAfter)},
		"not made up, in a second":         {makeUpNone, onTime(9), time.Second, minute(9).Add(LateAfter - 2*time.Second)},
		"not made up, in a while":          {makeUpNone, onTime(9), time.Minute, minute(9).Add(LateAfter / 2)},
		"not made up, its delay cut short": {makeUpNone.After(long, minute(15)), onTime(9), 0, minute(15).Add(LateAfter)},
		"on time, its delay cut short":     {makeUpOnce.After(long, minute(15)), onTime(9), 0, minute(15).Add(LateAfter)},
		"not made up, with jitter":         {late, onTime(9), 0, late.Told(minute(9)).Add(LateAfter)},
		"with a fixed delay":               {ageless, onTime(9), time.Second, time.Time{}},
		"missed":                           {makeUpAll, missedFires(7, 8), time.Second, time.Time{}},
		"missed, and another is on time":   {makeUpAll, onTime(9, 8), time.Second, time.Time{}},
		"missed, within a window":          {window, missedFires(7, 8), time.Second, minute(9)},
		"on time, of a job with a window":  {window, onTime(9), time.Second, minute(9).Add(LateAfter)},
		"missed, another on time, windows": {window, onTime(9, 8), time.Second, minute(10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.policy.Until(test.due, test.usual))
		})
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before Due
		ran    time.Time
		want   Due
	}{
		"nothing ran":              {onTime(9, 7, 8), time.Time{}, onTime(9, 7, 8)},
		"an older one":             {onTime(9, 7, 8), minute(6), onTime(9, 7, 8)},
		"the first":                {onTime(9, 7, 8), minute(7), onTime(9, 8)},
		"the last that was missed": {onTime(9, 7, 8), minute(8), onTime(9)},
		"the one on time":          {onTime(9, 7, 8), minute(9), Due{}},
		"a later one":              {onTime(9, 7, 8), minute(10), Due{}},
		"nothing was on time":      {missedFires(7, 8), minute(7), missedFires(8)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, test.before.After(test.ran))
		})
	}
}

func TestWhatIsNextAndNewest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		due    Due
		next   time.Time
		source job.Source
		newest time.Time
		none   bool
	}{
		"nothing":           {Due{}, time.Time{}, job.Scheduled, time.Time{}, true},
		"one on time":       {onTime(9), minute(9), job.Scheduled, minute(9), false},
		"missed ones":       {missedFires(7, 8), minute(7), job.Misfire, minute(8), false},
		"missed ones first": {onTime(9, 7, 8), minute(7), job.Misfire, minute(9), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fire, source := test.due.Next()
			require.Equal(t, test.next, fire)
			require.Equal(t, test.source, source)
			require.Equal(t, test.newest, test.due.Newest())
			require.Equal(t, test.none, test.due.None())
		})
	}
}

// itemLife drives a due as a runner does, and watches what it gives out.
type itemLife struct {
	policy Policy
	due    Due
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
	l.due = l.policy.Tick(l.due, l.last, passed[:fires-1])
}

func (l *itemLife) wait(t *rapid.T) {
	l.now = l.now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "seconds")) * time.Second)
	if l.last.Add(time.Minute).Before(l.now) {
		l.last = l.now.Truncate(time.Minute) // fires went by that nobody ticked
	}
	l.due = l.policy.Expire(l.due, l.now)
}

func (l *itemLife) miss(*rapid.T) { l.due = l.policy.Miss(l.due) }

func (l *itemLife) run(t *rapid.T) {
	l.due = l.policy.Expire(l.due, l.now)
	if l.due.None() {
		return
	}
	fire, source := l.due.Next()
	require.True(t, fire.After(l.ran), "fires are run in order, and once")
	age := l.now.Sub(fire)
	if source == job.Scheduled {
		require.LessOrEqual(t, age, LateAfter)
	} else {
		require.True(t, l.policy.On)
		require.True(t, l.policy.Window == 0 || age < l.policy.Window, "older than the window")
		until := l.policy.Until(l.due, 0)
		require.True(t, until.IsZero() || until.After(l.now), "or its begin would be too late at once, and nobody would look at it again")
	}
	l.ran = fire
	l.due = l.due.After(fire)
}

// elsewhere is a run by another instance.
func (l *itemLife) elsewhere(t *rapid.T) {
	newest := l.due.Newest()
	if newest.IsZero() {
		return
	}
	fire := newest.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "minutes")) * time.Minute)
	if fire.After(l.ran) {
		l.ran = fire
	}
	l.due = l.due.After(l.ran)
}

// check holds after every step.
func (l *itemLife) check(t *rapid.T) {
	most := 0
	switch {
	case l.policy.On && l.policy.All:
		most = l.policy.Most
	case l.policy.On:
		most = 1
	}
	require.LessOrEqual(t, len(l.due.Missed), most)
	all := l.due.Missed
	if !l.due.OnTime.IsZero() {
		all = append(slices.Clone(all), l.due.OnTime)
	}
	for i := 1; i < len(all); i++ {
		require.True(t, all[i].After(all[i-1]), "ascending")
	}
	if !l.policy.All && !l.due.OnTime.IsZero() {
		require.Empty(t, l.due.Missed, "one run is for all")
	}
}

func TestFiresAreRunInOrderAndOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := &itemLife{now: minute(0), last: minute(0), policy: Policy{
			On: rapid.Bool().Draw(t, "on"), All: rapid.Bool().Draw(t, "all"),
			Most:   rapid.IntRange(1, 4).Draw(t, "most"),
			Window: time.Duration(rapid.IntRange(0, 4).Draw(t, "window")) * time.Minute,
		}}
		t.Repeat(map[string]func(*rapid.T){
			"tick": l.tick, "wait": l.wait, "miss": l.miss, "run": l.run, "elsewhere": l.elsewhere, "": l.check,
		})
	})
}
