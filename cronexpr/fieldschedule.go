package cronexpr

import "time"

// fieldSchedule is a calendar on the wall clock of a location.
//
// Its fires are found period by period: within one, wall time and real time differ by a constant,
// so that the calendar's next match is the next fire. What a change of the clock does to the fires
// around it is said by firstNatural and firstQuartz, and nowhere else.
type fieldSchedule struct {
	expr     string
	location *time.Location
	calendar calendar
	ticking  uint32 // the hours that have a neighbour among the hours: bit n = n
	daylight DaylightSaving
}

func newFieldSchedule(expr string, c calendar, o options) *fieldSchedule {
	return &fieldSchedule{
		expr: expr, location: o.location, calendar: c,
		ticking: neighboured(c.hours), daylight: o.daylight,
	}
}

// neighboured returns those of the hours whose hour before or after is one of them too; 23 and 0 are
// neighbours.
func neighboured(hours uint32) uint32 {
	const day = 1<<24 - 1
	before := hours<<1&day | hours>>23
	after := hours>>1 | hours<<23&day
	return hours & (before | after)
}

func (s *fieldSchedule) String() string { return s.expr }

// Next implements [Schedule].
func (s *fieldSchedule) Next(after time.Time) time.Time {
	after, ok := bounded(after)
	if !ok {
		return time.Time{}
	}
	for at := after.Unix() + 1; ; {
		p := periodAt(s.location, at)
		if fire := s.first(p, at); fire < p.end {
			if fire >= pastYears.Unix() {
				return time.Time{}
			}
			return time.Unix(fire, 0).In(s.location)
		}
		if p.end == endOfTime {
			return time.Time{}
		}
		// Any later fire comes of a match that the clock shows after the period, give or take an offset.
		match, ok := s.calendar.next(wall(p.end-maxOffset), s.calendar.hours)
		if !ok {
			return time.Time{}
		}
		at = max(p.end, int64(match)-maxOffset)
	}
}
