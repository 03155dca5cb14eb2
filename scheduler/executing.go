package scheduler

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// newExecutions makes the room of what runs in this process.
func (r *runner) newExecutions() *executions.Executions {
	return executions.New(executions.Ports{
		Ports: r.ports(), Job: r.name, Now: r.s.now, Registry: r.s.registry, Others: r.s.traits,
		Report: &reporter{observer: r.s.observer, job: r.name, tally: &r.tally}, Failures: &r.failures, Listeners: r.declared.listeners,
		Before: func(ctx context.Context, listener func(context.Context) error) {
			r.s.listeners.Call(ctx, notify.Listener{Job: r.name, Kind: ListenerBeforeRun}, listener)
		},
		After: func(listener func(context.Context) error) {
			r.s.listeners.Call(r.s.curfew.Cut, notify.Listener{Job: r.name, Kind: ListenerAfterRun}, listener)
		},
		All: r.running,
		Of: func(n int) *executions.Execution {
			if it := r.items[n]; it != nil {
				return it.running
			}
			return nil
		},
		Missed: func(v room.View, n int, noted jobtree.Stored[jobtree.Misfire], ran time.Time) ([]registry.Condition, []registry.Write) {
			return r.missed.Note(v, n, r.item(n).Due, noted, ran)
		},
		MayBegin: r.mayBegin, Overloaded: r.s.load.over,
		Closed: r.closed,
		Over: func(o registry.Outcome) {
			var conflict *registry.ConflictError
			if errors.As(o.Err, &conflict) {
				r.overtaken(conflict)
			}
		},
	})
}

// running yields the executions of this process that have not ended.
func (r *runner) running() iter.Seq[*executions.Execution] {
	return func(yield func(*executions.Execution) bool) {
		for _, it := range r.items {
			if it.running != nil && !yield(it.running) {
				return
			}
		}
	}
}

// finish commits the ends of executions whose code has returned.
func (r *runner) finish() {
	batch := r.executions.Finish(r.look())
	if len(batch) == 0 {
		return
	}
	v := r.look()
	r.executions.Settled(v, batch, r.s.registry.CommitAll(v.Attached.Ctx, r.executions.Ends(v, batch)))
}

// closed forgets an execution whose end was recorded or refused for good.
func (r *runner) closed(e *executions.Execution, o registry.Outcome) {
	it := r.items[e.Item]
	it.running = nil
	r.toConsider.Note([]int{e.Item}, false)
	it.wrote = max(it.wrote, o.Revision)
	if o.Err != nil {
		if !e.Undo {
			r.mending.EndRefused(e.Item, e.Token)
		}
		r.lost.Note([]int{e.Item}, false)
		r.mending.Unexplained([]int{e.Item}, false) // its mark may be back, if its session was taken up again
	}
	if !r.owns(e.Item) {
		delete(r.items, e.Item)
	}
	if o.Err != nil && !errors.Is(o.Err, registry.ErrConflict) {
		r.unsettled = e.Under.Session // whose mark stays
	}
}

// owns tells whether an item is assigned to this instance.
func (r *runner) owns(n int) bool { return r.state.Owner(n) == r.s.instance }

// reporter tells the observers of what runs.
type reporter struct {
	observer *observers
	job      string
	tally    *tally
}

var _ executions.Reporter = (*reporter)(nil)

// Round implements [executions.Reporter].
func (p *reporter) Round(r executions.Round) {
	p.observer.observe(RoundEvent{ID: r.ID, Job: p.job, TaskID: r.TaskID, Items: r.Items, Began: r.Began, Ended: r.Ended, Failed: r.Failed})
}

// Item implements [executions.Reporter].
func (p *reporter) Item(r executions.Run) {
	if !r.Ended.IsZero() {
		p.tally.count(r.Err, r.Refused)
	}
	p.observer.observe(itemEvent(r))
}

func itemEvent(r executions.Run) ItemEvent {
	return ItemEvent{Round: r.Round, Context: r.Context, Began: r.Began, Ended: r.Ended, Err: r.Err, CutShort: r.CutShort, Refused: r.Refused}
}

// ItemContext implements [executions.Reporter].
func (p *reporter) ItemContext(ctx context.Context, r executions.Run) context.Context {
	return p.observer.itemContext(ctx, itemEvent(r))
}

// Retry implements [executions.Reporter].
func (p *reporter) Retry(r executions.Run, err error, pause time.Duration) {
	p.observer.observe(RetryEvent{Round: r.Round, Context: r.Context, Err: err, Pause: pause})
}

// Waiting implements [executions.Reporter].
func (p *reporter) Waiting(waiting, running, limit int) {
	p.observer.observe(WaitingEvent{Job: p.job, Waiting: waiting, Running: running, Limit: limit})
}

// HandlerFailed implements [executions.Reporter].
func (p *reporter) HandlerFailed(sc job.ShardingContext, failure, handler error) {
	p.observer.observe(HandlerEvent{Context: sc, Err: failure, Handler: handler})
}
