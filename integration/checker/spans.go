package checker

import (
	"slices"
	"time"
)

// span is a stretch of time, its ends included.
type span struct{ from, until time.Time }

// spans are in ascending order and do not touch each other once they went through merge.
type spans []span

// merge returns the same times as spans in order.
func (s spans) merge() spans {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b span) int { return a.from.Compare(b.from) })
	var merged spans
	for _, next := range s {
		last := len(merged) - 1
		switch {
		case next.until.Before(next.from):
		case last >= 0 && !next.from.After(merged[last].until):
			if next.until.After(merged[last].until) {
				merged[last].until = next.until
			}
		default:
			merged = append(merged, next)
		}
	}
	return merged
}

// and returns the times that lie in both.
func (s spans) and(others spans) spans {
	var both spans
	for _, a := range s {
		for _, b := range others {
			from, until := a.from, a.until
			if b.from.After(from) {
				from = b.from
			}
			if b.until.Before(until) {
				until = b.until
			}
			if !until.Before(from) {
				both = append(both, span{from, until})
			}
		}
	}
	return both.merge()
}

// covers tells whether a moment lies in one of the spans.
func (s spans) covers(t time.Time) bool {
	return slices.ContainsFunc(s, func(x span) bool { return !t.Before(x.from) && !t.After(x.until) })
}

// gap returns the first moment from from on and before until that no span covers.
func (s spans) gap(from, until time.Time) (time.Time, bool) {
	for _, x := range s {
		if !x.from.After(from) && !x.until.Before(from) {
			from = x.until.Add(time.Nanosecond)
		}
	}
	return from, from.Before(until)
}

// firstGap returns the first moment of others that none of the spans covers.
func (s spans) firstGap(others spans) (time.Time, bool) {
	for _, x := range others {
		if at, found := s.gap(x.from, x.until); found {
			return at, true
		}
	}
	return time.Time{}, false
}

// touches tells whether some moment from from to until lies in one of the spans.
func (s spans) touches(from, until time.Time) bool {
	return slices.ContainsFunc(s, func(x span) bool { return !until.Before(x.from) && !from.After(x.until) })
}

// room returns the first moment, from from on, after which none of the spans, which are in order, lies for
// so long, before until.
func (s spans) room(from, until time.Time, long time.Duration) (time.Time, bool) {
	for _, x := range s {
		if x.until.Before(from) {
			continue
		}
		if x.from.Sub(from) > long {
			break
		}
		from = x.until.Add(time.Nanosecond)
	}
	return from, until.Sub(from) > long
}

// outside returns the times from one to another that none of the spans, which are in order, covers.
func (s spans) outside(from, until time.Time) spans {
	rest := spans{{from, until}}
	for _, x := range s {
		rest = rest.without(x)
	}
	return rest
}

// except returns the times of the spans that none of the others covers.
func (s spans) except(others spans) spans {
	for _, x := range others {
		s = s.without(x)
	}
	return s
}
