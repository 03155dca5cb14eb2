package cronexpr_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

func location(tb testing.TB, name string) *time.Location {
	tb.Helper()
	loc, err := time.LoadLocation(name)
	require.NoError(tb, err)
	return loc
}

// between returns the fires as readings of the clock on the wall, with the zone's letters or offset.
func between(t *testing.T, expr string, mode cronexpr.DaylightSaving, after, until time.Time) []string {
	t.Helper()
	s, err := cronexpr.Parse(expr,
		cronexpr.WithLocation(after.Location()), cronexpr.WithDaylightSaving(mode))
	require.NoError(t, err)
	var fires []string
	for fire := range cronexpr.Between(s, after, until) {
		fires = append(fires, fire.Format("15:04 MST"))
	}
	return fires
}

// TestClockChange has a case for each row of the table in the package documentation: New York,
// 10 March 2024 (02:00 EST becomes 03:00 EDT) and 3 November 2024 (02:00 EDT becomes 01:00 EST).
func TestClockChange(t *testing.T) {
	t.Parallel()
	newYork := location(t, "America/New_York")
	const natural, quartz = cronexpr.Natural, cronexpr.Quartz
	tests := []struct {
		name     string
		expr     string
		mode     cronexpr.DaylightSaving
		from, to int // hours of the day
		gap      []string
		overlap  []string
	}{
		{
			"fixed time in the gap", "0 30 2 * * ?", natural, 0, 12,
			[]string{"03:00 EDT"},
			[]string{"02:30 EST"},
		},
		{
			"fixed time in the overlap", "0 30 1 * * ?", natural, 0, 12,
			[]string{"01:30 EST"},
			[]string{"01:30 EDT"},
		},
		{
			"fixed hour with several minutes in the gap", "0 0/20 2 * * ?", natural, 0, 12,
			[]string{"03:00 EDT"},
			[]string{"02:00 EST", "02:20 EST", "02:40 EST"},
		},
		{
			"fixed hour with several minutes in the overlap", "0 0/20 1 * * ?", natural, 0, 12,
			[]string{"01:00 EST", "01:20 EST", "01:40 EST"},
			[]string{"01:00 EDT", "01:20 EDT", "01:40 EDT"},
		},
		{
			"every other hour", "0 0 */2 * * ?", natural, 0, 5,
			[]string{"00:00 EST", "03:00 EDT", "04:00 EDT"},
			[]string{"00:00 EDT", "02:00 EST", "04:00 EST"},
		},
		{
			"odd hours", "0 30 1/2 * * ?", natural, 0, 4,
			[]string{"01:30 EST", "03:30 EDT"},
			[]string{"01:30 EDT", "03:30 EST"},
		},
		{
			"a fixed hour beside ticking ones", "0 30 2,9-17 * * ?", natural, 0, 10,
			[]string{"03:00 EDT", "09:30 EDT"},
			[]string{"02:30 EST", "09:30 EST"},
		},
		{
			"every twenty minutes", "0 0/20 * * * ?", natural, 1, 3,
			[]string{"01:00 EST", "01:20 EST", "01:40 EST", "03:00 EDT"},
			[]string{
				"01:00 EDT", "01:20 EDT", "01:40 EDT", "01:00 EST", "01:20 EST", "01:40 EST",
				"02:00 EST", "02:20 EST", "02:40 EST", "03:00 EST",
			},
		},
		{
			"every hour", "0 30 * * * ?", natural, 0, 4,
			[]string{"00:30 EST", "01:30 EST", "03:30 EDT"},
			[]string{"00:30 EDT", "01:30 EDT", "01:30 EST", "02:30 EST", "03:30 EST"},
		},
		{
			"a window that ends in the gap", "0 30 1-2 * * ?", natural, 0, 12,
			[]string{"01:30 EST", "03:30 EDT"},
			[]string{"01:30 EDT", "01:30 EST", "02:30 EST"},
		},
		{
			"five fields follow the same rule", "30 2 * * *", natural, 0, 12,
			[]string{"03:00 EDT"},
			[]string{"02:30 EST"},
		},
		{
			"five fields tick by the same rule", "*/30 * * * *", natural, 1, 3,
			[]string{"01:00 EST", "01:30 EST", "03:00 EDT"},
			[]string{"01:00 EDT", "01:30 EDT", "01:00 EST", "01:30 EST", "02:00 EST", "02:30 EST", "03:00 EST"},
		},
		{
			"@hourly ticks", "@hourly", natural, 1, 3,
			[]string{"01:00 EST", "03:00 EDT"},
			[]string{"01:00 EDT", "01:00 EST", "02:00 EST", "03:00 EST"},
		},
		{
			"Quartz skips the gap", "0 30 2 * * ?", quartz, 0, 12,
			nil,
			[]string{"02:30 EST"},
		},
		{
			"Quartz takes the second pass", "0 30 1 * * ?", quartz, 0, 12,
			[]string{"01:30 EST"},
			[]string{"01:30 EST"},
		},
		{
			"Quartz pauses", "0 0/30 * * * ?", quartz, 0, 3,
			[]string{"00:00 EST", "00:30 EST", "01:00 EST", "01:30 EST", "03:00 EDT"},
			[]string{
				"00:00 EDT", "00:30 EDT", "01:00 EST", "01:30 EST", "02:00 EST", "02:30 EST", "03:00 EST",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			on := func(month time.Month, day int) []string {
				after := time.Date(2024, month, day, test.from, 0, 0, -1, newYork)
				return between(t, test.expr, test.mode, after, time.Date(2024, month, day, test.to, 0, 0, 0, newYork))
			}
			require.Equal(t, test.gap, on(time.March, 10), "gap")
			require.Equal(t, test.overlap, on(time.November, 3), "overlap")
		})
	}
}

