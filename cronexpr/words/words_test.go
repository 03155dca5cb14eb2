package words_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/cronexpr/words"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		// Quartz
		"0 0/5 * * * ?":             "Every 5 minutes.",
		"0 */5 * * * ?":             "Every 5 minutes.",
		"0 0/7 * * * ?":             "Every 7th minute from 0 on.",
		"0/5 * * * * ?":             "Every 5 seconds.",
		"* * * * * ?":               "Every second.",
		"0 * * * * ?":               "Every minute.",
		"15 * * * * ?":              "At second 15 of every minute.",
		"15,45 0/10 * * * ?":        "At seconds 15 and 45 in every 10th minute from 0 on.",
		"* 30 2 * * ?":              "Every second in minute 30 in hour 2.",
		"0 0 * * * ?":               "Every hour.",
		"0 0 0/2 * * ?":             "Every 2 hours.",
		"0 0 */5 * * ?":             "Every 5th hour from 0 on.",
		"0 30 * * * ?":              "At minute 30 of every hour.",
		"0 10,20 * * * ?":           "At minutes 10 and 20 of every hour.",
		"0 2/5 * * * ?":             "At every 5th minute from 2 to 59 of every hour.",
		"0 0/5 9-17 * * ?":          "Every 5 minutes in hours 9 to 17.",
		"0 0 9-17 ? * MON-FRI":      "Every hour in hours 9 to 17, from Monday to Friday.",
		"0 30 2 * * ?":              "At 02:30.",
		"15 30 2 * * ?":             "At 02:30:15.",
		"0 0 8,12,18 * * ?":         "At 08:00, 12:00 and 18:00.",
		"0 0,30 8,12 * * ?":         "At 08:00, 08:30, 12:00 and 12:30.",
		"0 30 2 ? * 2-6":            "At 02:30, from Monday to Friday.",
		"0 30 2 ? * SUN,WED":        "At 02:30, on Sunday and Wednesday.",
		"0 30 2 ? * FRI-MON":        "At 02:30, from Friday to Monday.",
		"0 30 2 ? * 6L":             "At 02:30, on the last Friday of the month.",
		"0 30 2 ? * FRI#3":          "At 02:30, on the third Friday of the month.",
		"0 30 2 ? * L":              "At 02:30, on Saturday.",
		"0 30 2 1 * ?":              "At 02:30, on day 1 of the month.",
		"0 30 2 1,15 * ?":           "At 02:30, on days 1 and 15 of the month.",
		"0 30 2 1-7 * ?":            "At 02:30, on days 1 to 7 of the month.",
		"0 30 2 1/3 * ?":            "At 02:30, on every 3rd day of the month from day 1 on.",
		"0 30 2 L * ?":              "At 02:30, on the last day of the month.",
		"0 30 2 L-3 * ?":            "At 02:30, 3 days before the last day of the month.",
		"0 30 2 LW * ?":             "At 02:30, on the last working day of the month.",
		"0 30 2 L-1W * ?":           "At 02:30, on the working day nearest to 1 day before the last day of the month.",
		"0 30 2 15W * ?":            "At 02:30, on the working day nearest to day 15 of the month.",
		"0 0 0 1 1 ? 2027":          "At 00:00, on day 1 of the month, in January, in 2027.",
		"0 0 0 1 6-8 ? 2027-2030":   "At 00:00, on day 1 of the month, from June to August, in 2027 to 2030.",
		"0 0 0 1 1/3 ? */2":         "At 00:00, on day 1 of the month, in every 3rd month from January on, in every 2nd year from 1970 on.",
		"0 0 0 1 JAN,MAR-MAY ? *":   "At 00:00, on day 1 of the month, in January and March to May.",
		"0 0 0 2/3 * ?":             "At 00:00, on every 3rd day from 2 to 31 of the month.",
		"0 0 0 1 2/3 ?":             "At 00:00, on day 1 of the month, in every 3rd month from February to December.",
		"0 0 1/5 ? * 2-6/2":         "On the hour in every 5th hour from 1 to 23, on every 2nd weekday from Monday to Friday.",
		"0 0 22-2 * * ?":            "Every hour in hours 22 to 2.",
		"0 0 22-2/2 * * ?":          "On the hour in every 2nd hour from 22 to 2.",
		"0 0-10/5 * * * ?":          "At every 5th minute from 0 to 10 of every hour.",
		"0 0 0 ? JAN MON":           "At 00:00, on Monday, in January.",
		"0 0 0,1,2,3,4,5,6 * * ?":   "Every hour in hours 0, 1, 2, 3, 4, 5 and 6.",
		"0 0 0 ? * sunday,saturday": "At 00:00, on Sunday and Saturday.",
		// Unix
		"*/5 * * * *":      "Every 5 minutes.",
		"30 2 * * 1-5":     "At 02:30, from Monday to Friday.",
		"30 2 * * 0":       "At 02:30, on Sunday.",
		"0 0 13 * 5":       "At 00:00, on day 13 of the month or on Friday.",
		"0 0 13 * 0-6":     "At 00:00.",
		"0 0 1-31 * 5":     "At 00:00.",
		"0 0 */1 * 5":      "At 00:00, on Friday.",
		"0 0 * 1,7 SUN":    "At 00:00, on Sunday, in January and July.",
		"@daily":           "At 00:00.",
		"@weekly":          "At 00:00, on Sunday.",
		"@hourly":          "Every hour.",
		"@yearly":          "At 00:00, on day 1 of the month, in January.",
		"@every 90s":       "Every 1m30s, counted from 1970-01-01 00:00 UTC.",
		"@delay 10s":       "10s after the last run has ended.",
		"@triggered":       "Never by the clock, only when somebody triggers it.",
		"  0   * * *   * ": "Every hour.",
	} {
		got, err := words.Describe(expr)
		require.NoError(t, err, expr)
		require.Equal(t, want, got, expr)
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"", "x", "0 61 * * * ?", "@never", "* * *", "0 0 0 1 1 1", "0 0 0 ? * ?"} {
		_, err := words.Describe(expr)
		_, want := cronexpr.Parse(expr)
		require.Error(t, want, expr)
		require.Equal(t, want, err, expr)
	}
}

