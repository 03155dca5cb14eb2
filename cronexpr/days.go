package cronexpr

import (
	"math/bits"
	"time"
)

// dayKind says which of a dayRule's data picks the days of a month.
type dayKind uint8

const (
	unspecified           dayKind = iota
	onDates                       // dates
	onWeekdays                    // weekdays
	onEither                      // dates or weekdays, as Unix cron does if both are given
	fromEnd                       // the day n days before the last
	nearestWeekday                // the Monday to Friday nearest to day n, in the same month
	nearestWeekdayFromEnd         // the same for the day n days before the last
	nthWeekday                    // the n-th of the one weekday
	lastWeekday                   // the last of the one weekday
)

// dayRule picks days of a month.
type dayRule struct {
	dates    uint32 // bit n = day n
	weekdays uint8  // bit n = weekday n, Sunday being 0
	kind     dayKind
	n        uint8
}

// month is a month of a certain year.
type month struct {
	first   int64 // its first day, in days since the Unix epoch
	length  int
	weekday int // of the first day, Sunday being 0
}

func monthOf(year, number int) month {
	first := time.Date(year, time.Month(number), 1, 0, 0, 0, 0, time.UTC)
	day := first.Unix() / secondsPerDay
	next := time.Date(year, time.Month(number+1), 1, 0, 0, 0, 0, time.UTC)
	return month{first: day, length: int(next.Unix()/secondsPerDay - day), weekday: int(first.Weekday())}
}

// in returns the days of m that the rule picks: bit n = day n.
func (r dayRule) in(m month) uint32 {
	switch r.kind {
	case onDates:
		return r.dates & m.all()
	case onWeekdays:
		return m.on(r.weekdays)
	case onEither:
		return r.dates&m.all() | m.on(r.weekdays)
	case fromEnd:
		return m.day(m.length - int(r.n))
	case nearestWeekday:
		return m.nearest(int(r.n))
	case nearestWeekdayFromEnd:
		return m.nearest(m.length - int(r.n))
	case nthWeekday:
		return nthBit(m.on(r.weekdays), int(r.n))
	case lastWeekday:
		return lastBit(m.on(r.weekdays))
	}
	return 0
}

// all has a bit for each day of the month.
func (m month) all() uint32 { return 1<<(m.length+1) - 2 }

// day has a bit for day n, if the month has it.
func (m month) day(n int) uint32 {
	if n < 1 || n > m.length {
		return 0
	}
	return 1 << n
}

// on has a bit for each day of the month that is one of the weekdays.
func (m month) on(weekdays uint8) uint32 {
	week := uint64(weekdays) | uint64(weekdays)<<7 // two weeks, to take out one that starts on the first
	week = week >> m.weekday & (1<<7 - 1)
	return uint32((week|week<<7|week<<14|week<<21|week<<28)<<1) & m.all()
}

// nearest has a bit for the working day nearest to day n. It does not leave the month: from a
// Saturday the 1st it goes to Monday, from a Sunday that ends the month to Friday. A month without
// day n has none, with one exception, which is Quartz's: where the month ends on a Friday, the day
// after its last counts as the Saturday after it, so that 31W fires on Friday, 30 April 2021.
func (m month) nearest(n int) uint32 {
	if n < 1 || n > m.length+1 {
		return 0
	}
	switch time.Weekday((m.weekday + n - 1) % 7) {
	case time.Saturday:
		if n == 1 {
			return m.day(3)
		}
		return m.day(n - 1)
	case time.Sunday:
		if n == m.length {
			return m.day(n - 2)
		}
		return m.day(n + 1)
	}
	return m.day(n)
}

// nthBit keeps only the n-th lowest bit of set.
func nthBit(set uint32, n int) uint32 {
	for range n - 1 {
		set &= set - 1
	}
	return set & -set
}

// lastBit keeps only the highest bit of set, which must have one.
func lastBit(set uint32) uint32 {
	return 1 << (bits.Len32(set) - 1)
}
