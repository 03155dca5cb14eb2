package cronexpr_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

func TestEvery(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, expr  string
		offset      time.Duration
		after, want string
	}{
		{"multiples of the epoch", "@every 10s", 0, "2024-05-01T00:00:03Z", "2024-05-01T00:00:10Z"},
		{"strictly later", "@every 10s", 0, "2024-05-01T00:00:10Z", "2024-05-01T00:00:20Z"},
		{"below a second", "@every 1500ms", 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:01.5Z"},
		{"just before", "@every 1500ms", 0, "1970-01-01T00:00:01.499999999Z", "1970-01-01T00:00:01.5Z"},
		{"a period that fits no day", "@every 7h", 0, "1970-01-02T00:00:00Z", "1970-01-02T04:00:00Z"},
		{"before the epoch", "@every 7h", 0, "1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z"},
		{"an offset", "@every 10s", 3 * time.Second, "1970-01-01T00:00:00Z", "1970-01-01T00:00:03Z"},
		{"an offset above the period", "@every 10s", 23 * time.Second, "1970-01-01T00:00:03Z", "1970-01-01T00:00:13Z"},
		{"an offset below zero", "@every 10s", -3 * time.Second, "1970-01-01T00:00:00Z", "1970-01-01T00:00:07Z"},
		{"a period of a century", "@every 876000h", 0, "1970-01-01T00:00:00Z", "2069-12-07T00:00:00Z"},
		{"an offset that is as long", "@every 2000000h", 1_999_999 * time.Hour, "1970-01-01T00:00:00Z", "2198-02-27T07:00:00Z"},
		{"and one before", "@every 2000000h", -1_999_999 * time.Hour, "1970-01-01T00:00:00Z", "1970-01-01T01:00:00Z"},
		{"the longest", "@every 9223372036854775807ns", math.MaxInt64, "1970-01-01T00:00:00Z", "2262-04-11T23:47:16.854775807Z"},
		{"and least", "@every 9223372036854775807ns", math.MinInt64, "1970-01-01T00:00:00Z", "2262-04-11T23:47:16.854775806Z"},
		{"the end of time", "@every 1h", 0, "9999-12-31T23:30:00Z", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, test.expr, cronexpr.WithOffset(test.offset))
			got := s.Next(at(t, test.after))
			if test.want == "" {
				require.Zero(t, got)
				return
			}
			require.Equal(t, at(t, test.want), got)
		})
	}
}

// TestEveryIgnoresClockChanges: the hours of a day that has 23 of them.
func TestEveryIgnoresClockChanges(t *testing.T) {
	t.Parallel()
	newYork := location(t, "America/New_York")
	s := parse(t, "@every 1h", cronexpr.WithLocation(newYork))
	last := time.Date(2024, 3, 10, 0, 0, 0, 0, newYork)
	for fire := range cronexpr.Between(s, last, last.AddDate(0, 0, 1)) {
		require.Equal(t, time.Hour, fire.Sub(last))
		require.Equal(t, newYork, fire.Location())
		last = fire
	}
}

func TestOffsetIsForEveryOnly(t *testing.T) {
	t.Parallel()
	after := at(t, "2024-05-01T00:00:00Z")
	plain, moved := parse(t, "0 0 * * * ?"), parse(t, "0 0 * * * ?", cronexpr.WithOffset(time.Second))
	require.Equal(t, plain.Next(after), moved.Next(after))
}

func TestPeriodOf(t *testing.T) {
	t.Parallel()
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for expr, want := range map[string]time.Duration{"@every 90s": 90 * time.Second, "@hourly": 0, "@delay 5s": 0, "0 0 * * * ?": 0} {
		for _, options := range [][]cronexpr.Option{nil, {cronexpr.WithEnd(end)}} {
			s, err := cronexpr.Parse(expr, options...)
			require.NoError(t, err)
			period, is := cronexpr.PeriodOf(s)
			require.Equal(t, want, period, expr)
			require.Equal(t, want != 0, is, expr)
		}
	}
}
