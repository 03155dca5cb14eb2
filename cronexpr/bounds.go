package cronexpr

import "time"

// maxYear bounds fires to those that RFC 3339 can write, and keeps sums far from overflowing.
const maxYear = 9999

var yearOne = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)

// bounded moves a time before the year 1 there, and reports false for one after maxYear.
func bounded(after time.Time) (time.Time, bool) {
	switch year := after.Year(); {
	case year > maxYear:
		return time.Time{}, false
	case year < 1:
		return yearOne, true
	}
	return after, true
}
