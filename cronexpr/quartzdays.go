package cronexpr

import "strings"

// parseDayOfMonth reads the day-of-month field of the Quartz dialect: ?, L, L-n, LW, L-nW, nW, or a
// list of numbers.
func parseDayOfMonth(text string) (dayRule, *fault) {
	day, isNearest := strings.CutSuffix(text, "W")
	switch {
	case text == "?":
		return dayRule{kind: unspecified}, nil
	case strings.Contains(text, ",") && strings.ContainsAny(text, "LW"):
		return dayRule{}, faultf(text, "L and W do not stand in a list")
	case strings.HasPrefix(text, "L"):
		return parseFromEnd(text)
	case isNearest:
		n, err := dayOfMonthSpec.parseValue(day)
		if err != nil {
			return dayRule{}, faultf(text, "before W goes one day: %s", err)
		}
		return dayRule{kind: nearestWeekday, n: uint8(n)}, nil
	}
	set, fault := dayOfMonthSpec.parseList(text)
	return dayRule{kind: onDates, dates: uint32(set[0] << 1)}, fault
}

// parseFromEnd reads L, L-n, LW and L-nW.
func parseFromEnd(text string) (dayRule, *fault) {
	rule := dayRule{kind: fromEnd}
	rest, isNearest := strings.CutSuffix(text[1:], "W")
	if isNearest {
		rule.kind = nearestWeekdayFromEnd
	}
	if rest == "" {
		return rule, nil
	}
	offset, ok := strings.CutPrefix(rest, "-")
	if !ok {
		return dayRule{}, faultf(text, "after L go -n, W or both")
	}
	n, err := parseNumber(offset)
	switch {
	case err != nil:
		return dayRule{}, faultf(text, "after L- goes a number: %s", err)
	case n > 30:
		return dayRule{}, faultf(text, "%s is above 30", offset)
	}
	rule.n = uint8(n)
	return rule, nil
}

// parseDayOfWeek reads the day-of-week field of the Quartz dialect: ?, L (Saturday), nL, n#k, or a
// list of numbers and names, Sunday being 1.
func parseDayOfWeek(text string) (dayRule, *fault) {
	before, nth, isNth := strings.Cut(text, "#")
	last, isLast := strings.CutSuffix(text, "L")
	switch {
	case text == "?":
		return dayRule{kind: unspecified}, nil
	case text == "L":
		return dayRule{kind: onWeekdays, weekdays: 1 << 6}, nil
	case strings.Contains(text, ",") && (isNth || strings.Contains(text+",", "L,")):
		return dayRule{}, faultf(text, "L and # do not stand in a list")
	case isNth:
		return parseNthWeekday(text, before, nth)
	case isLast:
		rule, fault := parseOneWeekday(text, last)
		rule.kind = lastWeekday
		return rule, fault
	}
	set, fault := dayOfWeekSpec.parseList(text)
	return dayRule{kind: onWeekdays, weekdays: uint8(set[0])}, fault
}

func parseNthWeekday(text, day, nth string) (dayRule, *fault) {
	rule, fault := parseOneWeekday(text, day)
	if fault != nil {
		return dayRule{}, fault
	}
	n, err := parseNumber(nth)
	if err != nil || n < 1 || n > 5 {
		return dayRule{}, faultf(text, "after # goes a number from 1 to 5")
	}
	rule.kind, rule.n = nthWeekday, uint8(n)
	return rule, nil
}

// parseOneWeekday reads the day before L or #. A name has three letters there, since after more of
// them Quartz ignores the rest.
func parseOneWeekday(text, day string) (dayRule, *fault) {
	value, err := dayOfWeekSpec.parseValue(day)
	if err != nil || isLetter(day) && len(day) > 3 {
		return dayRule{}, faultf(text, "before L and # goes one day, 1-7 (SUN=1) or SUN-SAT")
	}
	return dayRule{weekdays: 1 << (value - 1)}, nil
}
