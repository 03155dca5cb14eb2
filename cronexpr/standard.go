package cronexpr

import (
	"strings"

	"github.com/robfig/cron/v3"
)

// robfigStar marks a field that was * or ?, in the bit sets of robfig's parser.
const robfigStar = 1 << 63

// standardSpecs name the five fields for error messages.
var standardSpecs = [5]fieldSpec{
	{name: "minute", allowed: "are 0-59, lists, ranges, steps and *"},
	{name: "hour", allowed: "are 0-23, lists, ranges, steps and *"},
	{name: "day-of-month", allowed: "are 1-31, lists, ranges, steps, * and ?"},
	{name: "month", allowed: "are 1-12, JAN-DEC, lists, ranges, steps and *"},
	{name: "day-of-week", allowed: "are 0-6 (SUN=0), SUN-SAT, lists, ranges, steps, * and ?"},
}

// parseStandard reads five fields or a descriptor. The grammar is that of robfig's parser; the times
// are found by our own calendar, since robfig's fires twice in an overlap.
func parseStandard(expr string, words []string, o options) (Schedule, error) {
	if !strings.HasPrefix(expr, "@") {
		for i, word := range words {
			if err := checkStandardField(expr, word, i); err != nil {
				return nil, err
			}
		}
	}
	parsed, err := cron.ParseStandard(expr)
	spec, ok := parsed.(*cron.SpecSchedule)
	if err != nil || !ok {
		return nil, standardError(expr, words)
	}
	return newFieldSchedule(expr, standardCalendar(spec), o), nil
}

// checkStandardField refuses what robfig's parser takes without saying that it ignores part of it,
// such as "*-5", or that nothing is left, such as ",".
func checkStandardField(expr, word string, index int) error {
	for element := range strings.SplitSeq(word, ",") {
		base, _, _ := strings.Cut(element, "/")
		low, _, isRange := strings.Cut(base, "-")
		star := low == "*" || low == "?"
		why := ""
		switch {
		case element == "":
			why = errEmptyElement.Error()
		case star && isRange:
			why = "a range needs a number or a name at both ends"
		case low == "?" && index != 2 && index != 4:
			why = "? is for the two day fields"
		case strings.Contains(element, "+"):
			why = "it is not a number"
		}
		if why != "" {
			return (&fault{text: element, why: why}).in(expr, &standardSpecs[index], index)
		}
	}
	return nil
}

// standardError finds the field that robfig's parser refused, by trying one at a time.
func standardError(expr string, words []string) error {
	if !strings.HasPrefix(expr, "@") {
		for i, word := range words {
			alone := [5]string{"*", "*", "*", "*", "*"}
			alone[i] = word
			if _, err := cron.ParseStandard(strings.Join(alone[:], " ")); err != nil {
				why := otherDialect(word, i)
				if why == "" {
					why = err.Error()
				}
				return (&fault{text: word, why: why}).in(expr, &standardSpecs[i], i)
			}
		}
	}
	return wholeError(expr, "it is unknown")
}

// otherDialect says what is wrong with a field that the Quartz dialect would take; it is empty if it would not either.
func otherDialect(word string, index int) string {
	for element := range strings.SplitSeq(strings.ToUpper(word), ",") {
		low, high, _ := strings.Cut(element, "-")
		switch {
		case index != 2 && index != 4:
		case strings.HasPrefix(element, "L"), strings.HasSuffix(element, "L"), strings.HasSuffix(element, "W"), strings.Contains(element, "#"):
			return "L, W and # are for expressions of 6 or 7 fields (Quartz)"
		case index == 4 && (low == "7" || high == "7"):
			return "7 is above 6, with 5 fields Sunday is 0"
		}
	}
	return ""
}

func standardCalendar(spec *cron.SpecSchedule) calendar {
	return calendar{
		seconds: spec.Second &^ robfigStar,
		minutes: spec.Minute &^ robfigStar,
		hours:   uint32(spec.Hour),
		months:  uint16(spec.Month),
		anyYear: true,
		days:    standardDays(spec),
	}
}

// standardDays: if both day fields are given, a day needs to match only one of them.
func standardDays(spec *cron.SpecSchedule) dayRule {
	rule := dayRule{kind: onEither, dates: uint32(spec.Dom), weekdays: uint8(spec.Dow)}
	switch {
	case spec.Dow&robfigStar != 0:
		rule.kind = onDates
	case spec.Dom&robfigStar != 0:
		rule.kind = onWeekdays
	}
	return rule
}
