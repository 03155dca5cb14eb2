package scheduler

import (
	"context"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
)

// roundListening is what a round's listeners are told, as it comes about. Rounds of jobs without
// listeners have none.
type roundListening struct {
	round   job.Round
	results []job.ItemResult
	started chan struct{} // closed when the items may start
}

// beforeRun has the job's listeners told of a round, on a goroutine of their own, and the items wait
// for that.
func (r *runner) beforeRun(o *openRound, members []*execution) {
	if len(r.declared.listeners) == 0 {
		return
	}
	l := &roundListening{
		round:   job.Round{JobName: r.name, ID: o.event.ID, TaskID: o.event.TaskID, Items: make([]job.ShardingContext, len(members))},
		results: make([]job.ItemResult, len(members)),
		started: make(chan struct{}),
	}
	for i, e := range members {
		l.round.Items[i] = e.context
		e.place = i
	}
	o.listening = l
	ctx := members[0].under.Work // that of all: they began in one decision
	r.s.work.Go(func() {
		defer close(l.started)
		for _, listener := range r.declared.listeners {
			r.s.listeners.Call(ctx, notify.Listener{Job: r.name, Kind: ListenerBeforeRun}, func(ctx context.Context) error {
				return listener.BeforeRun(ctx, l.round)
			})
		}
	})
}

// noteResult notes how an execution of a round ended.
func (l *roundListening) noteResult(e *execution, refused error) {
	if l != nil {
		l.results[e.place] = job.ItemResult{Context: e.context, Began: e.began, Ended: e.ended, Err: e.err, Refused: refused}
	}
}

// afterRun has the job's listeners told that a round is over. The instance is not drained before they
// have been.
func (r *runner) afterRun(o *openRound) {
	l := o.listening
	if l == nil {
		return
	}
	r.listening++
	r.s.work.Go(func() {
		<-l.started // if no item waited for it, because all were given up
		for _, listener := range r.declared.listeners {
			r.s.listeners.Call(r.s.curfew.Cut, notify.Listener{Job: r.name, Kind: ListenerAfterRun}, func(ctx context.Context) error {
				return listener.AfterRun(ctx, l.round, l.results)
			})
		}
		r.box.Post(func() { r.listening-- })
	})
}

// awaitStart waits until an execution's code may be called. The error is why it must not be.
func (e *execution) awaitStart() error {
	var waits []chan struct{}
	if e.round.listening != nil {
		waits = append(waits, e.round.listening.started)
	}
	if e.gate != nil {
		waits = append(waits, e.gate.Open)
	}
	for _, passed := range waits {
		select {
		case <-passed:
		case <-e.scope.ctx.Done():
		}
		if e.scope.ctx.Err() != nil {
			return context.Cause(e.scope.ctx)
		}
	}
	return nil
}
