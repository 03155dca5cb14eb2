package operate

import "slices"

// best keeps the first so many of what it is given, as a stable sort of everything would have them, without keeping
// everything.
type best[T any] struct {
	most  int
	order func(a, b T) int
	kept  []T
	full  bool // kept[:most] are sorted, and whatever does not come before the last of them is not among the best
}

// add offers one more.
func (b *best[T]) add(v T) {
	if b.most <= 0 || b.full && b.order(v, b.kept[b.most-1]) >= 0 {
		return
	}
	b.kept = append(b.kept, v)
	if len(b.kept) >= 2*b.most {
		b.cut()
	}
}

// worst returns the last of the best so far, and false as long as anything is among them: what does not come before it
// is not. It need not be given to add.
func (b *best[T]) worst() (last T, full bool) {
	if b.full {
		last = b.kept[b.most-1]
	}
	return last, b.full
}

func (b *best[T]) cut() {
	slices.SortStableFunc(b.kept, b.order)
	if len(b.kept) > b.most {
		clear(b.kept[b.most:])
		b.kept = b.kept[:b.most]
	}
	b.full = len(b.kept) == b.most
}

// sorted returns the best, in order.
func (b *best[T]) sorted() []T {
	if b.most > 0 {
		b.cut()
	}
	return b.kept
}