// Whatever can be parsed has words, which are one sentence.
func TestEveryExpressionHasWords(t *testing.T) {
	t.Parallel()
	list := func(elements ...string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(elements), 1, 3).Draw(t, "elements"), ",")
		})
	}
	fields := []*rapid.Generator[string]{
		list("*", "0", "59", "*/7", "3/5", "/9", "10-20", "50-10", "50-10/5", "2-40/6"), list("*", "0", "*/15", "7", "55-5"), list("*", "0", "23", "22-2", "*/5", "8"),
		rapid.OneOf(list("1", "31", "*/2", "5-7"), rapid.SampledFrom([]string{"?", "*", "L", "L-3", "LW", "L-2W", "15W"})),
		list("*", "JAN", "12", "2/3", "NOV-FEB"),
		rapid.OneOf(list("1", "SAT", "MON-FRI", "6-2", "2/2"), rapid.SampledFrom([]string{"?", "*", "L", "6L", "2#1", "FRI#5"})),
		list("*", "2026", "2030-2040", "*/4"),
	}
	rapid.Check(t, func(t *rapid.T) {
		var text []string
		for i, f := range fields[:rapid.IntRange(6, 7).Draw(t, "fields")] {
			text = append(text, f.Draw(t, "field"+string(rune('0'+i))))
		}
		if rapid.Bool().Draw(t, "unix") {
			text = text[1:6]
		}
		expr := strings.Join(text, " ")
		_, want := cronexpr.Parse(expr)
		got, err := words.Describe(expr)
		require.Equal(t, want, err)
		if err == nil {
			require.Regexp(t, `^[A-Z0-9][^.%!]*\.$`, got, expr)
			require.NotContains(t, got, "  ")
		}
	})
}
