package rounds

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	// leastStride is how many may begin together whatever was refused: so few make no round long.
	leastStride = 16
	// longRound is how long a round must have waited for its answers for so many together to be too many.
	longRound = 500 * time.Millisecond
	// strideGrows says that a stride grows by the fourth part of it.
	strideGrows = 4
	// strideLasts is how long after the last such round there is no bound any more.
	strideLasts = 30 * time.Second
)

// stride bounds how many items of a job may begin together; nil is no bound.
//
// What waits in the store when the job's settings are changed, or its items move, is refused: it was decided by what was
// before. Where the store takes seconds for a round, and changes come as often, each round would be carried out, and refused,
// for nothing, and no item would run for as long as that lasts. So a long round that was refused for the most part has half as
// many follow it, and one that left some to the next one, and was confirmed for the most part, has a few more.
type stride struct {
	most    int
	refused time.Time // when a round was that called for fewer
}

// ended fits the stride to how a round went: how many begins the store has confirmed, and refused because something had
// changed, how long that took, and whether more were left to the next round. It returns the stride of that one.
func (s *stride) ended(confirmed, refused int, took time.Duration, left bool) *stride {
	answered, enough := confirmed+refused, leastStride // fewer say nothing of as many as may be
	if s != nil {
		enough = max(enough, s.most/2)
	}
	switch {
	case took > longRound && refused >= confirmed && answered > enough:
		return &stride{most: max(leastStride, answered/2), refused: time.Now()}
	case s != nil && left && confirmed > 0 && refused <= confirmed/strideGrows:
		s.most += s.most / strideGrows
	}
	return s
}

// full tells whether a round with so many begins has as many as it may have.
func (s *stride) full(begins int) bool { return s != nil && begins >= s.most }

// over tells whether a job of so many items needs the bound no more.
func (s *stride) over(items int) bool {
	return s != nil && (s.most >= items || time.Since(s.refused) > strideLasts)
}

// answers is what became of the begins of a round.
type answers struct {
	confirmed int
	refused   int  // as something had changed meanwhile
	awaited   bool // of some that were refused, something else tells when to decide again
}

// refuse takes in that a begin was refused. Nothing is over by that: it is decided again.
func (a *answers) refuse(err error) (over bool) {
	if errors.Is(err, registry.ErrConflict) {
		a.refused++
	}
	a.awaited = a.awaited || !errors.Is(err, registry.ErrNotSent) && !room.Hopeless(err)
	return false
}

// leaveToNext leaves an item to the round after this one, which begins with the first that was left: a change has all items
// looked at anew, and it would always be the same ones that are left.
func (r *Rounds) leaveToNext(round *Round, it *item) {
	if !round.left {
		r.lead = int32(it.number)
	}
	round.left = true
	r.toConsider.Add(it.number)
}

// strideOn fits the stride to a round that is over, and has another one follow for what that has left. If nothing of it has
// begun, that would but come to the same: it follows when what was in the way is known, or some time has passed.
func (r *Rounds) strideOn(round *Round) {
	a := round.answers
	r.stride = r.stride.ended(a.confirmed, a.refused, time.Since(round.decided), round.left)
	if round.left && (a.confirmed > 0 || !a.awaited) {
		r.ports.DecideAgain()
	}
}
