package cronexpr

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is a set of instants: the fires of a job. Schedules of this package are immutable and
// safe for concurrent use.
type Schedule interface {
	// Next returns the first fire later than after, in the schedule's location, or the zero time if
	// there is none. It takes microseconds and does not allocate, however far away the fire is.
	// Fires beyond the year 9999 are not found.
	//
	// A later after never gives an earlier fire.
	Next(after time.Time) time.Time

	// String returns the expression that was parsed, with its blanks made single. Parsing it again
	// under the same options gives the same fires.
	String() string
}

// Parse reads expr in the dialect that its shape tells, see the package documentation. Without
// options its fields are in UTC and clock changes are treated as [Natural].
//
// A text that cannot be read gives a [*SyntaxError], a wrong option an error that wraps
// [ErrInvalidOption]. An expression that can never fire, such as 30 February, is not an error: its
// Next is zero, see [NeverAfter].
func Parse(expr string, opts ...Option) (Schedule, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(expr)
	text := strings.Join(words, " ")
	if err := refuseZone(text); err != nil {
		return nil, err
	}
	s, err := parseText(text, words, o)
	if err != nil {
		return nil, err
	}
	return o.window.bind(s), nil
}

func parseText(text string, words []string, o options) (Schedule, error) {
	switch {
	case text == Triggered:
		return triggered{}, nil
	case strings.HasPrefix(text+" ", delayPrefix):
		return parseDelay(text)
	case strings.HasPrefix(text+" ", everyPrefix):
		return parseEvery(text, o)
	case strings.HasPrefix(text, "@"), len(words) == 5:
		return parseStandard(text, words, o)
	case len(words) == 6, len(words) == 7:
		return parseQuartz(text, words, o)
	}
	return nil, wholeError(text, fmt.Sprintf("it has %d fields", len(words)))
}

// refuseZone refuses the zone prefixes of other cron implementations: a job's zone is a setting of
// its own, and two places that could name it would one day name two zones.
func refuseZone(text string) error {
	for _, prefix := range []string{"TZ=", "CRON_TZ="} {
		if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			return &SyntaxError{
				Expr: text, Index: -1, Text: text[:len(prefix)],
				Why:     "the time zone is no part of the expression",
				Allowed: "is a setting beside it, such as timeZone of a job, --zone or the option WithLocation",
			}
		}
	}
	return nil
}
