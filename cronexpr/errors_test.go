package cronexpr_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
)

func TestSyntaxError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		expr  string
		field string
		index int
		text  string
		want  string // what Error says behind the expression
	}{
		// Quartz
		{"0 61 * * * ?", "minute", 1, "61", `minute field "61": 61 is above 59; allowed are 0-59, lists, ranges, steps and *`},
		{"0 1,61 * * * ?", "minute", 1, "61", `minute field "61": 61 is above 59`},
		{"5x * * * * ?", "second", 0, "5X", `second field "5X": 5X is not a number`},
		{"0 0 22-25 * * ?", "hour", 2, "22-25", `hour field "22-25": 25 is above 23; allowed are 0-23`},
		{"0 */0 * * * ?", "minute", 1, "*/0", `minute field "*/0": the step is 0`},
		{"0 */60 * * * ?", "minute", 1, "*/60", `the step 60 is above 59`},
		{"0 5/ * * * ?", "minute", 1, "5/", `in the step, a number is missing`},
		{"0 1,,2 * * * ?", "minute", 1, "", `minute field "": a list has an empty element`},
		{"0 1- * * * ?", "minute", 1, "1-", `a number is missing`},
		{"0 0 0 0 * ?", "day-of-month", 3, "0", `0 is below 1`},
		{"0 0 0 L-31 * ?", "day-of-month", 3, "L-31", `31 is above 30`},
		{"0 0 0 L3 * ?", "day-of-month", 3, "L3", `after L go -n, W or both`},
		{"0 0 0 1W,15W * ?", "day-of-month", 3, "1W,15W", `L and W do not stand in a list`},
		{"0 0 0 32W * ?", "day-of-month", 3, "32W", `before W goes one day: 32 is above 31`},
		{"0 0 0 1 FOO ?", "month", 4, "FOO", `FOO is no month; allowed are 1-12, JAN-DEC`},
		{"0 0 0 1 JAN-3 ?", "month", 4, "JAN-3", `a range needs two numbers or two names`},
		{"0 0 0 1 JAN-DEC/3 ?", "month", 4, "JAN-DEC/3", `a step needs numbers before it`},
		{"0 0 0 ? * 8", "day-of-week", 5, "8", `8 is above 7; allowed are 1-7 (SUN=1)`},
		{"0 0 0 ? * 0", "day-of-week", 5, "0", `day-of-week field "0": 0 is below 1, with 6 or 7 fields Sunday is 1; allowed are 1-7 (SUN=1)`},
		{"0 0 0 ? * 0-5", "day-of-week", 5, "0-5", `0 is below 1, with 6 or 7 fields Sunday is 1`},
		{"0 0 0 ? * MONDAY-FRIDAY", "day-of-week", 5, "MONDAY-FRIDAY", `begins with three letters`},
		{"0 0 0 ? * 6#6", "day-of-week", 5, "6#6", `after # goes a number from 1 to 5`},
		{"0 0 0 ? * 0L", "day-of-week", 5, "0L", `before L and # goes one day, 1-7 (SUN=1) or SUN-SAT`},
		{"0 0 0 ? * 6#1,2", "day-of-week", 5, "6#1,2", `L and # do not stand in a list`},
		{"0 0 0 * * *", "day-of-week", 5, "*", `both given; allowed is ? in exactly one of the two`},
		{"0 0 0 ? * ?", "day-of-week", 5, "?", `both ?; allowed is ? in exactly one`},
		{"0 0 0 1 1 ? 1969", "year", 6, "1969", `1969 is below 1970`},
		{"0 0 0 1 1 ? 2030-2020", "year", 6, "2030-2020", `the range ends before it begins`},
		// Unix cron
		{"60 * * * *", "minute", 0, "60", `minute field "60": end of range (60) above maximum (59)`},
		{"* * * * 7", "day-of-week", 4, "7", `day-of-week field "7": 7 is above 6, with 5 fields Sunday is 0; allowed are 0-6 (SUN=0)`},
		{"* * * * 1,5-7", "day-of-week", 4, "1,5-7", `day-of-week field "1,5-7": 7 is above 6, with 5 fields Sunday is 0`},
		{"* * L * *", "day-of-month", 2, "L", `day-of-month field "L": L, W and # are for expressions of 6 or 7 fields (Quartz); allowed are 1-31,`},
		{"* * 15w * *", "day-of-month", 2, "15w", `L, W and # are for expressions of 6 or 7 fields (Quartz)`},
		{"* * 1,LW * *", "day-of-month", 2, "1,LW", `L, W and # are for expressions of 6 or 7 fields (Quartz)`},
		{"* * * * FRI#2", "day-of-week", 4, "FRI#2", `L, W and # are for expressions of 6 or 7 fields (Quartz); allowed are 0-6`},
		{"* * * * 5L", "day-of-week", 4, "5L", `L, W and # are for expressions of 6 or 7 fields (Quartz)`},
		{"* L * * *", "hour", 1, "L", `hour field "L": `},
		{"*-5 * * * *", "minute", 0, "*-5", `a range needs a number or a name at both ends`},
		{"+5 * * * *", "minute", 0, "+5", `it is not a number`},
		{"? * * * *", "minute", 0, "?", `? is for the two day fields`},
		{"0 , * * *", "hour", 1, "", `a list has an empty element`},
		// @every
		{"@every 5", "@every", 1, "5", `@every field "5": it is not a duration; allowed are durations from 1ms up`},
		{"@every -1s", "@every", 1, "-1s", `-1s is below 1ms`},
		{"@every 0s", "@every", 1, "0s", `0s is below 1ms`},
		{"@every 999us", "@every", 1, "999us", `999µs is below 1ms`},
		{"@every 1h 30m", "@every", 1, "1h 30m", `it is not a duration`},
		// the whole
		{"", "", -1, "", `it has 0 fields; allowed are 5 fields (standard), 6 or 7 fields (Quartz), @yearly`},
		{"* * * *", "", -1, "", `it has 4 fields`},
		{"0 0 0 1 1 ? 2020 x", "", -1, "", `it has 8 fields`},
		{"@fortnightly", "", -1, "", `it is unknown; allowed are 5 fields`},
		{"@every", "@every", 1, "", `@every field "": the duration is missing; allowed are durations from 1ms up`},
		{"@delay", "@delay", 1, "", `@delay field "": the duration is missing; allowed are durations from 1ms up`},
		{"@everyday", "", -1, "", `it is unknown`},
		{"TZ=0", "", -1, "TZ=", `"TZ=": the time zone is no part of the expression; allowed is a setting beside it, such as timeZone of a job, --zone or the option WithLocation`},
		{"CRON_TZ=Europe/Berlin 0 0 * * *", "", -1, "CRON_TZ=", `the time zone is no part of the expression`},
		{"tz=UTC 0 0 0 * * ?", "", -1, "tz=", `the time zone is no part of the expression`},
	}
	for _, test := range tests {
		t.Run(test.expr, func(t *testing.T) {
			t.Parallel()
			s, err := cronexpr.Parse(test.expr)
			require.Nil(t, s)
			var got *cronexpr.SyntaxError
			require.ErrorAs(t, err, &got)
			require.Equal(t, test.expr, got.Expr)
			require.Equal(t, test.field, got.Field)
			require.Equal(t, test.index, got.Index)
			require.Equal(t, test.text, got.Text)
			require.ErrorContains(t, err, `cron "`+test.expr+`": `)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// What is no expression is told every shape that is one, and no other.
func TestTheErrorNamesEveryShape(t *testing.T) {
	t.Parallel()
	var refused *cronexpr.SyntaxError
	_, err := cronexpr.Parse("every now and then")
	require.ErrorAs(t, err, &refused)
	shapes := map[string]bool{
		"@yearly": true, "@annually": true, "@monthly": true, "@weekly": true, "@daily": true, "@midnight": true, "@hourly": true,
		"@every 5m": true, "@delay 5m": true, "@triggered": true, "@reboot": false,
	}
	for shape, good := range shapes {
		_, err := cronexpr.Parse(shape)
		require.Equal(t, good, err == nil, shape)
		require.Equal(t, good, strings.Contains(refused.Allowed, strings.Replace(shape, "5m", "<duration>", 1)), shape)
	}
	for _, word := range strings.FieldsFunc(refused.Allowed, func(r rune) bool { return strings.ContainsRune(" ,", r) }) {
		if strings.HasPrefix(word, "@") {
			require.True(t, shapes[word] || shapes[word+" 5m"], word)
		}
	}
	for _, part := range []string{"5 fields (standard)", "6 or 7 fields (Quartz)"} {
		require.Contains(t, refused.Allowed, part)
	}
}

// However long a text is, its error shows only its beginning.
func TestSyntaxErrorsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100_000)
	for _, expr := range []string{long, "0 " + long + " * * * ?", long + " * * * *", "@every " + long, "@delay " + long, "TZ=" + long, "0 0 0 ? * " + long} {
		_, err := cronexpr.Parse(expr)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 1_500)
		require.True(t, utf8.ValidString(err.Error()))
	}
}
