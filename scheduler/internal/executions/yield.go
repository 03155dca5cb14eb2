package executions

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// reshardingPatience is how long a resharding may be asked for before streams make room. One among
// instances of this kind takes much less and moves items whether or not they run. A leader that waits
// for running items, as Java's does, waits until they stop. One that does neither answers at once; then the peers tell.
const reshardingPatience = time.Second

// latePatience is how long what began while a resharding was late runs before it makes room for that, too. It would never get
// any further where no resharding comes at all, as of a job whose strategy is broken.
const latePatience = 30 * time.Second

// yielding tells executions to come to an end at their next good point. It looks at those that
// something happened to, and at all when that may concern all.
type yielding struct {
	noted    actor.Lookout
	askedFor time.Time // since when a resharding is asked for; zero = it is not
	late     bool      // longer than reshardingPatience
	leaving  bool      // all were told because the instance leaves, or is to
}

// TellYields closes the channels of executions that should come to an end.
func (x *Executions) TellYields(v room.View) {
	x.watchResharding(v)
	y := &x.yields
	if leaving := leaves(v); leaving != y.leaving {
		y.leaving = leaving
		if leaving {
			y.noted.AddAll()
		}
	}
	if x.active > 0 && x.ports.Peers().RoomsChange() {
		y.noted.AddAll()
	}
	all, items := y.noted.TakeNoted()
	if all {
		for e := range x.rounds.All() {
			x.tellYield(v, e)
		}
		return
	}
	for _, n := range items {
		x.tellYield(v, x.rounds.Of(n))
	}
}

func (x *Executions) tellYield(v room.View, e *Execution) {
	if e == nil {
		return
	}
	x.stopTaken(v, e)
	if e.yields || !x.mustYield(v, e) {
		return
	}
	if !e.started {
		x.undoMoved(v, e)
		return
	}
	e.yields, e.goes = true, x.goes(v, e)
	close(e.progress.yield)
}

// leaves tells whether this instance is on its way out of the job, which may have to wait for what runs here.
func leaves(v room.View) bool { return v.Leaving || v.BlindTooLong || v.Out }

// mustNotRun tells whether the item of an execution is not to run here, whoever owns it: the job pauses, or this server or the
// item is disabled, or the job has no such item any more.
func mustNotRun(v room.View, e *Execution) bool {
	return !v.Usable || !v.ServerEnabled() || v.State.Disabled(e.Item) || e.Item >= v.Config.ShardingTotalCount
}

// mustYield tells whether an execution should come to an end.
func (x *Executions) mustYield(v room.View, e *Execution) bool {
	return x.goes(v, e) || streamIsOff(v, e) || x.ports.Peers().MakesRoom(v, e.Item) || x.awaited(v, e)
}

// awaited tells whether an execution is to make room for a resharding that is late. What began when it was late already goes on
// for a while: leaders of this kind wait for nothing that runs. Others may.
func (x *Executions) awaited(v room.View, e *Execution) bool {
	y := &x.yields
	if !y.late || x.ports.Traits().Borrow || v.State.SharedWithJava() || e.since.Before(y.askedFor.Add(reshardingPatience)) {
		return y.late
	}
	left := latePatience - time.Since(e.since)
	if left > 0 {
		y.noted.Add(e.Item)
		x.ports.Wake(left)
	}
	return left <= 0
}

// goes tells whether the item of an execution is another's by now, or not to run here any more.
func (x *Executions) goes(v room.View, e *Execution) bool {
	moved := !v.Owns(e.Item) && (!x.ports.Traits().Borrow || e.Context.Source != job.Failover) // which may run what it does not own
	return leaves(v) || mustNotRun(v, e) || moved
}

// streamIsOff tells whether an execution is of a stream that was switched off.
func streamIsOff(v room.View, e *Execution) bool {
	return e.Context.Streaming && v.Usable && !v.Config.StreamingProcess
}

// ReshardingIsLate tells whether what runs here makes room for a resharding that does not come.
func (x *Executions) ReshardingIsLate() bool { return x.yields.late }

// watchResharding notes how long a resharding has been asked for while something runs.
func (x *Executions) watchResharding(v room.View) {
	y := &x.yields
	switch {
	case v.State.Necessary == 0:
		y.askedFor, y.late = time.Time{}, false
	case y.askedFor.IsZero():
		y.askedFor = time.Now()
		fallthrough
	case !y.late && x.active > 0:
		left := reshardingPatience - time.Since(y.askedFor)
		if y.late = left <= 0; y.late {
			y.noted.AddAll()
		} else if x.active > 0 {
			x.ports.Wake(left)
		}
	}
}
