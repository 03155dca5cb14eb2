package cronexpr

import "time"

// maxYear bounds fires to those that RFC 3339 can write, and keeps sums far from overflowing.
const maxYear = 9999

// Fires are later than the first moment of the year 1 and earlier than pastYears, in UTC. Those are
// instants, whatever year a zone calls them: one that stood for another when it is asked from would be
// found again and again.
var (
	yearOne   = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)
	pastYears = time.Date(maxYear+1, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// bounded moves a time before the year 1 there, and reports false for one after maxYear.
func bounded(after time.Time) (time.Time, bool) {
	switch {
	case !after.Before(pastYears):
		return time.Time{}, false
	case after.Before(yearOne):
		return yearOne, true
	}
	return after, true
}
