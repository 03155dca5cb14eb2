package words

import (
	"fmt"
	"strconv"
	"strings"
)

// days says on which days: nothing if on all.
func days(ofMonth, ofWeek string, d dialect) []string {
	month, week := onDates(ofMonth), d.onWeekdays(ofWeek)
	either := d.weekdays.min == unix.weekdays.min && !star(ofMonth) && !star(ofWeek)
	switch {
	case month == "" && week == "", either && (month == "" || week == ""): // one of them is every day, and that is enough
		return nil
	case month == "":
		return []string{week}
	case week == "":
		return []string{month}
	default: // with five fields, a day needs to match only one
		return []string{month + " or " + week}
	}
}

// star tells whether a field of five leaves its days to the other field, rather than name all of them.
func star(text string) bool {
	for element := range strings.SplitSeq(text, ",") {
		base, step, _ := strings.Cut(element, "/")
		if (base == "*" || base == "?") && (step == "" || step == "1") {
			return true
		}
	}
	return false
}

// onDates describes a field of days of a month.
func onDates(text string) string {
	switch {
	case text == "?":
		return ""
	case text == "L":
		return "on the last day of the month"
	case text == "LW":
		return "on the last working day of the month"
	case strings.HasPrefix(text, "L-"):
		before, working := strings.CutSuffix(text[2:], "W")
		n, _ := strconv.Atoi(before)
		day := fmt.Sprintf("%d days before the last day of the month", n)
		if n == 1 {
			day = "1 day before the last day of the month"
		}
		if working {
			return "on the working day nearest to " + day
		}
		return day
	case strings.HasSuffix(text, "W"):
		return "on the working day nearest to day " + strings.TrimLeft(text[:len(text)-1], "0") + " of the month"
	}
	v := dates.list(text)
	if v.any() {
		return ""
	}
	if n, is := v.every(); is {
		return "on every " + ordinal(n) + " day of the month from day 1 on"
	}
	return "on " + v.counted() + " of the month"
}

// rank names the k-th weekday of a month.
var rank = []string{"", "first", "second", "third", "fourth", "fifth"}

// onWeekdays describes a field of days of a week.
func (d dialect) onWeekdays(text string) string {
	name := func(day string) string { return values{unit: d.weekdays}.name(d.weekdays.value(day)) }
	switch {
	case text == "?":
		return ""
	case text == "L":
		return "on Saturday"
	case strings.Contains(text, "#"):
		day, k, _ := strings.Cut(text, "#")
		n, _ := strconv.Atoi(k)
		return fmt.Sprintf("on the %s %s of the month", rank[min(n, len(rank)-1)], name(day))
	case len(text) > 1 && strings.HasSuffix(text, "L") && !strings.Contains(text, ","):
		return "on the last " + name(text[:len(text)-1]) + " of the month"
	}
	v := d.weekdays.list(text)
	if v.any() {
		return ""
	}
	return v.in("on ", "on every %s weekday")
}
