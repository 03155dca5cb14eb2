// Package turns keeps what waits to be sent in the order of its turns, for the backends.
package turns

import (
	"container/list"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// together is how many of one share go before the next share's turn. What a job commits at once is then
// mostly in one request: it is answered at once, so the job goes on once, and it is about neighbouring
// nodes, which costs the store less. One by one, a store that is asked for more than it can do did a fifth
// less of it.
const together = 16

// backlogShare says how many go while some of the backlog waits, until one of that does: what is due, and checkpoints that
// are saved as fast as they are answered, may never come to an end.
const backlogShare = 4

// Line is what waits, in the order in which it is to go: by rank, but for the backlog's share, in each rank the shares in
// turn, a few of each, in each share by arrival. The zero Line is empty. It is for use by one goroutine at a time.
type Line[T any] struct {
	ranks  [registry.Ranks]ring[T]
	n      int
	passed int // how many went while the backlog waited
	left   int // how many have left since such were dropped
}

// ring is what waits of one rank. Beyond the store's capacity that may be thousands of shares, so nothing looks at all of
// them.
type ring[T any] struct {
	turn   list.List // of *share[T]: those that have something waiting, the next one first
	taken  int       // of the next one in its turn
	shares map[string]*share[T]
}

// share is what waits of one share, from head on.
type share[T any] struct {
	name    string
	place   *list.Element // in the ring
	waiting []T
	head    int
}

// Len returns how many wait.
func (l *Line[T]) Len() int { return l.n }

// Add puts one at the end of its share.
func (l *Line[T]) Add(turn registry.Turn, v T) {
	r := l.rank(turn)
	s := r.share(turn.Share)
	if s.place == nil {
		s.place = r.turn.PushBack(s)
	}
	s.waiting = append(s.waiting, v)
	l.n++
}

// Return puts one back that was taken: it goes before all others of its rank.
func (l *Line[T]) Return(turn registry.Turn, v T) {
	r := l.rank(turn)
	switch r {
	case &l.ranks[registry.RankWork]:
		l.passed = max(0, l.passed-1)
	case &l.ranks[registry.RankBacklog]:
		l.passed = backlogShare - 1
	}
	s := r.share(turn.Share)
	switch {
	case s.place == nil:
		s.place, r.taken = r.turn.PushFront(s), 0
	case r.turn.Front() != s.place:
		r.turn.MoveToFront(s.place)
		r.taken = 0
	default:
		r.taken = max(0, r.taken-1)
	}
	if s.head > 0 { // as it is if one was taken
		s.head--
		s.waiting[s.head] = v
	} else {
		s.waiting = append([]T{v}, s.waiting...)
	}
	l.n++
}

// Leave notes that one of those in the line, which gone tells of, waits no more. Its turn may never come, so all of the like
// are dropped when they are half of the line.
func (l *Line[T]) Leave(gone func(T) bool) {
	if l.left++; 2*l.left < l.n {
		return
	}
	l.left = 0
	for i := range l.ranks {
		l.n -= l.ranks[i].drop(gone)
	}
}

// Take takes the next one out. It is false if there is none.
func (l *Line[T]) Take() (v T, ok bool) {
	if l.n == 0 {
		return v, false
	}
	l.n--
	first, work, backlog := &l.ranks[registry.RankFirst], &l.ranks[registry.RankWork], &l.ranks[registry.RankBacklog]
	switch {
	case first.turn.Len() > 0: // what has begun ends, so it comes to an end
		return first.take(), true
	case work.turn.Len() > 0 && (backlog.turn.Len() == 0 || l.passed < backlogShare-1):
		if l.passed++; backlog.turn.Len() == 0 {
			l.passed = 0
		}
		return work.take(), true
	case backlog.turn.Len() > 0:
		l.passed = 0
		return backlog.take(), true
	default:
		return l.ranks[registry.RankLast].take(), true
	}
}

func (r *ring[T]) take() T {
	s := r.turn.Front().Value.(*share[T])
	v := s.waiting[s.head]
	var none T
	s.waiting[s.head] = none
	s.head++
	r.taken++
	switch {
	case s.head == len(s.waiting):
		r.remove(s)
	case r.taken >= together:
		r.turn.MoveToBack(s.place)
		r.taken = 0
	}
	return v
}

// remove takes a share out that has nothing waiting.
func (r *ring[T]) remove(s *share[T]) {
	if r.turn.Front() == s.place {
		r.taken = 0
	}
	delete(r.shares, s.name)
	r.turn.Remove(s.place)
}

// drop takes out those that gone tells of, and returns how many they were.
func (r *ring[T]) drop(gone func(T) bool) (n int) {
	for _, s := range r.shares {
		n += len(s.waiting) - s.head
		s.waiting, s.head = slices.DeleteFunc(s.waiting[s.head:], gone), 0
		if n -= len(s.waiting); len(s.waiting) == 0 {
			r.remove(s)
		}
	}
	return n
}

func (l *Line[T]) rank(turn registry.Turn) *ring[T] {
	return &l.ranks[min(int(turn.Rank), registry.Ranks-1)]
}

func (r *ring[T]) share(name string) *share[T] {
	s := r.shares[name]
	if s == nil {
		s = &share[T]{name: name}
		if r.shares == nil {
			r.shares = make(map[string]*share[T])
		}
		r.shares[name] = s
	}
	return s
}
