package rounds

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/missed"
	"github.com/elasticron/elasticron/scheduler/internal/room"
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
	first       precedence            // of a fire and a request by hand that wait
	queued      bool                  // it waits for its turn to begin
	dozes       bool                  // its fires are noted for all that doze; see [dozing]
	permit      permit                // whether it has its turn
}

// precedence says which goes first if a fire of an item and a request by hand to run it wait: none of them goes twice while the
// other waits. If an item is busy for longer than the time between its fires, or between requests, there is always one more.
type precedence uint8

const (
	asUsual precedence = iota // a fire on time, a request, a missed fire
	fireFirst
	requestFirst
)

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
		it.first == asUsual && !it.queued && !it.dozes && it.permit == noPermit
}

// fireGoes tells whether the item is to begin for what is due of it, asked or not to run for a request by hand. A fire that
// comes some time after the last run lets every request go first: that is a run.
func (it *item) fireGoes(v room.View, asked bool) bool {
	_, source := it.Due.Next()
	switch {
	case it.Due.None():
		return false
	case !asked:
		return true
	case v.Rules.Delay != 0 || it.first == requestFirst:
		return false
	default:
		return it.first == fireFirst || source != job.Misfire
	}
}

// fireGone notes that the item begins for a fire, and whether a request waits meanwhile.
func (it *item) fireGone(asked bool) {
	it.first = asUsual
	if asked {
		it.first = requestFirst
	}
}

// requestGone notes that the item begins for a request. What is due of it waits meanwhile.
func (it *item) requestGone() {
	it.first = asUsual
	if !it.Due.None() {
		it.first = fireFirst
	}
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
