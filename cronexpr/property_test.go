package cronexpr_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cronexpr"
)

var propertyZones = []string{
	"UTC", "America/New_York", "Europe/Berlin", "America/Sao_Paulo",
	"Australia/Lord_Howe", "Antarctica/Troll", "Asia/Kolkata",
}

// drawTime draws a time that is likely to be close to a change of the clock.
func drawTime(t *rapid.T, loc *time.Location) time.Time {
	second := rapid.Int64Range(1_000_000_000, 2_500_000_000).Draw(t, "second")
	moment := time.Unix(second, 0).In(loc)
	if _, end := moment.ZoneBounds(); !end.IsZero() && rapid.Bool().Draw(t, "near a change") {
		moment = end.Add(time.Duration(rapid.Int64Range(-30*3600, 3*3600).Draw(t, "distance")) * time.Second)
	}
	return moment
}

// drawSchedule draws from all dialects and rules.
func drawSchedule(t *rapid.T) (cronexpr.Schedule, *time.Location) {
	loc, err := time.LoadLocation(rapid.SampledFrom(propertyZones).Draw(t, "zone"))
	require.NoError(t, err)
	mode := rapid.SampledFrom([]cronexpr.DaylightSaving{cronexpr.Natural, cronexpr.Quartz}).Draw(t, "mode")
	times := drawField(t, "minute", 0, 59) + " " + drawField(t, "hour", 0, 23)
	days := rapid.SampledFrom([]string{"* * ?", "L * ?", "15W * ?", "? * 2#2", "? * FRIL", "? 2,3 *"}).Draw(t, "days")
	expr := rapid.SampledFrom([]string{"0 " + times + " " + days, times + " * * *", "@every 42m"}).Draw(t, "expr")
	s, err := cronexpr.Parse(expr, cronexpr.WithLocation(loc), cronexpr.WithDaylightSaving(mode))
	require.NoError(t, err)
	return s, loc
}

// drawField draws a star, a step, a range or a list that both dialects know.
func drawField(t *rapid.T, name string, low, high int) string {
	from := rapid.IntRange(low, high).Draw(t, name+" from")
	to := rapid.IntRange(from, high).Draw(t, name+" to")
	return rapid.SampledFrom([]string{
		"*", fmt.Sprintf("*/%d", 1+from%high), fmt.Sprintf("%d-%d", from, to), fmt.Sprintf("%d,%d", from, to),
	}).Draw(t, name)
}

func TestNextIsLaterAndMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, loc := drawSchedule(t)
		a := drawTime(t, loc)
		b := a.Add(time.Duration(rapid.Int64Range(0, int64(3*time.Hour)).Draw(t, "later")))
		first, second := s.Next(a), s.Next(b)
		require.True(t, first.After(a))
		require.False(t, second.Before(first), "%s after %s, %s after %s", first, a, second, b)
		if b.Before(first) {
			require.Equal(t, first, second, "nothing lies between %s and %s", a, first)
		}
	})
}

// TestStandardIsRobfigWithoutClockChanges: in UTC, five fields give robfig's times.
func TestStandardIsRobfigWithoutClockChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		expr := strings.Join([]string{
			drawField(t, "minute", 0, 59), drawField(t, "hour", 0, 23), drawField(t, "day", 1, 28),
			drawField(t, "month", 1, 12), drawField(t, "weekday", 0, 6),
		}, " ")
		ours, err := cronexpr.Parse(expr)
		require.NoError(t, err)
		theirs, err := cron.ParseStandard(expr)
		require.NoError(t, err)
		after := drawTime(t, time.UTC)
		for range 5 {
			want := theirs.Next(after)
			require.Equal(t, want, ours.Next(after), "%s after %s", expr, after)
			after = want
		}
	})
}

