package cronexpr

import "strings"

// parseQuartz reads second, minute, hour, day-of-month, month, day-of-week and perhaps a year.
func parseQuartz(expr string, words []string, o options) (Schedule, error) {
	r := quartzReader{expr: expr, words: words}
	var c calendar
	c.seconds = r.list(0, &secondSpec)[0]
	c.minutes = r.list(1, &minuteSpec)[0]
	c.hours = uint32(r.list(2, &hourSpec)[0])
	dates := r.days(3, &dayOfMonthSpec, parseDayOfMonth)
	c.months = uint16(r.list(4, &monthSpec)[0] << 1)
	weekdays := r.days(5, &dayOfWeekSpec, parseDayOfWeek)
	c.days = r.eitherDays(dates, weekdays)
	c.years, c.anyYear = r.years(6)
	if r.err != nil {
		return nil, r.err
	}
	return newFieldSchedule(expr, c, o), nil
}

// quartzReader reads field after field and keeps the first error.
type quartzReader struct {
	expr  string
	words []string
	err   error
}

func (r *quartzReader) list(index int, spec *fieldSpec) valueSet {
	set, fault := spec.parseList(strings.ToUpper(r.words[index]))
	r.note(fault, spec, index)
	return set
}

func (r *quartzReader) days(index int, spec *fieldSpec, parse func(string) (dayRule, *fault)) dayRule {
	rule, fault := parse(strings.ToUpper(r.words[index]))
	r.note(fault, spec, index)
	return rule
}

// eitherDays picks the rule that is given. Quartz demands that the other is "?".
func (r *quartzReader) eitherDays(dates, weekdays dayRule) dayRule {
	given := dates
	if dates.kind == unspecified {
		given = weekdays
	}
	switch {
	case r.err != nil:
	case given.kind == unspecified:
		r.err = r.dayError("day-of-month and day-of-week are both ?")
	case dates.kind != unspecified && weekdays.kind != unspecified:
		r.err = r.dayError("day-of-month and day-of-week are both given")
	}
	return given
}

func (r *quartzReader) dayError(why string) *SyntaxError {
	return &SyntaxError{
		Expr: r.expr, Field: dayOfWeekSpec.name, Index: 5, Text: r.words[5],
		Why: why, Allowed: "is ? in exactly one of the two",
	}
}

// years are any if the field is missing.
func (r *quartzReader) years(index int) (set valueSet, anyYear bool) {
	if index >= len(r.words) || r.words[index] == "*" {
		return valueSet{}, true
	}
	return r.list(index, &yearSpec), false
}

func (r *quartzReader) note(f *fault, spec *fieldSpec, index int) {
	if f != nil && r.err == nil {
		r.err = f.in(r.expr, spec, index)
	}
}
