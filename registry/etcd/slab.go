package etcd

// slab gives out parts of slices, so that many small things cost few allocations. What it gave out goes when all
// of it is unused. The zero slab is ready.
type slab[T any] struct {
	free []T
	size int // of the last slice
}

// The first slice is enough for a request of one commit, the largest ones are enough for most of a full request.
const (
	leastSlab   = 8
	largestSlab = 1 << 10
)

// reserve makes sure that n values in a row can be given out, and no more than that is wasted.
func (s *slab[T]) reserve(n int) {
	if n > len(s.free) {
		s.free = make([]T, n)
	}
}

// one gives out a zero value.
func (s *slab[T]) one() *T { return &s.take(1)[0] }

// take gives out n zero values in a row.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		s.size = min(max(2*s.size, leastSlab), largestSlab)
		s.free = make([]T, max(s.size, n))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}
