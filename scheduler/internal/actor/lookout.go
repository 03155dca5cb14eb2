package actor

import (
	"iter"
	"maps"
)

// Lookout collects items that have to be looked at, so that a large job is not searched after every
// small change. The zero Lookout has none.
type Lookout struct {
	all   bool
	items map[int]struct{}
}

// Note adds items, or all there are.
func (l *Lookout) Note(items []int, all bool) {
	l.all = l.all || all
	if l.items == nil && len(items) > 0 {
		l.items = make(map[int]struct{})
	}
	for _, n := range items {
		l.items[n] = struct{}{}
	}
}

// TakeNoted returns what was noted, as it was, and forgets it: all items, or some.
func (l *Lookout) TakeNoted() (all bool, items iter.Seq[int]) {
	noted := *l
	*l = Lookout{}
	return noted.all, maps.Keys(noted.items)
}

// Take yields what was noted and forgets it. total is how many items there are.
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
