package executions

import (
	"cmp"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// gatherEnds is how long the first of several ends waits for others, so that they share a request.
const gatherEnds = 2 * time.Millisecond

// Returned takes note that an execution is over whose code was not called, or was given up.
func (x *Executions) Returned(e *Execution, at time.Time, err error) {
	x.returned(e, at, err, e.cutBefore(err))
}

// returned takes note that an execution's code has returned, or was given up.
func (x *Executions) returned(e *Execution, at time.Time, err, cut error) {
	if e.returned {
		return // given up before
	}
	e.returned, e.ended, e.err, e.cut = true, at, err, cut
	if e.started {
		x.active--
	}
	e.leaveScope()
	x.ended = append(x.ended, e)
	if len(x.ended) == 1 && x.active > 0 {
		x.endsGather = true
		time.AfterFunc(gatherEnds, func() { x.ports.Post(func() { x.endsGather = false }) })
	}
}

// Ending is what one decision ends.
type Ending struct {
	late  int          // ends that were recorded under another session than they began under
	again []*Execution // whose ends are to be tried again
}

// Decide proposes to record the ends of executions whose code has returned, all in one request, each by itself. When
// that was committed, [Executions.Committed] goes on. The ending is nil if nothing is to be recorded.
func (x *Executions) Decide(v room.View) (*Ending, room.Batch) {
	ended := x.gathered(v)
	if len(ended) == 0 {
		return nil, nil
	}
	ending, batch := &Ending{}, make(room.Batch, 0, len(ended))
	for _, e := range ended {
		x.end(v, e, ending, &batch)
	}
	return ending, batch
}

// gathered returns the executions whose ends are to be recorded now (T5): once all have returned that run, or a
// moment after the first. Without a session they wait for the next one, under which they are recorded late:
// what has finished has finished, unless somebody declared it lost first.
func (x *Executions) gathered(v room.View) (batch []*Execution) {
	if len(x.ended) == 0 || x.endsGather && x.active > 0 {
		return nil
	}
	x.endsGather = false
	ended := x.ended
	x.ended = nil
	// Those that a lost session cancels return in one instant, in any order; their ends go in this one.
	slices.SortStableFunc(ended, func(a, b *Execution) int { return cmp.Compare(a.Item, b.Item) })
	for _, e := range ended {
		x.settleRest(v, e)
		switch {
		case !e.Monitored():
			x.close(e, registry.Outcome{})
		case e.pause != nil && e.pause == v.Attached && !x.abandoned:
			x.ended = append(x.ended, e)
		case v.Attached.Lasts():
			batch = append(batch, e)
		case x.abandoned || errors.Is(e.Under.Session.Err(), registry.ErrClosed): // no session comes any more
			x.close(e, registry.Outcome{Err: e.noSession()})
		default:
			x.ended = append(x.ended, e)
		}
	}
	return batch
}

// end proposes to record the end of an execution, unless what was read about a refusal of it tells how it went.
func (x *Executions) end(v room.View, e *Execution, ending *Ending, batch *room.Batch) {
	if e.refusal != nil {
		if o, over := x.judge(v, e); over {
			x.settle(v, e, o, ending)
			return
		}
	}
	disowned := x.disown(batch, e)
	txn := x.endTxn(v, e)
	if e.late != 0 || MarkGone(v, e) {
		txn = x.lateEndTxn(v, e, cmp.Or(e.late, e.Token))
	}
	settle := func(o registry.Outcome) { x.settle(v, e, o, ending) }
	*batch = append(*batch, room.Proposal{Step: "end", Txn: txn, Noted: true, Alone: disowned, Done: settle, Refused: func(err error) bool {
		settle(registry.Outcome{Err: err})
		return true
	}})
}

// settle takes in how an end went.
func (x *Executions) settle(v room.View, e *Execution, o registry.Outcome, ending *Ending) {
	switch {
	case x.lookInto(v, e, o):
		return // with what is found
	case room.Final(o.Err):
		if o.Err == nil && e.Under != v.Attached {
			ending.late++
		}
		x.close(e, o)
	case v.Attached.Lasts():
		e.refusal = nil
		x.ports.Tell(slog.LevelWarn, "end not recorded yet, will try again", o.Err, room.KeyItem, e.Item)
		e.pause = v.Attached
		x.ended, ending.again = append(x.ended, e), append(ending.again, e)
	case x.abandoned:
		x.close(e, o)
	default:
		e.refusal = nil
		x.ended = append(x.ended, e) // for the next session
	}
}

// Committed goes on when the ends have been committed.
func (x *Executions) Committed(ending *Ending) {
	if ending.late > 0 {
		x.ports.Log().InfoContext(x.ports.Life(), "recorded ends of executions that outlived their session", "items", ending.late)
	}
	if len(ending.again) > 0 { // no event may tell when they can be recorded
		time.AfterFunc(room.RetryAfter, func() {
			x.ports.Post(func() {
				for _, e := range ending.again {
					e.pause = nil
				}
			})
		})
	}
}

// Unrecorded yields the executions whose code returned before a time, and whose ends are still not recorded.
func (x *Executions) Unrecorded(before time.Time) iter.Seq2[*Execution, time.Time] {
	return func(yield func(*Execution, time.Time) bool) {
		for e := range x.rounds.All() {
			if e.returned && e.Monitored() && e.ended.Before(before) && !yield(e, e.ended) {
				return
			}
		}
	}
}

// EndsWait tells whether ends were refused and are to be tried again, are being looked into, or wait for a session.
func (x *Executions) EndsWait(v room.View) bool {
	return x.LookingInto() || slices.ContainsFunc(x.ended, func(e *Execution) bool {
		return e.pause != nil || e.Monitored() && v.Attached == nil
	})
}

// noSession tells why an end could not even be asked for.
func (e *Execution) noSession() error {
	if err := e.Under.Session.Err(); err != nil {
		return err
	}
	return stopping.ErrStopped
}