// TestNaturalRule compares four days around a clock change with the rule of the package
// documentation, applied minute by minute.
func TestNaturalRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hours := rapid.SliceOfNDistinct(rapid.IntRange(0, 23), 1, 8, rapid.ID).Draw(t, "hours")
		minutes := rapid.SliceOfNDistinct(rapid.IntRange(0, 59), 1, 4, rapid.ID).Draw(t, "minutes")
		loc, err := time.LoadLocation(rapid.SampledFrom(propertyZones[1:6]).Draw(t, "zone"))
		require.NoError(t, err)
		s, err := cronexpr.Parse("0 "+list(minutes)+" "+list(hours)+" * * ?", cronexpr.WithLocation(loc))
		require.NoError(t, err)

		moment := time.Unix(rapid.Int64Range(1_000_000_000, 1_500_000_000).Draw(t, "second"), 0).In(loc)
		_, change := moment.ZoneBounds()
		from, to := change.Add(-48*time.Hour), change.Add(48*time.Hour)
		got := slices.Collect(cronexpr.Between(s, from.Add(-1), to))
		require.Equal(t, naturalFires(hours, minutes, change, from, to), got)
	})
}

func list(values []int) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.Itoa(v)
	}
	return strings.Join(texts, ",")
}

// naturalFires walks through real time minute by minute, around one change of the clock.
func naturalFires(hours, minutes []int, change, from, to time.Time) []time.Time {
	matches := func(reading time.Time) bool {
		return slices.Contains(hours, reading.Hour()) && slices.Contains(minutes, reading.Minute())
	}
	ticking := func(reading time.Time) bool {
		h := reading.Hour()
		return slices.Contains(hours, (h+1)%24) || slices.Contains(hours, (h+23)%24)
	}
	before := change.Add(-1)
	moved := offset(change) - offset(before)
	var fires []time.Time
	for at := from; !at.After(to); at = at.Add(time.Minute) {
		sinceChange := at.Sub(change)
		fire := matches(at)
		if sinceChange >= 0 && sinceChange < -moved && !ticking(at) {
			fire = false // the second pass
		}
		if sinceChange >= 0 && sinceChange < moved { // what the gap left out
			left := at.Add(-moved).UTC().Add(offset(change)) // the reading that the old offset gives
			fire = fire || matches(left) && ticking(left)
		}
		if at.Equal(change) {
			for gap := time.Duration(0); gap < moved; gap += time.Minute {
				left := at.UTC().Add(offset(before) + gap)
				fire = fire || matches(left) && !ticking(left)
			}
		}
		if fire {
			fires = append(fires, at)
		}
	}
	return fires
}

// wideZones are zones far from UTC, with the mean times of their towns in the years before there were
// zones, on both sides of it.
var wideZones = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Europe/Amsterdam", "Asia/Kolkata", "Pacific/Kiritimati",
	"Pacific/Apia", "Asia/Manila", "America/Juneau", "Africa/Monrovia", "Etc/GMT+12", "Etc/GMT-14",
}

// drawTimes draws a moment of the first day that there is, one of the last, each with what zones call that day,
// and one in between.
func drawTimes(t *rapid.T) []time.Time {
	first, last := time.Time{}.Unix(), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	const widest = 16 * 3600
	return []time.Time{
		time.Unix(rapid.Int64Range(first-widest, first+widest).Draw(t, "first"), 0),
		time.Unix(rapid.Int64Range(last-3*widest, last+widest).Draw(t, "last"), 0),
		time.Unix(rapid.Int64Range(first, last).Draw(t, "any"), 0),
	}
}

// From the first moment of the year 1 to the last of 9999, in every zone: Next is later than what it is
// asked from and earlier than the year 10000, nothing lies in between, and Between and Last agree with it.
func TestTheContractHoldsInAllYears(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]cronexpr.DaylightSaving{cronexpr.Natural, cronexpr.Quartz}).Draw(t, "mode")
		expr := rapid.SampledFrom([]string{
			"0 0 * * * ?", "0 0 20 31 12 ?", "0 0 0 1 1 ?", "0 30 2 * * ?", "@every 1h", "@every 100000h", "@daily", "0 0 3 29W * ?", "0 0 0/6 30W * ?", "0 0 3 29W 2,3 ?",
		}).Draw(t, "expr")
		pick := rapid.IntRange(0, 9).Draw(t, "until")
		times := drawTimes(t)
		for _, zone := range wideZones {
			loc, err := time.LoadLocation(zone)
			require.NoError(t, err)
			s, err := cronexpr.Parse(expr, cronexpr.WithLocation(loc), cronexpr.WithDaylightSaving(mode))
			require.NoError(t, err)
			for _, after := range times {
				requireContract(t, s, after.In(loc), pick)
			}
		}
	})
}

