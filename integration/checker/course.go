package checker

import "time"

// course is how something changed over time: what it was from when on, in ascending order.
type course[T comparable] []shift[T]

type shift[T comparable] struct {
	from time.Time
	is   T
}

// note notes what something is from a moment on.
func (c *course[T]) note(from time.Time, is T) {
	if last := len(*c) - 1; last < 0 || (*c)[last].is != is {
		*c = append(*c, shift[T]{from, is})
	}
}

// between returns what something was at any moment from one time to another, in order. Before the first
// shift it was the zero T.
func (c course[T]) between(from, until time.Time) []T {
	var was T
	var all []T
	for _, s := range c {
		if s.from.After(until) {
			break
		}
		if s.from.After(from) {
			all = append(all, was)
		}
		was = s.is
	}
	return append(all, was)
}

// at returns what something was at a moment.
func (c course[T]) at(t time.Time) T { return c.between(t, t)[0] }

// when returns the times for which something was as asked for, until the end at last.
func (c course[T]) when(end time.Time, holds func(is T) bool) spans {
	var all spans
	for i, s := range c {
		if !holds(s.is) {
			continue
		}
		until := end
		if i+1 < len(c) {
			until = c[i+1].from
		}
		all = append(all, span{s.from, until})
	}
	return all.merge()
}
