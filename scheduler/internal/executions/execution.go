package executions

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// Execution is one run of one item in this process, from its begin to the commit of its end. What its begin
// decides is exported; the rest is this room's.
type Execution struct {
	Item    int
	Under   *room.Attachment // the session that it began under, for good
	Context job.ShardingContext
	Record  jobtree.Record    // as its begin wrote it; zero if the job is not monitored
	Token   registry.Revision // of its begin; 0 if the job is not monitored
	Began   time.Time
	Undo    bool        // it never started, and the begin is taken back
	MadeUp  bool        // its begin removed what was noted as missed of its item
	Due     *policy.Due // of its item: what comes due while it runs is noted with its end

	Code    job.HandlerFunc // as the configuration had it at the begin, like the two below
	Limits  Limits
	Handler job.ErrorHandler

	Recalled bool          // if it is given back before its code is called, somebody runs it later; unless it is too old by then
	Wait     chan struct{} // until it is closed the code is not called; nil if it need not wait for other instances
	Forget   func()        // called when it has ended, however; nil = nobody wants to know

	round    *openRound // that it began in; nil if it never started
	since    time.Time  // when its turn came
	ended    time.Time
	err      error
	cut      error // why its context had ended when it returned err; nil if it had not, whatever becomes of that later
	place    int   // among the round's, for its listeners
	started  bool  // its turn has come: the code is called as soon as nobody is to be waited for
	opened   bool  // what it waits for has come
	returned bool  // the code has, or it was given up
	yields   bool  // it was told to come to an end
	goes     bool  // when it was told, its item was another's, or not to run here any more
	yielded  bool  // its code came to an end as it was told to, with work left
	rest     rest  // what becomes of that
	ahead    bool  // it was given up while it waited for its fire

	cancel context.CancelCauseFunc // of its code; nil before that is called

	pause   *room.Attachment                 // under which its end waits until it is tried again; nil = it does not
	refusal *refusal                         // of its end; nil while nothing is to be looked into
	late    registry.Revision                // of its record, over which its end is recorded without its mark; 0 = with it
	noted   *jobtree.Stored[jobtree.Misfire] // what was found to be noted of its item when its end was refused over that

	progress *progress
	scope    *roundScope // nil until the begin is settled
}

// New makes the execution of an item, with what its code is offered while it runs.
func (x *Executions) New(v room.View, e *Execution, node jobtree.Item) *Execution {
	x.unheld.Add(e.Item) // the view may have shown already that its mark was deleted
	e.progress = x.newProgress(v.Tree, e.Item, e.Under, e.Token, node)
	return e
}

// InCode tells whether its turn has come, and its code has not returned.
func (e *Execution) InCode() bool { return e.started && !e.returned }

// Monitored tells whether the registry knows of the execution.
func (e *Execution) Monitored() bool { return e.Token != 0 }

// run is what is reported of the execution.
func (e *Execution) run() Run {
	return Run{Round: e.round.event.ID, Context: e.Context, Began: e.Began}
}

// execute runs the item on a goroutine of its own and tells the runner when its code has returned.
// Nobody waits for the goroutine itself: code that never returns must not keep Run from returning.
func (x *Executions) execute(e *Execution) {
	e.started, e.since = true, time.Now()
	x.active++
	run := e.run()
	if !e.atGate() {
		x.ports.Report().Item(run)
	}
	log := x.ports.Log()
	called := false
	var work context.Context
	work, e.cancel = context.WithCancelCause(e.scope.ctx)
	// A panic is an error of this item and of nothing else, and so is the end of its goroutine.
	protect.Go(func() error {
		if err := e.awaitStart(work); err != nil {
			return err
		}
		called = true
		ctx := x.ports.Report().ItemContext(job.WithProgress(work, e.progress), run)
		err := e.Limits.attempt(ctx, e.progress.heed(e.Code), e.Context, func(err error, pause time.Duration) {
			x.ports.Report().Retry(run, err, pause)
			log.WarnContext(ctx, "item failed, will try again", room.KeyItem, e.Item, room.KeyToken, e.Context.Token,
				room.KeyError, err, "pause", pause.String())
		})
		return cmp.Or(e.progress.yielded, err)
	}, func(err error) {
		// The runner takes note of it when it has time, and that may be after the session was lost: what fails here has failed.
		ended, cut, yielded := x.ports.Now(), e.cutBefore(err), e.progress.yielded != nil
		x.ports.Post(func() {
			e.yielded = yielded && !e.returned
			if !called && errors.Is(err, stopping.ErrStopped) { // what has lost its session is declared lost by others
				x.GiveBack(e)
			}
			x.returned(e, ended, err, cut)
		})
	})
}

// atGate tells whether the code waits for other instances. Before that is over, nobody hears that the execution started.
func (e *Execution) atGate() bool { return e.Wait != nil && !e.opened }

// Opened hears that what an execution waited for has come, just before Wait is closed.
func (x *Executions) Opened(e *Execution) {
	if e.returned {
		return // it was given up before, and its end tells of its start
	}
	e.opened = true
	if e.started {
		x.ports.Report().Item(e.run())
	}
}

// GiveBack gives up an execution that waits for other instances, if somebody runs it later, and as nobody has heard of
// it yet. Else it goes on, and the result is false.
func (x *Executions) GiveBack(e *Execution) bool {
	if !e.Recalled || !e.atGate() || !e.InCode() {
		return false
	}
	x.undo(e)
	return true
}
