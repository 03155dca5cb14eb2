package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/jobtree"
)

// wantedFire is a fire of an item that somebody should run, or make up for if the item is busy.
type wantedFire struct {
	item    int
	fire    time.Time
	misfire bool // fires that cannot be run on time are made up
}

// wantFires notes the fires that come while the present state lasts, at times that nothing excuses.
func (j *judge) wantFires(from, until time.Time) {
	s := j.now
	schedule, err := s.Config.Value.Schedule()
	if s.Config.Err != nil || s.Config.Revision == 0 || err != nil || !j.attended() {
		return
	}
	for fire := schedule.Next(from.Add(-1)); !fire.IsZero() && fire.Before(until); fire = schedule.Next(fire) {
		if j.excused.covers(fire) {
			continue
		}
		for n := range min(s.Total(), s.Config.Value.ShardingTotalCount) {
			if !s.Item(n).Disabled {
				j.wanted = append(j.wanted, wantedFire{n, fire, s.Config.Value.Misfire})
			}
		}
	}
}

// attended tells whether the present state has an instance that may run items.
func (j *judge) attended() bool {
	return slices.ContainsFunc(j.now.Instances, func(i jobtree.Instance) bool {
		return j.now.Enabled(i.ID)
	})
}

// judgeFires judges whether every wanted fire was run, or made up for.
func (j *judge) judgeFires() {
	lingering := make(map[int]spans)
	for n := range j.byItem {
		lingering[n] = j.lingering(n)
	}
	for _, w := range j.wanted {
		executions := j.byItem[w.item]
		if lingering[w.item].covers(w.fire) {
			continue
		}
		if slices.ContainsFunc(executions, func(e *execution) bool {
			return e.planned() && e.fire().Equal(w.fire) && e.outcome() != jobtree.NotStarted
		}) {
			continue
		}
		if busy := j.busyWith(executions, w.fire); busy == nil {
			j.find(NoStall, w.fire, w.item, "nobody ran the fire of "+clock(w.fire))
		} else if w.misfire {
			j.judgeCatchUp(w, busy)
		}
	}
}

// busyWith returns the execution that kept an item busy at a fire until the last, if there was one.
func (j *judge) busyWith(executions []*execution, fire time.Time) *execution {
	var busy *execution
	for _, e := range executions {
		if e.busyAt(fire, j.jitter()+j.rules.Skew) && (busy == nil || e.closed.IsZero() || !busy.closed.IsZero() && e.freed().After(busy.freed())) {
			busy = e
		}
	}
	return busy
}

// judgeCatchUp judges whether a fire that came while its item was busy was made up for right after,
// by an execution that stands for it or for a later one.
func (j *judge) judgeCatchUp(w wantedFire, busy *execution) {
	for busy.after.State == jobtree.ItemWaiting {
		rerun := j.next(busy)
		if rerun == nil {
			return
		}
		busy = rerun
	}
	if busy.closed.IsZero() {
		return // its end is judged, not what should follow
	}
	limit := busy.freed().Add(j.rules.Settle + j.rules.Skew)
	if limit.After(j.End) || j.excused.touches(w.fire, limit) {
		return
	}
	if !slices.ContainsFunc(j.byItem[w.item], func(e *execution) bool {
		return e.planned() && !e.fire().Before(w.fire) && !e.began.After(limit)
	}) {
		j.find(NoStall, limit, w.item, fmt.Sprintf("the fire of %s came while the item was busy and was not made up", clock(w.fire)), proofs(busy)...)
	}
}

// next returns the execution of the same item that followed.
func (j *judge) next(e *execution) *execution {
	executions := j.byItem[e.item]
	i := slices.Index(executions, e)
	if i+1 >= len(executions) {
		return nil
	}
	return executions[i+1]
}
