// Package words says in English what a cron expression means.
//
//	text, err := words.Describe("0 30 2 ? * MON-FRI") // "At 02:30, from Monday to Friday."
//
// It reads the dialects of package cronexpr as that package does, and refuses what it refuses. The words say
// nothing of time zones, changes of the clock, start and end, which are no part of an expression.
package words

import (
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/cronexpr"
)

// descriptors are the names of expressions with five fields.
var descriptors = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Describe returns a sentence. The error is that of [cronexpr.Parse].
func Describe(expr string) (string, error) {
	s, err := cronexpr.Parse(expr)
	if err != nil {
		return "", err
	}
	if cronexpr.IsTriggered(s) {
		return "Never by the clock, only when somebody triggers it.", nil
	}
	if d, is := cronexpr.DelayOf(s); is {
		return fmt.Sprintf("%s after the last run has ended.", d), nil
	}
	if d, is := cronexpr.PeriodOf(s); is {
		return fmt.Sprintf("Every %s, counted from 1970-01-01 00:00 UTC.", d), nil
	}
	text := strings.ToUpper(s.String())
	if five, is := descriptors[strings.ToLower(text)]; is {
		text = five
	}
	words := strings.Fields(text)
	if len(words) == 5 {
		return sentence(append([]string{"0"}, words...), unix), nil
	}
	return sentence(words, quartz), nil
}

// sentence describes second, minute, hour, day-of-month, month, day-of-week and perhaps a year.
func sentence(words []string, d dialect) string {
	parts := []string{clock(seconds.list(words[0]), minutes.list(words[1]), hours.list(words[2]))}
	parts = append(parts, days(words[3], words[5], d)...)
	if months := months.list(words[4]); !months.any() {
		parts = append(parts, months.in("in ", "in every %s month"))
	}
	if len(words) > 6 {
		if years := years.list(words[6]); !years.any() {
			parts = append(parts, years.in("in ", "in every %s year"))
		}
	}
	return strings.Join(parts, ", ") + "."
}
