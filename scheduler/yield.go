package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
)

// reshardingPatience is how long a resharding may be asked for before streams make room. One among
// instances of this kind takes much less and moves items whether or not they run. A leader that waits
// for running items, as Java's does, waits until they stop.
const reshardingPatience = time.Second

// yielding tells executions to come to an end at their next good point. It looks at those that
// something happened to, and at all when that may concern all.
type yielding struct {
	noted    actor.Lookout
	askedFor time.Time // since when a resharding is asked for; zero = it is not
	late     bool      // longer than reshardingPatience
	leaving  bool      // all were told because the instance leaves
}

// tellYields closes the channels of executions that should come to an end.
func (r *runner) tellYields() {
	r.watchResharding()
	y := &r.yields
	if r.leaving && !y.leaving {
		y.leaving = true
		y.noted.Note(nil, true)
	}
	all, items := y.noted.TakeNoted()
	if all {
		for _, it := range r.items {
			r.tellYield(it.running)
		}
		return
	}
	for n := range items {
		if it := r.items[n]; it != nil {
			r.tellYield(it.running)
		}
	}
}

func (r *runner) tellYield(e *execution) {
	if e == nil || e.yields || !r.mustYield(e) {
		return
	}
	if !e.started {
		r.giveBackMoved(e)
		return
	}
	e.yields = true
	close(e.progress.yield)
}

// mustYield tells whether an execution should come to an end.
func (r *runner) mustYield(e *execution) bool {
	moved := !r.owns(e.item) && (!r.s.traits.Borrow || e.context.Source != job.Failover) // which may run what it does not own
	return r.leaving || r.yields.late || !r.settings.OK || moved || r.state.Disabled(e.item) ||
		e.context.Streaming && !r.settings.Config.StreamingProcess
}

// watchResharding notes how long a resharding has been asked for while something runs.
func (r *runner) watchResharding() {
	y := &r.yields
	switch {
	case r.state.Necessary == 0:
		y.askedFor, y.late = time.Time{}, false
	case y.askedFor.IsZero():
		y.askedFor = time.Now()
		fallthrough
	case !y.late && r.active > 0:
		left := reshardingPatience - time.Since(y.askedFor)
		if y.late = left <= 0; y.late {
			y.noted.Note(nil, true)
		} else if r.active > 0 {
			r.alarm.Set(left)
		}
	}
}
