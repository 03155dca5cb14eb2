package cronexpr

import (
	"math"
	"time"
)

// maxOffset is more than any zone is away from UTC, and more than any change of a clock.
const maxOffset = 26 * secondsPerHour

// period is a stretch of time in which a zone keeps one offset from UTC. The instants are Unix
// seconds; end belongs to the next period.
type period struct {
	start, end int64
	offset     int64 // wall clock less UTC
}

const (
	beginningOfTime = math.MinInt64 / 2 // halved, to leave room for sums
	endOfTime       = math.MaxInt64 / 2
	never           = math.MaxInt64
)

// periodAt returns the period of loc that at lies in.
func periodAt(loc *time.Location, at int64) period {
	if loc == time.UTC {
		return period{start: beginningOfTime, end: endOfTime}
	}
	t := time.Unix(at, 0).In(loc)
	p := period{start: beginningOfTime, end: endOfTime, offset: offsetAt(loc, at)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = start.Unix()
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	if p.end <= at {
		// Package time cuts periods at the end of a year that it takes to have 365 days, and on the last
		// day of a leap year it names that end, which has passed. No clock is changed on that day.
		p.end = at - at%secondsPerDay + secondsPerDay
	}
	return p
}

func offsetAt(loc *time.Location, at int64) int64 {
	_, offset := time.Unix(at, 0).In(loc).Zone()
	return int64(offset)
}

// changeAtStart returns by how much the clock was moved when the period began: forward if positive.
func (p period) changeAtStart(loc *time.Location) int64 {
	if p.start == beginningOfTime {
		return 0
	}
	return p.offset - offsetAt(loc, p.start-1)
}

// changeAtEnd is the same for the end of the period.
func (p period) changeAtEnd(loc *time.Location) int64 {
	if p.end == endOfTime {
		return 0
	}
	return offsetAt(loc, p.end) - p.offset
}
