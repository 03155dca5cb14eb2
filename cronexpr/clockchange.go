package cronexpr

// first returns the first fire of the period at or after the instant at, or p.end or later if the
// period has none.
func (s *fieldSchedule) first(p period, at int64) int64 {
	if s.daylight == Quartz {
		return s.firstQuartz(p, at)
	}
	return s.firstNatural(p, at)
}

// firstQuartz leaves out what the clock skips, and the first pass of what it repeats: that is the
// end of a period after which the clock is moved back.
func (s *fieldSchedule) firstQuartz(p period, at int64) int64 {
	fire := s.match(s.calendar.hours, p.offset, at, p.end)
	if fire < p.end-maxOffset {
		return fire
	}
	if change := p.changeAtEnd(s.location); change < 0 && fire >= p.end+change {
		return p.end
	}
	return fire
}

// firstNatural finds everything that needs care at the beginning of a period, just after the clock
// was moved. The end of a period is as any other time.
func (s *fieldSchedule) firstNatural(p period, at int64) int64 {
	if at-p.start > maxOffset {
		return s.match(s.calendar.hours, p.offset, at, p.end)
	}
	change := p.changeAtStart(s.location)
	if change < 0 {
		// Until then the clock shows what it showed before the change.
		again := p.start - change
		return min(
			s.match(s.ticking, p.offset, at, again),
			s.match(s.calendar.hours, p.offset, max(at, again), p.end),
		)
	}
	return min(
		s.match(s.calendar.hours, p.offset, at, p.end),
		s.matchInGap(p, change, at),
	)
}

// matchInGap returns when to make up for the matches in the gap before the period: for those of
// ticking hours as long after the match before as if the clock had not been moved, for the others
// when the gap ends.
func (s *fieldSchedule) matchInGap(p period, change, at int64) int64 {
	before := p.offset - change
	moved := s.match(s.ticking, before, at, p.start+change)
	if at > p.start {
		return moved
	}
	fixed := s.match(s.calendar.hours&^s.ticking, before, p.start, p.start+change)
	if fixed < never {
		return p.start
	}
	return moved
}

// match returns the first instant in [at, until) at which a clock with the offset shows a match with
// an hour out of hours, or never.
func (s *fieldSchedule) match(hours uint32, offset, at, until int64) int64 {
	if at >= until {
		return never
	}
	shown, ok := s.calendar.next(wall(at+offset), hours)
	if fire := int64(shown) - offset; ok && fire < until {
		return fire
	}
	return never
}
