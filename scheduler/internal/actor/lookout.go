package actor

import (
	"iter"
	"slices"
)

// Lookout collects items that have to be looked at, so that a large job is not searched after every
// small change. The zero Lookout has none.
type Lookout struct {
	all bool
	// items has those that were noted, some perhaps more than once: every step of a view notes what it touched in
	// several lookouts, and nothing is as cheap as to append.
	items []int
}

// Note adds items, or all there are.
func (l *Lookout) Note(items []int, all bool) {
	l.all = l.all || all
	if len(l.items)+len(items) > cap(l.items) && len(l.items) > 0 { // what is noted again and again must not grow
		l.items = distinct(l.items)
	}
	l.items = append(l.items, items...)
}

// TakeNoted returns what was noted, in ascending order, and forgets it: all items, or some.
func (l *Lookout) TakeNoted() (all bool, items iter.Seq[int]) {
	noted := *l
	*l = Lookout{}
	if len(noted.items) == 0 { // as it is most often
		return noted.all, none
	}
	return noted.all, slices.Values(distinct(noted.items))
}

func none(func(int) bool) {}

// distinct puts items in order, each once, in their own place.
func distinct(items []int) []int {
	if !slices.IsSorted(items) {
		slices.Sort(items)
	}
	return slices.Compact(items)
}

// Take yields what was noted, in ascending order, and forgets it. total is how many items there are.
func (l *Lookout) Take(total int) iter.Seq[int] {
	all, items := l.TakeNoted()
	if !all {
		return items
	}
	return func(yield func(int) bool) {
		for n := range total {
			if !yield(n) {
				return
			}
		}
	}
}
