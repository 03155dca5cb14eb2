package cronexpr

import (
	"math/bits"
	"time"
)

// Quartz has nW fire in a month that has no day n if it ends on a Friday and n would be the Saturday
// after it: 29W on Friday, 28 February 2025. But it only does so if it comes to the month by the days
// before, or because the month field leaves out the month before. From a working day earlier in the month
// before, it looks for day n of the next month, and that is in the month after it. So 29W fires in
// February 2025 if that is asked for in February, and not if it is asked for after the fire of
// 29 January. We do the same, so that processes of both kinds agree.

// entry says how a search has come to its months.
type entry struct {
	chained bool  // by the fires before, all of them from the first on
	first   int64 // the first day of the month of that first fire, which whoever asked came to otherwise
	skipped int64 // the first day of a month that it must not fire in by that exception; 0 = none
}

// hangs tells whether it matters to the days of the rule from when they are asked for.
func (r dayRule) hangs() bool { return r.kind == nearestWeekday && r.n > 28 }

// passesOver tells whether Quartz passes over a month though its days have a match.
func (c *calendar) passesOver(year, number int, m month) bool {
	if !c.days.hangs() || int(c.days.n) != m.length+1 {
		return false
	}
	if c.entry.skipped != 0 {
		return m.first == c.entry.skipped
	}
	if !c.entry.chained || m.first == c.entry.first || number == 1 || c.months>>(number-1)&1 == 0 {
		return false
	}
	before := monthOf(year, number-1)
	return bits.Len32(c.days.in(before))-1 < before.length // it did not fire on its last day
}

// askedAt returns the schedule as one sees it who asks at an instant.
func (s *fieldSchedule) askedAt(after int64) *fieldSchedule {
	shown, day := s.shown(after + 1)
	if _, ok := s.calendar.nextInDay(int(shown-day*secondsPerDay), s.calendar.hours); !ok {
		day++
	}
	year, number, date := dateOf(day)
	fire := bits.Len32(s.calendar.days.in(monthOf(year, number))) - 1
	asked := *s
	asked.calendar.entry = entry{}
	if fire > 0 && fire < date {
		asked.calendar.entry.skipped = monthOf(year, number+1).first
	}
	return &asked
}

// shown returns what the wall clock of the schedule shows at an instant, and the day of that.
func (s *fieldSchedule) shown(at int64) (seconds, day int64) {
	seconds = at + offsetAt(s.location, at)
	return seconds, floorDiv(seconds, secondsPerDay)
}

// chained returns the schedule of the fires that follow from a first one, each from the one before, whoever asks. Of most
// schedules those are all.
func chained(s Schedule, first time.Time) Schedule {
	switch of := s.(type) {
	case *windowSchedule:
		return &windowSchedule{Schedule: chained(of.Schedule, first), window: of.window}
	case *fieldSchedule:
		if of.calendar.days.hangs() {
			c := *of
			_, day := of.shown(first.Unix())
			year, number, _ := dateOf(day)
			c.calendar.entry = entry{chained: true, first: monthOf(year, number).first}
			return &c
		}
	}
	return s
}
