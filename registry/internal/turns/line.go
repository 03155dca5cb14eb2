// Package turns keeps what waits to be sent in the order of its turns, for the backends.
package turns

import "github.com/elasticron/elasticron/registry"

// Line is what waits, in the order in which it is to go: by rank, in each rank the shares in turn, in
// each share by arrival. The zero Line is empty. It is for use by one goroutine at a time.
type Line[T any] struct {
	ranks [registry.Ranks]ring[T]
	n     int
}

// ring is what waits of one rank.
type ring[T any] struct {
	turn   []string // the shares that have something waiting, the next one first
	shares map[string]*share[T]
}

// share is what waits of one share, from head on.
type share[T any] struct {
	waiting []T
	head    int
}

// Len returns how many wait.
func (l *Line[T]) Len() int { return l.n }

// Add puts one at the end of its share.
func (l *Line[T]) Add(turn registry.Turn, v T) {
	r := l.rank(turn)
	s := r.share(turn.Share)
	if s.empty() {
		r.turn = append(r.turn, turn.Share)
	}
	s.waiting = append(s.waiting, v)
	l.n++
}

// Return puts one back that was taken: it goes before all others of its rank.
func (l *Line[T]) Return(turn registry.Turn, v T) {
	r := l.rank(turn)
	s := r.share(turn.Share)
	switch {
	case s.empty():
		r.turn = append([]string{turn.Share}, r.turn...)
	case r.turn[0] != turn.Share:
		r.turn = append([]string{turn.Share}, remove(r.turn, turn.Share)...)
	}
	if s.head > 0 { // as it is if one was taken
		s.head--
		s.waiting[s.head] = v
	} else {
		s.waiting = append([]T{v}, s.waiting...)
	}
	l.n++
}

// Take takes the next one out. It is false if there is none.
func (l *Line[T]) Take() (v T, ok bool) {
	for i := range l.ranks {
		r := &l.ranks[i]
		if len(r.turn) == 0 {
			continue
		}
		l.n--
		return r.take(), true
	}
	return v, false
}

func (r *ring[T]) take() T {
	name := r.turn[0]
	r.turn = r.turn[1:]
	s := r.shares[name]
	v := s.waiting[s.head]
	var none T
	s.waiting[s.head] = none
	s.head++
	if s.empty() {
		delete(r.shares, name)
	} else {
		r.turn = append(r.turn, name)
	}
	return v
}

func (s *share[T]) empty() bool { return s.head == len(s.waiting) }

func (l *Line[T]) rank(turn registry.Turn) *ring[T] {
	return &l.ranks[min(int(turn.Rank), registry.Ranks-1)]
}

func (r *ring[T]) share(name string) *share[T] {
	s := r.shares[name]
	if s == nil {
		s = new(share[T])
		if r.shares == nil {
			r.shares = make(map[string]*share[T])
		}
		r.shares[name] = s
	}
	return s
}

// remove returns a copy without the name.
func remove(names []string, name string) []string {
	kept := make([]string, 0, len(names))
	for _, n := range names {
		if n != name {
			kept = append(kept, n)
		}
	}
	return kept
}
