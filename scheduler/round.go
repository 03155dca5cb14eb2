package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// round is what one decision begins.
type round struct {
	id      string
	now     time.Time
	request registry.Revision // to run by hand; 0 = none
	refuse  bool              // this process's clock is too far off to run a fire
	batch   room.Batch
	begun   []*executions.Execution // that are to run

	admitted int // begins in the batch for which the items had to have their turns

	newest wholeround.Newest // of those that are to begin
	next   time.Time         // the job's fire after this round; see [runner.nextFire]
}

// runRound runs what has begun, as a round.
func (r *runner) runRound(round *round) {
	r.executions.RunRound(r.look(), round.id, r.task, round.now, round.begun, r.holdBack)
}

// nextFire returns the job's next fire after a round, for the records to show; zero if there is none,
// or it depends on the end of the run. It is found once for all items.
func (r *runner) nextFire(round *round) time.Time {
	if round.next.IsZero() && r.settings.Rules.Delay == 0 {
		round.next = r.settings.Rules.Schedule.Next(round.now)
	}
	return round.next
}
