package cronexpr

import "time"

// wall is a reading of a wall clock that knows no zones: the seconds since 1970-01-01 00:00:00 on
// that clock. Arithmetic on it is plain; what a reading means as an instant is the zone's affair.
type wall int64

const (
	secondsPerDay  = 24 * 60 * 60
	secondsPerHour = 60 * 60

	// maxGapYears is the longest that any expression can pause: until the next 29 February that is a
	// certain weekday, over a century that is no leap year.
	maxGapYears = 40
)

// calendar holds the fields of an expression: which readings of a wall clock match it.
type calendar struct {
	seconds, minutes uint64 // bit n = n
	hours            uint32 // bit n = n
	months           uint16 // bit n = month n
	anyYear          bool
	days             dayRule
	years            valueSet // bit n = firstYear + n, unless anyYear
}

// next returns the first match at from or later, with an hour out of hours. It is a small search by
// fields, which ends after maxGapYears.
func (c *calendar) next(from wall, hours uint32) (wall, bool) {
	if hours == 0 {
		return 0, false
	}
	day := floorDiv(int64(from), secondsPerDay)
	second := int(int64(from) - day*secondsPerDay)
	match, ok := c.nextDay(day)
	if ok && match == day {
		if at, ok := c.nextInDay(second, hours); ok {
			return wall(day*secondsPerDay + int64(at)), true
		}
		match, ok = c.nextDay(day + 1)
	}
	return wall(match*secondsPerDay + int64(c.firstInHour(bitFrom(uint64(hours), 0)))), ok
}

// nextInDay returns the first match at second or later of one day, in seconds since its midnight.
func (c *calendar) nextInDay(second int, hours uint32) (int, bool) {
	hour, minute := second/secondsPerHour, second/60%60
	if hours>>hour&1 != 0 {
		if c.minutes>>minute&1 != 0 {
			if s := bitFrom(c.seconds, second%60); s < 64 {
				return hour*secondsPerHour + minute*60 + s, true
			}
		}
		if m := bitFrom(c.minutes, minute+1); m < 64 {
			return hour*secondsPerHour + m*60 + bitFrom(c.seconds, 0), true
		}
	}
	if h := bitFrom(uint64(hours), hour+1); h < 64 {
		return c.firstInHour(h), true
	}
	return 0, false
}

// firstInHour returns the first match of the hour, in seconds since midnight.
func (c *calendar) firstInHour(hour int) int {
	return hour*secondsPerHour + bitFrom(c.minutes, 0)*60 + bitFrom(c.seconds, 0)
}

// nextDay returns the first matching day at from or later, in days since the Unix epoch.
func (c *calendar) nextDay(from int64) (int64, bool) {
	y, m, d := dateOf(from)
	for last := min(y+maxGapYears, maxYear); ; {
		matching := c.nextYear(y)
		if matching < 0 || c.anyYear && matching > last {
			return 0, false
		}
		if matching != y {
			y, m, d = matching, 1, 1
		}
		if matching, ok := c.nextInYear(y, m, d); ok {
			return matching, true
		}
		y, m, d = y+1, 1, 1
	}
}

// nextInYear returns the first matching day of the year at month m, day d or later.
func (c *calendar) nextInYear(year, m, d int) (int64, bool) {
	for number := bitFrom(uint64(c.months), m); number < 64; number = bitFrom(uint64(c.months), number+1) {
		month := monthOf(year, number)
		if number > m {
			d = 1
		}
		if c.passesOver(year, number, month) {
			continue
		}
		if day := bitFrom(uint64(c.days.in(month)), d); day < 64 {
			return month.first + int64(day-1), true
		}
	}
	return 0, false
}

// nextYear returns the first matching year at from or later, or -1.
func (c *calendar) nextYear(from int) int {
	if c.anyYear {
		return from
	}
	if year := c.years.from(max(from-firstYear, 0)); year >= 0 {
		return firstYear + year
	}
	return -1
}

// dateOf returns the date of a day, in days since the Unix epoch.
func dateOf(day int64) (year, month, date int) {
	y, m, d := time.Unix(day*secondsPerDay, 0).UTC().Date()
	return y, int(m), d
}

// floorDiv divides, and rounds down also below 0.
func floorDiv(a, b int64) int64 {
	if q := a / b; q*b <= a {
		return q
	}
	return a/b - 1
}
