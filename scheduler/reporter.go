package scheduler

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
)

// reporter tells the observers of what runs.
type reporter struct{ r *runner }

var _ executions.Reporter = reporter{}

func (p reporter) Round(r executions.Round) {
	p.r.s.observer.observe(RoundEvent{ID: r.ID, Job: p.r.name, TaskID: r.TaskID, Items: r.Items, Began: r.Began, Ended: r.Ended, Failed: r.Failed})
}

func (p reporter) Item(r executions.Run) {
	if !r.Ended.IsZero() {
		p.r.tally.count(r)
	}
	if len(p.r.s.observer.all) > 0 { // the event is large
		p.r.s.observer.observe(itemEvent(r))
	}
}

func itemEvent(r executions.Run) ItemEvent {
	return ItemEvent{Round: r.Round, Context: r.Context, Began: r.Began, Ended: r.Ended, Err: r.Err, CutShort: r.CutShort, Refused: r.Refused}
}

func (p reporter) ItemContext(ctx context.Context, r executions.Run) context.Context {
	return p.r.s.observer.itemContext(ctx, itemEvent(r))
}

func (p reporter) Retry(r executions.Run, err error, pause time.Duration) {
	p.r.s.observer.observe(RetryEvent{Round: r.Round, Context: r.Context, Err: err, Pause: pause})
}

func (p reporter) Waiting(waiting, running, limit int) {
	p.r.s.observer.observe(WaitingEvent{Job: p.r.name, Waiting: waiting, Running: running, Limit: limit})
}

func (p reporter) HandlerFailed(sc job.ShardingContext, failure, handler error) {
	p.r.s.observer.observe(ErrorHandlerEvent{Context: sc, Err: failure, Handler: handler})
}
