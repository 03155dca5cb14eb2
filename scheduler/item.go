package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/misfires"
)

// item is what a runner knows of one sharding item beyond the registry: what runs here, and what is
// due. Items of which there is nothing to be known have none: thousands of idle jobs share a process.
type item struct {
	number    int
	running   *execution        // here, until its end is committed; nil = nothing
	due       misfires.Due      // fires that want to be run
	wake      time.Time         // when it is due, if a fixed delay says so; zero = that is not known
	seen      time.Time         // the newest fire that was considered for it
	former    string            // the instance that it came from and that may have to note what it missed; empty = none
	came      time.Time         // when it came from that one, by the monotonic clock
	ignored   time.Time         // the last fire of its record that was reported as a broken clock's
	wrote     registry.Revision // of its record, by this runner
	triggered registry.Revision // the newest trigger that it ran without leaving a record
	queued    bool              // it waits for its turn to begin
	permit    bool              // it has its turn
}

// blank tells whether the item is as if nothing were known of it.
func (it *item) blank() bool {
	return it.running == nil && it.due.None() && it.wake.IsZero() && it.seen.IsZero() && it.former == "" && it.came.IsZero() && it.ignored.IsZero() && it.wrote == 0 && it.triggered == 0 &&
		!it.queued && !it.permit
}
