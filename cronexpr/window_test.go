package cronexpr_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cronexpr"
)

// A window keeps the fires that lie within it, its ends included, and no others.
func TestAWindowKeepsWhatLiesWithinIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{"0 0/7 * * * ?", "*/5 * * * *", "@every 90s", "@hourly", "0 30 2 L * ?"}).Draw(t, "expr")
		origin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			return origin.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "half minutes")) * 30 * time.Second)
		})
		start, end, after := moment.Draw(t, "start"), moment.Draw(t, "end"), moment.Draw(t, "after")
		if end.Before(start) {
			start, end = end, start
		}
		open, err := cronexpr.Parse(expr)
		require.NoError(t, err)
		bound, err := cronexpr.Parse(expr, cronexpr.WithStart(start), cronexpr.WithEnd(end))
		require.NoError(t, err)
		require.Equal(t, open.String(), bound.String())

		var want time.Time
		for fire := range cronexpr.Between(open, after, end) {
			if !fire.Before(start) {
				want = fire
				break
			}
		}
		require.Equal(t, want, bound.Next(after))
	})
}

func TestAWindowOpenAtOneEnd(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	from, err := cronexpr.Parse("@hourly", cronexpr.WithStart(noon))
	require.NoError(t, err)
	require.Equal(t, noon, from.Next(noon.AddDate(-1, 0, 0)))
	until, err := cronexpr.Parse("@hourly", cronexpr.WithEnd(noon))
	require.NoError(t, err)
	require.Equal(t, noon, until.Next(noon.Add(-time.Second)))
	require.True(t, cronexpr.NeverAfter(until, noon))
}

func TestAWindowThatEndsBeforeItStarts(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	_, err := cronexpr.Parse("@hourly", cronexpr.WithStart(noon), cronexpr.WithEnd(noon.Add(-1)))
	require.ErrorIs(t, err, cronexpr.ErrInvalidOption)
}

func TestSchedulesWithoutFires(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, opts := range [][]cronexpr.Option{nil, {cronexpr.WithStart(noon)}} {
		triggered, err := cronexpr.Parse(" @triggered ", opts...)
		require.NoError(t, err)
		require.Equal(t, cronexpr.Triggered, triggered.String())
		require.True(t, cronexpr.IsTriggered(triggered))
		require.True(t, cronexpr.NeverAfter(triggered, time.Time{}))

		delay, err := cronexpr.Parse("@delay  1m30s", opts...)
		require.NoError(t, err)
		require.Equal(t, "@delay 1m30s", delay.String())
		require.False(t, cronexpr.IsTriggered(delay))
		require.True(t, cronexpr.NeverAfter(delay, time.Time{}))
		d, is := cronexpr.DelayOf(delay)
		require.True(t, is)
		require.Equal(t, 90*time.Second, d)
		_, is = cronexpr.DelayOf(triggered)
		require.False(t, is)
	}
	for _, expr := range []string{"@delay", "@delay x", "@delay 1us", "@delay -1s", "@triggered 1s"} {
		_, err := cronexpr.Parse(expr)
		var syntax *cronexpr.SyntaxError
		require.ErrorAs(t, err, &syntax, expr)
	}
}
