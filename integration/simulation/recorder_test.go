package simulation_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// recorder writes down what happens to one job.
type recorder struct {
	mu        sync.Mutex
	job       string
	runs      []*checker.Run
	reports   []checker.Report
	incidents []*checker.Incident
	states    []checker.State
	hooks     []checker.Hook
	refused   map[string]*checker.Incident // by instance that refuses the settings now
}

// watch writes down every state that the view shows, from the first on.
func (r *recorder) watch(view *registry.View) {
	view.Subscribe(func(step registry.Step) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.states = append(r.states, checker.State{At: time.Now(), Step: step})
	})
}

// incident writes down something that begins now; until is when it will be over.
func (r *recorder) incident(kind checker.Kind, instance string, lasts, delay time.Duration) *checker.Incident {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	i := &checker.Incident{Kind: kind, Instance: instance, From: now, Until: now.Add(lasts), Delay: delay}
	r.incidents = append(r.incidents, i)
	return i
}

// tampered writes down that a careless hand has written to a node.
func (r *recorder) tampered(path string, revision registry.Revision) *checker.Incident {
	i := r.incident(checker.Tampered, "", 0, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	i.Path, i.Revision = path, revision
	return i
}

// denied writes down that a process cannot follow the job, nor perhaps write to it.
func (r *recorder) denied(instance string, lasts time.Duration, writes bool) {
	i := r.incident(checker.Denied, instance, lasts, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	i.Writes = writes
}

// paced writes down that the store takes so many transactions a second.
func (r *recorder) paced(lasts time.Duration, rate int) {
	i := r.incident(checker.Paced, "", lasts, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	i.Rate = rate
}

// misset writes down that the clock of a process is wrong from now on.
func (r *recorder) misset(instance string, ahead time.Duration) *checker.Incident {
	i := r.incident(checker.Misset, instance, 24*time.Hour, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	i.Ahead = ahead
	return i
}

// refuses writes down why a process cannot use the settings of the job from now on, if that is a reason of its own.
func (r *recorder) refuses(instance string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.refused[instance]
	switch picky := errors.Is(why, errPicky); {
	case picky && i == nil:
		i = &checker.Incident{Kind: checker.Refused, Instance: instance, From: time.Now(), Until: time.Now().Add(24 * time.Hour)}
		r.incidents, r.refused[instance] = append(r.incidents, i), i
	case !picky && i != nil:
		i.Until = time.Now()
		delete(r.refused, instance)
	}
}

// over writes down that an incident is over.
func (r *recorder) over(i *checker.Incident) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i.Until = time.Now()
}

// hindered tells whether an instance may not have reached the store at some time since a moment.
func (r *recorder) hindered(instance string, since time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.incidents, func(i *checker.Incident) bool {
		switch i.Kind {
		case checker.Cut, checker.Down, checker.Paused, checker.Slow, checker.Held, checker.Lost, checker.Denied, checker.Paced:
			return (i.Instance == instance || i.Instance == "") && !i.Until.Before(since)
		default:
			return false
		}
	})
}

func (r *recorder) entered(instance string, sc job.ShardingContext) *checker.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := &checker.Run{Instance: instance, Context: sc, Began: time.Now()}
	r.runs = append(r.runs, run)
	return run
}

func (r *recorder) cancelled(run *checker.Run, ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run.Cancelled.IsZero() && run.Ended.IsZero() && ctx.Err() != nil {
		run.Cancelled, run.Cause = time.Now(), context.Cause(ctx)
	}
}

func (r *recorder) left(run *checker.Run, died bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run.Ended, run.Died, run.Err = time.Now(), died, err
	if died && run.Cancelled.Equal(run.Ended) { // whether its context ended first is chance
		run.Cancelled, run.Cause = time.Time{}, nil
	}
}

// saving writes down that code is about to save a checkpoint, and returns which one of the run that is.
func (r *recorder) saving(run *checker.Run, offset string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	run.Saves = append(run.Saves, checker.Save{Offset: offset, At: time.Now()})
	return len(run.Saves) - 1
}

// saved writes down that a checkpoint was confirmed.
func (r *recorder) saved(run *checker.Run, which int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run.Saves[which].Confirmed = time.Now()
}

// hooked writes down that a hook was called.
func (r *recorder) hooked(phase, instance string, round job.WholeRound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hooks = append(r.hooks, checker.Hook{At: time.Now(), Phase: phase, Instance: instance, Round: round})
}

// history returns what was written down, as far as it goes.
func (r *recorder) history() checker.History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := checker.History{Job: r.job, Reports: r.reports, States: r.states, Hooks: r.hooks, End: time.Now()}
	for _, run := range r.runs {
		h.Runs = append(h.Runs, *run)
	}
	for _, i := range r.incidents {
		h.Incidents = append(h.Incidents, *i)
	}
	return h
}

// ear is the observer of one process.
type ear struct {
	r        *recorder
	instance string
}

// Observe writes down how an item ended, and what the process makes of settings.
func (e ear) Observe(event scheduler.Event) {
	if pause, is := event.(scheduler.PauseEvent); is {
		e.r.refuses(e.instance, pause.Err)
		return
	}
	end, is := event.(scheduler.ItemEvent)
	if !is || !end.Over() {
		return
	}
	e.r.mu.Lock()
	defer e.r.mu.Unlock()
	e.r.reports = append(e.r.reports, checker.Report{
		At: time.Now(), Instance: e.instance, Item: end.Context.Item, Token: end.Context.Token, Refused: end.Refused,
	})
}
