package cronexpr

import (
	"strings"
	"time"
)

const delayPrefix = "@delay "

// delaySchedule is the schedule of "@delay d". When it fires depends on when the last run was over,
// which a function of time alone does not know; so it has no fires of its own.
type delaySchedule struct {
	expr  string
	delay time.Duration
}

func parseDelay(expr string) (Schedule, error) {
	delay, err := parsePeriod(expr, delayPrefix)
	if err != nil {
		return nil, err
	}
	return &delaySchedule{expr: expr, delay: delay}, nil
}

func (s *delaySchedule) String() string { return s.expr }

// Next implements [Schedule]: there is none.
func (s *delaySchedule) Next(time.Time) time.Time { return time.Time{} }

// DelayOf returns how long after the end of one run the next run begins, if s is the schedule of "@delay d". For any
// other schedule it returns false.
func DelayOf(s Schedule) (time.Duration, bool) {
	s = unbound(s)
	if d, is := s.(*delaySchedule); is {
		return d.delay, true
	}
	return 0, false
}

// parsePeriod reads the duration behind a prefix, of which expr may be all but the blank.
func parsePeriod(expr, prefix string) (time.Duration, error) {
	field := strings.TrimSpace(prefix)
	text := strings.TrimSpace(strings.TrimPrefix(expr, field))
	period, err := time.ParseDuration(text)
	why := ""
	switch {
	case text == "":
		why = "the duration is missing"
	case err != nil:
		why = "it is not a duration"
	case period < minPeriod:
		why = period.String() + " is below " + minPeriod.String()
	}
	if why != "" {
		return 0, &SyntaxError{
			Expr: expr, Field: field, Index: 1, Text: text, Why: why,
			Allowed: "are durations from 1ms up, such as 1500ms, 10s and 1h30m",
		}
	}
	return period, nil
}
