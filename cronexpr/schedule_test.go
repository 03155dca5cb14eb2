package cronexpr_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

func parse(tb testing.TB, expr string, opts ...cronexpr.Option) cronexpr.Schedule {
	tb.Helper()
	s, err := cronexpr.Parse(expr, opts...)
	require.NoError(tb, err)
	return s
}

// TestNext shows what each construct means, in UTC; what Quartz means in all its corners is held by
// the golden tests.
func TestNext(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, expr, after, want string
	}{
		{"every second", "* * * * * ?", "2024-05-01T00:00:00.4Z", "2024-05-01T00:00:01Z"},
		{"strictly later", "0 0 12 * * ?", "2024-05-01T12:00:00Z", "2024-05-02T12:00:00Z"},
		{"weekdays by name", "0 15 10 ? * MON-FRI", "2024-05-03T10:15:00Z", "2024-05-06T10:15:00Z"},
		{"weekdays by number, SUN=1", "0 15 10 ? * 2-6", "2024-05-03T10:15:00Z", "2024-05-06T10:15:00Z"},
		{"wrap-around", "0 0 22-2 ? * FRI-MON", "2024-05-01T12:00:00Z", "2024-05-03T00:00:00Z"},
		{"long names", "0 0 0 ? MAY TUESDAY", "2024-05-01T00:00:00Z", "2024-05-07T00:00:00Z"},
		{"lower case", "0 0 0 ? feb mon", "2024-05-01T00:00:00Z", "2025-02-03T00:00:00Z"},
		{"step past the end", "0 0 23/6 * * ?", "2024-05-01T23:00:00Z", "2024-05-02T23:00:00Z"},
		{"last day", "0 0 0 L * ?", "2024-02-01T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"before the last day", "0 0 0 L-2 * ?", "2023-02-01T00:00:00Z", "2023-02-26T00:00:00Z"},
		{"last working day", "0 0 0 LW * ?", "2024-03-01T00:00:00Z", "2024-03-29T00:00:00Z"},
		{"working day before the last days", "0 0 0 L-1W * ?", "2024-03-01T00:00:00Z", "2024-03-29T00:00:00Z"},
		{"nearest working day goes back", "0 0 0 15W * ?", "2024-06-01T00:00:00Z", "2024-06-14T00:00:00Z"},
		{"nearest working day goes on", "0 0 0 15W * ?", "2024-09-01T00:00:00Z", "2024-09-16T00:00:00Z"},
		{"nearest working day stays in the month", "0 0 0 1W * ?", "2024-06-01T00:00:00Z", "2024-06-03T00:00:00Z"},
		{"a month too short for its working day", "0 0 0 31W * ?", "2024-03-30T00:00:00Z", "2024-05-31T00:00:00Z"},
		{"Quartz's exception to it", "0 0 0 31W * ?", "2021-04-01T00:00:00Z", "2021-04-30T00:00:00Z"},
		{"a month in which Quartz loops", "0 0 0 L-30W * ?", "2024-01-20T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"L is Saturday", "0 0 0 ? * L", "2024-05-01T00:00:00Z", "2024-05-04T00:00:00Z"},
		{"last Friday", "0 0 0 ? * 6L", "2024-05-01T00:00:00Z", "2024-05-31T00:00:00Z"},
		{"third Friday", "0 0 0 ? * FRI#3", "2024-05-01T00:00:00Z", "2024-05-17T00:00:00Z"},
		{"29 February", "0 0 0 29 2 ?", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"the longest pause of all", "0 0 0 ? 2 SUN#5", "2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z"},
		{"a year", "0 0 0 1 1 ? 2030", "2024-05-01T00:00:00Z", "2030-01-01T00:00:00Z"},
		{"before all years", "0 0 0 1 1 ? *", "0001-01-01T00:00:00Z", "0002-01-01T00:00:00Z"},
		{"five fields", "30 4 1 * *", "2024-05-01T04:30:00Z", "2024-06-01T04:30:00Z"},
		{"five fields, either day", "0 0 13 * FRI", "2024-05-01T00:00:00Z", "2024-05-03T00:00:00Z"},
		{"five fields, SUN=0", "0 0 * * 0", "2024-05-01T00:00:00Z", "2024-05-05T00:00:00Z"},
		{"five fields with ?", "0 0 ? * 1", "2024-05-01T00:00:00Z", "2024-05-06T00:00:00Z"},
		{"@weekly", "@weekly", "2024-05-01T00:00:00Z", "2024-05-05T00:00:00Z"},
		{"@yearly", "@yearly", "2024-05-01T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"the end of time", "@yearly", "9999-05-01T00:00:00Z", ""},
		{"no such day", "0 0 0 30 2 ?", "2024-05-01T00:00:00Z", ""},
		{"no such day in five fields", "0 0 31 4,6 *", "2024-05-01T00:00:00Z", ""},
		{"years are over", "0 0 0 1 1 ? 2020-2023", "2024-05-01T00:00:00Z", ""},
		{"no leap year among the years", "0 0 0 29 2 ? 1971/4", "2024-05-01T00:00:00Z", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, test.expr)
			got := s.Next(at(t, test.after))
			require.Equal(t, test.want == "", cronexpr.NeverAfter(s, at(t, test.after)))
			if test.want == "" {
				require.Zero(t, got)
				return
			}
			require.Equal(t, at(t, test.want), got)
		})
	}
}

