package cronexpr

import (
	"iter"
	"time"
)

// Upcoming gives the fires of s later than after, in order, until there are no more. A loop over it
// may go on for ever; leave it by break.
func Upcoming(s Schedule, after time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for fire := s.Next(after); !fire.IsZero() && yield(fire); {
			fire = s.Next(fire)
		}
	}
}

// Between gives the fires of s later than after and not later than until, in order. It costs one
// call of Next for each; to have only the newest, use [Last].
func Between(s Schedule, after, until time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for fire := range Upcoming(s, after) {
			if fire.After(until) || !yield(fire) {
				return
			}
		}
	}
}

// NeverAfter reports whether s has no fire later than t: its years are over, or its fields describe
// a day that no calendar has.
func NeverAfter(s Schedule, t time.Time) bool {
	return s.Next(t).IsZero()
}

// Last returns the newest fire of s that is later than after and not later than until, or the zero
// time if there is none. This is what stands for all the fires that were missed while nobody could
// run them. It takes at most some hundred calls of Next, whatever lies between the two times, since
// it searches by halving.
func Last(s Schedule, after, until time.Time) time.Time {
	newest := s.Next(after)
	if newest.IsZero() || newest.After(until) {
		return time.Time{}
	}
	newest, empty := stepBack(s, newest, until)
	// From here on, newest is a fire and none lies later than empty and up to until.
	for {
		following := s.Next(newest)
		if following.IsZero() || following.After(until) {
			return newest
		}
		newest = following
		if middle := newest.Add(empty.Sub(newest) / 2); middle.After(newest) {
			if fire := s.Next(middle); fire.IsZero() || fire.After(until) {
				empty = middle
			} else {
				newest = fire
			}
		}
	}
}

// stepBack looks for fires from until backwards, in steps that double. It returns a fire not later
// than until, which is oldest if it found none, and a time after which there is none up to until.
func stepBack(s Schedule, oldest, until time.Time) (fire, empty time.Time) {
	empty = until
	for step := time.Second; step > 0; step *= 2 {
		from := until.Add(-step)
		if !from.After(oldest) {
			break
		}
		if fire := s.Next(from); !fire.IsZero() && !fire.After(until) {
			return fire, empty
		}
		empty = from
	}
	return oldest, empty
}