// requireContract looks at ten fires after a time, and asks for those up to the picked one in other ways.
func requireContract(t *rapid.T, s cronexpr.Schedule, after time.Time, pick int) {
	var fires []time.Time
	for fire := range cronexpr.Upcoming(s, after) {
		if len(fires) == 10 {
			break
		}
		fires = append(fires, fire)
	}
	before := after
	for _, fire := range fires {
		require.True(t, fire.After(before), "%s after %s", fire, before)
		require.True(t, fire.After(time.Time{}) && fire.UTC().Year() < 10_000, "%s", fire)
		require.Equal(t, fire, s.Next(fire.Add(-1)), "it is found from just before it, too")
		before = fire
	}
	if len(fires) == 0 {
		return
	}
	until := fires[min(pick, len(fires)-1)]
	between := slices.Collect(cronexpr.Between(s, after, until))
	require.Equal(t, fires[:len(between)], between)
	require.Equal(t, until, between[len(between)-1])
	require.Equal(t, until, cronexpr.Last(s, after, until))
	require.Equal(t, until, cronexpr.Last(s, after, until.Add(time.Nanosecond)))
}

// The ends of all time, where zones disagree about the year.
func TestTheFirstAndTheLastDays(t *testing.T) {
	t.Parallel()
	for _, zone := range wideZones {
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		for _, expr := range []string{"0 0 * * * ?", "@every 1h", "0 * * * *"} {
			s, err := cronexpr.Parse(expr, cronexpr.WithLocation(loc))
			require.NoError(t, err)
			for _, from := range []time.Time{time.Date(0, 12, 30, 5, 0, 0, 0, time.UTC), time.Date(9999, 12, 30, 5, 0, 0, 0, time.UTC)} {
				before, fires := from.In(loc), 0
				for fire := range cronexpr.Upcoming(s, from.In(loc)) {
					require.True(t, fire.After(before) && fire.After(time.Time{}), "%s: %s after %s in %s", expr, fire, before, zone)
					require.Equal(t, fire, s.Next(fire.Add(-1)))
					require.Less(t, fire.UTC().Year(), 10_000)
					before = fire
					if fires++; fires == 50 {
						break
					}
				}
				require.GreaterOrEqual(t, fires, 28, "%s in %s from %s", expr, zone, from)
			}
		}
	}
}

// What nW fires in a month that is a day too short does not hang on when it is asked for.
func TestShortMonthsDoNotHangOnWhoAsks(t *testing.T) {
	t.Parallel()
	s := parse(t, "0 0 3 29W * ?")
	for _, after := range []string{"2025-01-29T03:00:00Z", "2025-01-31T00:00:00Z", "2025-02-10T00:00:00Z", "2025-02-28T00:00:00Z"} {
		require.Equal(t, at(t, "2025-03-28T03:00:00Z"), s.Next(at(t, after)), after)
	}
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{
			"0 0 3 29W * ?", "0 0 */6 30W * ?", "0 0 3 31W * ?", "0 0 3 29W 2 ?", "0 0 3 29W 2,3 ?", "0 0 3 30W 1-3 ?",
		}).Draw(t, "expr")
		s, err := cronexpr.Parse(expr)
		require.NoError(t, err)
		newYear := time.Date(rapid.SampledFrom([]int{2002, 2007, 2008, 2013, 2014, 2024, 2025}).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		after := newYear.Add(time.Duration(rapid.IntRange(0, 365*24).Draw(t, "hour")) * time.Hour)
		until := after.Add(time.Duration(rapid.IntRange(1, 3*365*24).Draw(t, "later")) * time.Hour)
		earlier := slices.Collect(cronexpr.Between(s, after.Add(-time.Duration(rapid.IntRange(0, 365*24).Draw(t, "earlier"))*time.Hour), until))
		between := slices.Collect(cronexpr.Between(s, after, until))
		earlier = slices.DeleteFunc(earlier, func(fire time.Time) bool { return !fire.After(after) })
		require.True(t, slices.Equal(earlier, between), "%s, but who asked earlier was told %s", between, earlier)
		if len(between) == 0 {
			require.Zero(t, cronexpr.Last(s, after, until))
			return
		}
		require.Equal(t, between[len(between)-1], cronexpr.Last(s, after, until))
	})
}
