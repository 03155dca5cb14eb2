package bench_test

import (
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// rounds follows the rounds of a job, or of several that fire at the same times. A round in which not
// every item ran, as when its jobs were still about to start, is never done.
type rounds struct {
	items int         // of all jobs
	done  chan *round // size 1: what nobody takes in time is dropped

	mu   sync.Mutex
	open map[time.Time]*round // by fire
}

// round is what became of the items of one fire.
type round struct {
	fire     time.Time
	late     sample // from the fire to an item's code
	finish   sample // from an item's return to its recorded end
	returned map[itemKey]time.Time
	recorded time.Time // the last end
}

// took returns how long it took from the fire until all ends were recorded.
func (r *round) took() time.Duration { return r.recorded.Sub(r.fire) }

type itemKey struct {
	job  string
	item int
}

func keyOf(sc job.ShardingContext) itemKey { return itemKey{sc.JobName, sc.Item} }

func newRounds(items int) *rounds {
	return &rounds{items: items, done: make(chan *round, 1), open: make(map[time.Time]*round)}
}

// work is the code of the items.
func (rs *rounds) work(_ context.Context, sc job.ShardingContext) error {
	began := time.Now()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.open[sc.Fire]
	if r == nil {
		r = &round{fire: sc.Fire, returned: make(map[itemKey]time.Time, rs.items)}
		rs.open[sc.Fire] = r
	}
	r.late.add(began.Sub(sc.Fire))
	r.returned[keyOf(sc)] = time.Now()
	return nil
}

// Observe notes that the end of an item is recorded, and the round when it was the last.
func (rs *rounds) Observe(event scheduler.Event) {
	now := time.Now()
	e, is := event.(scheduler.ItemEvent)
	if !is || !e.Over() {
		return
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.open[e.Context.Fire]
	r.finish.add(now.Sub(r.returned[keyOf(e.Context)]))
	if len(r.finish.all) < rs.items {
		return
	}
	r.recorded = now
	delete(rs.open, r.fire)
	select {
	case rs.done <- r:
	default:
	}
}
