package scheduler

import (
	"iter"
	"maps"
)

// lookout collects items that have to be looked at, so that a large job is not searched after every
// small change. The zero lookout has none.
type lookout struct {
	all   bool
	items map[int]struct{}
}

// note adds items, or all there are.
func (l *lookout) note(items []int, all bool) {
	l.all = l.all || all
	if l.items == nil && len(items) > 0 {
		l.items = make(map[int]struct{})
	}
	for _, n := range items {
		l.items[n] = struct{}{}
	}
}

// take yields what was noted and forgets it. total is how many items there are.
func (l *lookout) take(total int) iter.Seq[int] {
	noted := *l
	*l = lookout{}
	if !noted.all {
		return maps.Keys(noted.items)
	}
	return func(yield func(int) bool) {
		for n := range total {
			if !yield(n) {
				return
			}
		}
	}
}
