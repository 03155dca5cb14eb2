package executions

import (
	"context"
	"slices"

	"github.com/elasticron/elasticron/job"
)

// roundListening collects what a round's listeners are told. Rounds of jobs without
// listeners have none.
type roundListening struct {
	round   job.Round
	results []job.ItemResult
	started chan struct{} // closed when the items may start
}

// beforeRun tells the job's listeners of a round, on a goroutine of their own, and the items wait
// for that.
func (x *Executions) beforeRun(o *openRound, members []*Execution) {
	if len(x.ports.Listeners()) == 0 {
		return
	}
	l := &roundListening{
		round:   job.Round{JobName: x.ports.Job(), ID: o.event.ID, TaskID: o.event.TaskID, Items: make([]job.ShardingContext, len(members))},
		results: make([]job.ItemResult, len(members)),
		started: make(chan struct{}),
	}
	for i, e := range members {
		l.round.Items[i] = e.Context
		e.place = i
	}
	o.listening = l
	ctx := members[0].Under.Work // that of all: they began in one decision
	x.ports.Work(func() {
		defer close(l.started)
		for _, listener := range x.ports.Listeners() {
			x.ports.Before(ctx, func(ctx context.Context) error {
				return listener.BeforeRun(ctx, l.round)
			})
		}
	})
}

// noteResult notes how an execution of a round ended.
func (l *roundListening) noteResult(e *Execution, refused error) {
	if l != nil {
		l.results[e.place] = job.ItemResult{Context: e.Context, Began: e.Began, Ended: e.ended, Err: e.err, Refused: refused}
	}
}

// afterRun tells the job's listeners that a round is over. The instance is not drained before they
// have heard that.
func (x *Executions) afterRun(o *openRound) {
	l := o.listening
	if l == nil {
		return
	}
	x.listening++
	x.ports.Work(func() {
		<-l.started // if no item waited for it, because all were given up
		for _, listener := range x.ports.Listeners() {
			x.ports.After(func(ctx context.Context) error {
				return listener.AfterRun(ctx, l.round, slices.Clone(l.results))
			})
		}
		x.ports.Post(func() { x.listening-- })
	})
}

// awaitStart waits until an execution's code may be called. The error is why it must not be: the context of the code
// has ended.
func (e *Execution) awaitStart(work context.Context) error {
	var waits []chan struct{}
	if e.round.listening != nil {
		waits = append(waits, e.round.listening.started)
	}
	if e.Wait != nil {
		waits = append(waits, e.Wait)
	}
	for _, passed := range waits {
		select {
		case <-passed:
		case <-work.Done():
		}
		if work.Err() != nil {
			return context.Cause(work)
		}
	}
	return nil
}