// TestExtremes: no time is too far away to ask.
func TestExtremes(t *testing.T) {
	t.Parallel()
	newYork := location(t, "America/New_York")
	for _, expr := range []string{"* * * * * ?", "0 0 0 29 2 ?", "*/5 * * * *", "@every 1ms", "@every 2000000h"} {
		s := parse(t, expr, cronexpr.WithLocation(newYork), cronexpr.WithOffset(-time.Hour))
		for _, year := range []int{-200_000_000, -1, 0, 1} {
			after := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
			require.True(t, s.Next(after).After(after), "%s after %d", expr, year)
			require.LessOrEqual(t, s.Next(after).Year(), 300)
		}
		for _, year := range []int{10_000, 200_000_000} {
			require.True(t, cronexpr.NeverAfter(s, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)), "%s in %d", expr, year)
		}
		for _, second := range []int64{math.MinInt64, math.MaxInt64} {
			after, next := time.Unix(second, 0), s.Next(time.Unix(second, 0))
			require.True(t, next.IsZero() || next.After(after), "%s after %s", expr, after)
		}
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	kolkata := location(t, "Asia/Kolkata")
	after := at(t, "2024-05-01T00:00:00Z")
	next := parse(t, "0 0 12 * * ?", cronexpr.WithLocation(kolkata)).Next(after)
	require.Equal(t, at(t, "2024-05-01T06:30:00Z"), next.UTC())
	require.Equal(t, kolkata, next.Location())
	next = parse(t, "0 0 12 * * ?", cronexpr.WithLocation(nil)).Next(after.In(kolkata))
	require.Equal(t, at(t, "2024-05-01T12:00:00Z"), next, "UTC unless told otherwise")
}

func TestString(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  0  0\t12 ? * mon ": "0 0 12 ? * mon",
		"*/5 * * * *":         "*/5 * * * *",
		"@daily":              "@daily",
		"@every  1h":          "@every 1h",
	} {
		require.Equal(t, want, parse(t, text).String())
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	newYork := location(t, "America/New_York")
	for _, expr := range []string{"0 0/5 * * * ?", "0 0 0 ? 2 2#5", "*/5 * * * *", "@every 90s"} {
		s := parse(t, expr, cronexpr.WithLocation(newYork))
		after := at(t, "2024-05-01T00:00:00Z")
		require.Zero(t, testing.AllocsPerRun(100, func() { after = s.Next(after) }), expr)
	}
}
