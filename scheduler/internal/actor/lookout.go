package actor

import "slices"

// Lookout collects items that have to be looked at, so that a large job is not searched after every
// small change. The zero Lookout has none.
type Lookout struct {
	all bool
	// items has those that were noted, some perhaps more than once: every step of a view notes what it touched in
	// several lookouts, and nothing is as cheap as to append.
	items []int
}

// Note adds items and, if all is true, all there are: what a step of a view has touched.
func (l *Lookout) Note(items []int, all bool) {
	l.Add(items...)
	l.all = l.all || all
}

// AddAll adds all items that there are.
func (l *Lookout) AddAll() { l.all = true }

// Add adds items.
func (l *Lookout) Add(items ...int) {
	if len(l.items)+len(items) > cap(l.items) {
		l.tidy() // so that what is noted again and again takes no more room
	}
	l.items = append(l.items, items...)
}

// Empty tells whether nothing is noted.
func (l *Lookout) Empty() bool { return !l.all && len(l.items) == 0 }

// tidy leaves each item once, in ascending order.
func (l *Lookout) tidy() {
	if !slices.IsSorted(l.items) {
		slices.Sort(l.items)
	}
	l.items = slices.Compact(l.items)
}

// TakeNoted returns what was noted, and forgets it: that all items are, or else some, in ascending order.
func (l *Lookout) TakeNoted() (all bool, items []int) {
	l.tidy()
	noted := *l
	*l = Lookout{}
	return noted.all, noted.items
}

// Take returns the noted items in ascending order, and forgets them. total is how many items the job has.
func (l *Lookout) Take(total int) []int {
	if l.Empty() {
		return nil
	}
	all, items := l.TakeNoted()
	if !all {
		return items
	}
	items = make([]int, total)
	for n := range items {
		items[n] = n
	}
	return items
}
