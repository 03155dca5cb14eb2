package cronexpr_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

// FuzzParse: no text makes Parse or Next panic or loop, Next is later and monotone, and String is an
// expression with the same fires.
func FuzzParse(f *testing.F) {
	for _, expr := range []string{
		"0/5 * * * * ?", "0 0 12 LW * ?", "0 0 12 L-3W * ?", "0 0 0 ? 2 2#5", "0 15 10 ? * FRI-MON",
		"0 47/27 22-2 31W JAN,feb ? 2020-2099/3", "*/5 0-6 1,15 * MON", "@hourly", "@every 1500ms", "TZ=0",
		"* * * * *", "0 0 0 30 2 ?", "0 0 0 29 2 ? 2099", ",", "*/99999999999999999999 * * * *",
	} {
		f.Add(expr, "America/New_York", int64(1_710_000_000), uint8(0))
		f.Add(expr, "Australia/Lord_Howe", int64(2_366_700_000), uint8(1))
	}
	f.Fuzz(func(t *testing.T, expr, zone string, second int64, mode uint8) {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip()
		}
		opts := []cronexpr.Option{
			cronexpr.WithLocation(loc), cronexpr.WithDaylightSaving(cronexpr.DaylightSaving(mode % 2)),
		}
		s, err := cronexpr.Parse(expr, opts...)
		if err != nil {
			var syntax *cronexpr.SyntaxError
			require.ErrorAs(t, err, &syntax)
			return
		}
		again, err := cronexpr.Parse(s.String(), opts...)
		require.NoError(t, err)
		require.Equal(t, s.String(), again.String())

		after := time.Unix(second, 0)
		for range 20 {
			next := s.Next(after)
			require.True(t, again.Next(after).Equal(next))
			if next.IsZero() {
				return
			}
			require.True(t, next.After(after), "%s after %s", next, after)
			between := after.Add(next.Sub(after) / 2)
			require.False(t, s.Next(between).Before(next), "%s after %s", next, between)
			after = next
		}
	})
}
