package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// unit is what one field of an expression counts.
type unit struct {
	name     string // in the singular
	min, max int
	names    []string // of the values from min on; nil if they are numbers
}

var (
	seconds = unit{"second", 0, 59, nil}
	minutes = unit{"minute", 0, 59, nil}
	hours   = unit{"hour", 0, 23, nil}
	dates   = unit{"day", 1, 31, nil}
	years   = unit{"year", 1970, 2099, nil}
	months  = unit{"month", 1, 12, []string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
	}}
	weekNames = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// dialect says which number is Sunday.
type dialect struct{ weekdays unit }

var (
	unix   = dialect{unit{"weekday", 0, 6, weekNames}}
	quartz = dialect{unit{"weekday", 1, 7, weekNames}}
)

// span is the values from, from+step and so on up to to.
type span struct {
	from, to, step int
	open           bool // no end was named
}

// values is a field: what stands between its commas.
type values struct {
	unit  unit
	spans []span
}

// list reads a field that cronexpr has accepted.
func (u unit) list(text string) values {
	v := values{unit: u}
	for element := range strings.SplitSeq(text, ",") {
		v.spans = append(v.spans, u.span(element))
	}
	return v
}

func (u unit) span(element string) span {
	base, step, stepped := strings.Cut(element, "/")
	s := span{step: 1}
	low, high, isRange := strings.Cut(base, "-")
	switch {
	case base == "*" || base == "" || base == "?":
		s.from, s.to, s.open = u.min, u.max, true
	case isRange:
		s.from, s.to = u.value(low), u.value(high)
	default:
		s.from = u.value(low)
		s.to = s.from
		if stepped {
			s.to, s.open = u.max, true
		}
	}
	if stepped {
		s.step, _ = strconv.Atoi(step)
	}
	return s
}

func (u unit) value(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	for i, name := range u.names {
		if strings.HasPrefix(strings.ToUpper(name), text[:min(3, len(text))]) {
			return u.min + i
		}
	}
	return u.min
}

// any tells whether the field leaves nothing out.
func (v values) any() bool {
	return slices.ContainsFunc(v.spans, func(s span) bool { return s.step == 1 && s.from == v.unit.min && s.to == v.unit.max })
}

// every returns n if the field is every n-th value from the first on.
func (v values) every() (n int, is bool) {
	if len(v.spans) != 1 {
		return 0, false
	}
	s := v.spans[0]
	return s.step, s.open && s.step > 1 && s.from == v.unit.min
}

// only returns the single values of the field; false if it has others.
func (v values) only() (all []int, is bool) {
	for _, s := range v.spans {
		if s.step == 1 && s.from != s.to || s.step > 1 && (s.to < s.from || s.from+s.step <= s.to) {
			return nil, false
		}
		all = append(all, s.from)
	}
	slices.Sort(all)
	return slices.Compact(all), true
}

// zero tells whether the only value is 0.
func (v values) zero() bool {
	all, is := v.only()
	return is && len(all) == 1 && all[0] == 0
}

// in says which values, behind a word such as "in "; every n-th of all as a format with an ordinal says it.
func (v values) in(before, everyNth string) string {
	if n, is := v.every(); is {
		return fmt.Sprintf(everyNth, ordinal(n)) + " from " + v.name(v.unit.min) + " on"
	}
	if len(v.spans) == 1 && v.unit.names != nil && v.spans[0].from != v.spans[0].to && v.spans[0].step == 1 {
		return v.text(v.spans[0])
	}
	if n, is := v.stepped(); is {
		return before + "every " + ordinal(n) + " " + v.unit.name + " from " + v.name(v.spans[0].from) + " to " + v.name(v.spans[0].to)
	}
	return before + v.listed()
}

// stepped returns n if the field is every n-th value between two others.
func (v values) stepped() (n int, is bool) {
	if len(v.spans) != 1 {
		return 0, false
	}
	s := v.spans[0]
	return s.step, s.step > 1 && (s.to < s.from || s.from+s.step <= s.to)
}

// counted says the unit and the values: "minutes 1 and 5", "every 3rd minute from 2 to 59".
func (v values) counted() string {
	if _, is := v.stepped(); is {
		return v.in("", "")
	}
	return v.many() + " " + v.listed()
}

// listed says the values: "1, 5 to 7 and 9".
func (v values) listed() string {
	var all []string
	for _, s := range v.spans {
		all = append(all, strings.TrimPrefix(v.text(s), "from "))
	}
	return joined(all)
}

// text says the values of a span.
func (v values) text(s span) string {
	switch {
	case s.step > 1 && s.from+s.step > s.to && s.to >= s.from, s.from == s.to:
		return v.name(s.from)
	case s.step > 1:
		return fmt.Sprintf("every %s from %s to %s", ordinal(s.step), v.name(s.from), v.name(s.to))
	default:
		return "from " + v.name(s.from) + " to " + v.name(s.to)
	}
}

func (v values) name(n int) string {
	if v.unit.names != nil {
		return v.unit.names[(n-v.unit.min)%len(v.unit.names)]
	}
	return strconv.Itoa(n)
}

// many returns the unit in the number that fits.
func (v values) many() string {
	if all, is := v.only(); is && len(all) == 1 {
		return v.unit.name
	}
	return v.unit.name + "s"
}

// joined puts "and" before the last.
func joined(all []string) string {
	last := len(all) - 1
	if last <= 0 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// ordinal returns 2nd, 3rd, 11th and so on.
func ordinal(n int) string {
	end := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		end = "st"
	case n%10 == 2:
		end = "nd"
	case n%10 == 3:
		end = "rd"
	}
	return strconv.Itoa(n) + end
}
