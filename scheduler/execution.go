package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// execution is one run of one item in this process, from its begin to the commit of its end.
type execution struct {
	item     int
	under    *room.Attachment // the session that it began under, for good
	context  job.ShardingContext
	round    *openRound        // that it began in; nil if it never started
	record   jobtree.Record    // as its begin wrote it; zero if the job is not monitored
	token    registry.Revision // of its begin; 0 if the job is not monitored
	began    time.Time
	ended    time.Time
	err      error
	gate     *wholeround.Gate // until which its code is not called; nil if it need not wait for other instances
	place    int              // among the round's, for its listeners
	started  bool             // the code was called
	returned bool             // the code has, or it was given up
	undo     bool             // it never started, and the begin is taken back
	yields   bool             // it was told to come to an end
	madeUp   bool             // its begin removed what was noted as missed of its item

	late  registry.Revision                // of its record, over which its end is recorded without its mark; 0 = with it
	noted *jobtree.Stored[jobtree.Misfire] // what was found to be noted of its item when its end was refused over that

	code     job.HandlerFunc // as the configuration had it at the begin, like the two below
	limits   limits
	handler  job.ErrorHandler
	progress *progress
	scope    *roundScope // nil until the begin is settled
}

// monitored tells whether the registry knows of the execution.
func (e *execution) monitored() bool { return e.token != 0 }

// execute runs the item on a goroutine of its own and tells the runner when its code has returned.
// Nobody waits for the goroutine itself: code that never returns must not keep Run from returning.
func (r *runner) execute(e *execution) {
	e.started = true
	r.active++
	event := ItemEvent{Round: e.round.event.ID, Context: e.context, Began: e.began}
	r.s.observer.observe(event)
	log := r.log
	// A panic is an error of this item and of nothing else, and so is the end of its goroutine.
	protect.Go(func() error {
		ctx := r.s.observer.itemContext(job.WithProgress(e.scope.ctx, e.progress), event)
		if err := e.awaitStart(); err != nil {
			return err
		}
		return e.limits.attempt(ctx, e.code, e.context, func(err error, pause time.Duration) {
			r.s.observer.observe(RetryEvent{Round: event.Round, Context: e.context, Err: err, Pause: pause})
			log.WarnContext(ctx, "item failed, will try again", logItem, e.item, logToken, e.context.Token,
				logError, err, "pause", pause.String())
		})
	}, func(err error) {
		ended := r.s.now()
		r.box.Post(func() { r.returned(e, ended, err) })
	})
}
