package leadership

import (
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/scheduler/internal/asking"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/sharding"
)

// strategist asks an application's sharding strategies beside the runner. A strategy is a pure function,
// so an answer serves whoever has the same question when it comes: the runner looks again then, and asks
// anew if members or settings are others by now. But items without a live owner do not wait until members
// cease to come: see instead.
type strategist struct {
	asking.Asker
	strategy string // the name of the one that was asked last, and what
	request  sharding.Request

	open     bool  // the newest is to be answered
	late     error // and none has been in time
	answered bool
	answer   sharding.Assignment
	err      error
	gave     uint64 // tells the last answer, and of what; 0 = none
	turns    turns
}

// errFickle is the error of a strategy that is no function of its request: the items would move for ever.
var errFickle = errors.New("the strategy gives another answer each time that it is asked the same, and moves items for no reason")

// errCircle is the error of a strategy that never gets to where it wants the items.
var errCircle = errors.New("the strategy moves items in a circle: it wants again what it has just changed")

// turns are answers of which each follows from the one before alone. Whether one of them comes again is found out with one of
// them in mind, however long the circle is: after one, two, four … of them it is the newest.
type turns struct {
	mark     uint64
	n, until int
}

// back tells whether the answer has been given before; it is if answers go on like this.
func (t *turns) back(answer uint64) bool {
	if answer == t.mark {
		return true
	}
	if t.n++; t.n >= t.until {
		t.mark, t.n, t.until = answer, 0, max(1, 2*t.until)
	}
	return false
}

var seed = maphash.MakeSeed()

// tells is a number that stands for an assignment to these instances, by a strategy.
func tells(strategy string, r sharding.Request, assigned sharding.Assignment) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, all := range [][]string{{strategy}, r.Instances, assigned} {
		for _, text := range all {
			_, _ = h.WriteString(text)
			_ = h.WriteByte(0)
		}
		_ = h.WriteByte(1)
	}
	return max(1, h.Sum64())
}

// Strategy returns what gives the assignments of the job; its error, or that of the strategy, is peers.ErrAsked
// while the answer is to come.
func (l *Leadership) Strategy(v room.View) (sharding.Strategy, error) {
	name := v.Config.ShardingStrategy
	strategy, err := l.ports.Lookup(name)
	if err != nil || immediate(strategy) {
		return strategy, err
	}
	return sharding.StrategyFunc(func(request sharding.Request) (sharding.Assignment, error) {
		return l.askStrategy(name, strategy, request)
	}), nil
}

// immediate tells whether a strategy says that it returns at once. One that panics says no.
func immediate(strategy sharding.Strategy) bool {
	s, says := strategy.(interface{ Immediate() bool })
	if !says {
		return false
	}
	atOnce := false
	err := protect.Call(func() error {
		atOnce = s.Immediate()
		return nil
	})
	return err == nil && atOnce
}

// askStrategy returns the answer if it is there, and asks the strategy if it is not.
func (l *Leadership) askStrategy(name string, strategy sharding.Strategy, request sharding.Request) (sharding.Assignment, error) {
	if l.strategist == nil {
		l.strategist = &strategist{Asker: asking.Asker{For: questioner{l}}}
	}
	s := l.strategist
	if !s.open || s.strategy != name || !sameRequest(s.request, request) {
		s.strategy, s.request = name, copyOf(request)
		s.open, s.answered, s.late = true, false, nil
		l.callStrategy(strategy)
	}
	switch {
	case s.answered:
		s.open, s.request = false, sharding.Request{} // it is asked again for what comes
		return s.answer, s.err
	case s.late != nil:
		return nil, s.late
	default:
		return nil, peers.ErrAsked
	}
}

// callStrategy asks the strategy what is to be asked.
func (l *Leadership) callStrategy(strategy sharding.Strategy) {
	s := l.strategist
	name, request := s.strategy, s.request
	var answer sharding.Assignment
	own := s.gave != 0 && s.gave == tells(name, request, request.Current) // nothing has changed but what it wanted itself
	s.Ask(func() (err error) {
		answer, err = strategy.Assign(copyOf(request))
		if err != nil || !own || slices.Equal(answer, request.Current) {
			return err
		}
		again, err := strategy.Assign(copyOf(request))
		if err == nil && !slices.Equal(answer, again) {
			err = errFickle
		}
		return err
	}, func(anew bool) {
		s.late = asking.NotReturned("the strategy", anew)
		l.lookAtAssignment()
	}, func(newest bool, err error) {
		if !newest {
			if !s.open || s.answered || err != nil || s.strategy != name || !instead(request, s.request) {
				return
			}
			s.Drop() // what comes of this answer is asked about next
		}
		if err == nil {
			err = s.follow(tells(name, request, answer), own && !slices.Equal(answer, request.Current))
		}
		s.answered, s.answer, s.err = true, answer, err
		l.lookAtAssignment()
	})
}

// follow takes in an answer. further tells that it moves items for no reason but the answer before; else nothing is left of a
// circle, as items are where they are wanted, or something has changed.
func (s *strategist) follow(answer uint64, further bool) error {
	if !further {
		s.turns = turns{}
	}
	if s.turns.back(answer) {
		return errCircle
	}
	s.gave = answer
	return nil
}

// questioner asks strategies for the room.
type questioner struct{ *Leadership }

// Post implements [asking.Questioner].
func (q questioner) Post(message func()) bool { return q.ports.Post(message) }

// Again implements [asking.Questioner]: the strategy that could not be asked before is asked.
func (q questioner) Again() {
	q.strategist.open = false
	q.lookAtAssignment()
}

// lookAtAssignment makes the decision that follows look at the assignment.
func (l *Leadership) lookAtAssignment() {
	l.plan, l.since = true, time.Now().Add(-gatherFor)
	l.ports.Answered()
}

func sameRequest(a, b sharding.Request) bool {
	return a.Job == b.Job && a.Total == b.Total && slices.Equal(a.Instances, b.Instances) && slices.Equal(a.Current, b.Current)
}

// instead tells whether the answer to a former question is to be used before there is one to the newest: instances have only
// joined since, so each that it names lives, and there are items that none of them owns. These get their owners now, which is
// another assignment to ask about, and who has joined gets items by that.
func instead(former, newest sharding.Request) bool {
	joined := newest
	joined.Instances = former.Instances
	return sameRequest(former, joined) && within(former.Instances, newest.Instances) && !within(newest.Current, newest.Instances)
}

// within tells whether all of some are among instances.
func within(some, instances []string) bool {
	return !slices.ContainsFunc(some, func(id string) bool { return !slices.Contains(instances, id) })
}

func copyOf(r sharding.Request) sharding.Request {
	r.Instances, r.Current = slices.Clone(r.Instances), slices.Clone(r.Current)
	return r
}
