package cronexpr_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cronexpr"
)

func TestUpcomingEnds(t *testing.T) {
	t.Parallel()
	s := parse(t, "0 0 0 1 1 ? 2025-2027")
	fires := slices.Collect(cronexpr.Upcoming(s, at(t, "2025-06-01T00:00:00Z")))
	require.Equal(t, []time.Time{at(t, "2026-01-01T00:00:00Z"), at(t, "2027-01-01T00:00:00Z")}, fires)
}

func TestBetweenBounds(t *testing.T) {
	t.Parallel()
	s := parse(t, "@hourly")
	fires := slices.Collect(cronexpr.Between(s, at(t, "2024-05-01T01:00:00Z"), at(t, "2024-05-01T03:00:00Z")))
	require.Equal(t, []time.Time{at(t, "2024-05-01T02:00:00Z"), at(t, "2024-05-01T03:00:00Z")}, fires)
}

func TestLast(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, expr, after, until, want string
	}{
		{"the newest", "@hourly", "2024-05-01T01:00:00Z", "2024-05-01T05:30:00Z", "2024-05-01T05:00:00Z"},
		{"until is included", "@hourly", "2024-05-01T01:00:00Z", "2024-05-01T05:00:00Z", "2024-05-01T05:00:00Z"},
		{"after is not", "@hourly", "2024-05-01T05:00:00Z", "2024-05-01T05:30:00Z", ""},
		{"after is later", "@hourly", "2024-05-01T06:00:00Z", "2024-05-01T05:30:00Z", ""},
		{"long ago", "0 0 0 29 2 ?", "1999-01-01T00:00:00Z", "2027-12-01T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"the only one", "0 0 0 1 1 ? 2010", "1999-01-01T00:00:00Z", "2024-12-01T00:00:00Z", "2010-01-01T00:00:00Z"},
		{"long windows between", "* * * 1 1 ?", "2020-01-01T00:00:00Z", "2024-12-01T00:00:00Z", "2024-01-01T23:59:59Z"},
		{"below a second", "@every 1ms", "2000-01-01T00:00:00Z", "2024-05-01T00:00:00.0015Z", "2024-05-01T00:00:00.001Z"},
		{"centuries", "@daily", "0001-01-01T00:00:00Z", "2024-05-01T12:00:00Z", "2024-05-01T00:00:00Z"},
		{"never", "0 0 0 30 2 ?", "2000-01-01T00:00:00Z", "2024-05-01T12:00:00Z", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &counting{Schedule: parse(t, test.expr)}
			got := cronexpr.Last(s, at(t, test.after), at(t, test.until))
			require.Less(t, s.calls, 200)
			if test.want == "" {
				require.Zero(t, got)
				return
			}
			require.Equal(t, at(t, test.want), got)
		})
	}
}

// counting counts the calls of Next.
type counting struct {
	cronexpr.Schedule
	calls int
}

func (c *counting) Next(after time.Time) time.Time {
	c.calls++
	return c.Schedule.Next(after)
}

// TestLastIsTheLastOfBetween compares the search by halving with the walk.
func TestLastIsTheLastOfBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, loc := drawSchedule(t)
		after := drawTime(t, loc)
		until := after.Add(time.Duration(rapid.Int64Range(0, int64(50*time.Hour)).Draw(t, "window")))
		var want time.Time
		for fire := range cronexpr.Between(s, after, until) {
			want = fire
		}
		require.Equal(t, want, cronexpr.Last(s, after, until))
	})
}