// TestFiveMinutesOfRealTime says what "ticks through real time" means to a job of every five minutes.
func TestFiveMinutesOfRealTime(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "America/Sao_Paulo"} {
		s, err := cronexpr.Parse("0 */5 * * * ?", cronexpr.WithLocation(location(t, zone)))
		require.NoError(t, err)
		last := time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC)
		for fire := range cronexpr.Between(s, last, last.AddDate(1, 0, 0)) {
			if fire.Sub(last) != 5*time.Minute {
				t.Fatalf("%s: %s follows %s", zone, fire, last)
			}
			last = fire
		}
	}
}

// TestOddClockChanges has changes at midnight, of half an hour, and of a whole day.
func TestOddClockChanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone, expr, after, until string
		want                           []string
	}{
		{
			"midnight in the gap", "America/Sao_Paulo", "0 0 0 ? * SUN",
			"2018-11-03T12:00:00-03:00", "2018-11-05T00:00:00-02:00",
			[]string{"01:00 -02"},
		},
		{
			"the hour before midnight twice", "America/Sao_Paulo", "0 30 23 ? * SAT",
			"2018-02-17T12:00:00-02:00", "2018-02-19T00:00:00-03:00",
			[]string{"23:30 -02"},
		},
		{
			"ticking over midnight twice", "America/Sao_Paulo", "0 30 22-1 * * ?",
			"2018-02-17T21:00:00-02:00", "2018-02-18T03:00:00-03:00",
			[]string{"22:30 -02", "23:30 -02", "23:30 -03", "00:30 -03", "01:30 -03"},
		},
		{
			"fixed in a gap of half an hour", "Australia/Lord_Howe", "0 15 2 * * ?",
			"2023-10-01T00:00:00+10:30", "2023-10-01T12:00:00+11:00",
			[]string{"02:30 +11"},
		},
		{
			"hourly in a gap of half an hour", "Australia/Lord_Howe", "0 0 * * * ?",
			"2023-10-01T00:30:00+10:30", "2023-10-01T04:00:00+11:00",
			[]string{"01:00 +1030", "02:30 +11", "03:00 +11", "04:00 +11"},
		},
		{
			"hourly in an overlap of half an hour", "Australia/Lord_Howe", "0 0 * * * ?",
			"2024-04-07T00:30:00+11:00", "2024-04-07T03:00:00+10:30",
			[]string{"01:00 +11", "02:00 +1030", "03:00 +1030"},
		},
		{
			// Where package time names an end of the period that has passed; see periodAt.
			"the last day of a leap year to come", "Europe/Berlin", "0 0 */12 * * ?",
			"2044-12-30T13:00:00+01:00", "2045-01-01T12:00:00+01:00",
			[]string{"00:00 CET", "12:00 CET", "00:00 CET", "12:00 CET"},
		},
		{
			"a day that never was", "Pacific/Apia", "0 0 9 * * ?",
			"2011-12-29T00:00:00-10:00", "2012-01-01T00:00:00+14:00",
			[]string{"09:00 -10", "00:00 +14", "09:00 +14"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			loc := location(t, test.zone)
			got := between(t, test.expr, cronexpr.Natural, at(t, test.after).In(loc), at(t, test.until))
			require.Equal(t, test.want, got)
		})
	}
}

func at(tb testing.TB, text string) time.Time {
	tb.Helper()
	moment, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(tb, err)
	return moment
}

func TestDaylightSavingNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]cronexpr.DaylightSaving{
		"": cronexpr.Natural, "natural": cronexpr.Natural, "quartz": cronexpr.Quartz,
	} {
		got, err := cronexpr.ParseDaylightSaving(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Equal(t, "quartz", cronexpr.Quartz.String())
	_, err := cronexpr.ParseDaylightSaving("java")
	require.ErrorIs(t, err, cronexpr.ErrInvalidOption)
	require.ErrorContains(t, err, `daylight saving "java" is unknown; allowed are natural and quartz`)
	_, err = cronexpr.Parse("* * * * *", cronexpr.WithDaylightSaving(7))
	require.ErrorIs(t, err, cronexpr.ErrInvalidOption)
}
