package rounds

import (
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/missed"
)

// item is what is known of one sharding item beyond the registry: what runs here, and what is
// due. Items about which nothing is known have none: thousands of idle jobs share a process.
type item struct {
	number      int
	running     *executions.Execution // here, until its end is committed; nil = nothing
	missed.Item                       // its fires
	early       time.Time             // a fire that is still to come, and for which it may begin already; zero = none
	wake        time.Time             // when it is due, if a fixed delay says so; zero = that is not known
	ignored     time.Time             // the last fire of its record that was reported as a broken clock's
	wrote       registry.Revision     // of its record, by this process
	triggered   registry.Revision     // the newest trigger that it ran without leaving a record
	passedOver  bool                  // its last begin was for a fire, though a request by hand waited
	queued      bool                  // it waits for its turn to begin
	dozes       bool                  // its fires are noted for all that doze; see [dozing]
	permit      permit                // whether it has its turn
}

// permit is whether an item may begin.
type permit uint8

const (
	noPermit permit = iota
	permitted
	permittedAhead // with what is on time, though what is due of it is late
)

// blank tells whether the item is as if nothing were known of it.
func (it *item) blank() bool {
	return it.running == nil && it.Blank() && it.early.IsZero() && it.wake.IsZero() && it.ignored.IsZero() && it.wrote == 0 && it.triggered == 0 &&
		!it.passedOver && !it.queued && !it.dozes && it.permit == noPermit
}

// item returns what is known of an item, from now on if nothing was.
func (r *Rounds) item(n int) *item {
	it := r.items[n]
	if it == nil {
		it = &item{number: n}
		if r.items == nil {
			r.items = make(map[int]*item)
		}
		r.items[n] = it
	}
	return it
}
