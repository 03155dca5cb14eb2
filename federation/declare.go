package federation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/patience"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// settledAtOnce is how many jobs are brought to their homes at a time, and how many views are opened at a time that await
// arrivals.
const settledAtOnce = 16

// lookEvery is how long it may take until all jobs are looked at for one that has moved unheard.
const lookEvery = time.Minute

// errMoving is why a job is not run: it is on its way.
var errMoving = errors.New("the job is being moved")

// Add declares a job, as [scheduler.Scheduler.Add] does, in the registry that is its home or, if no registry knows it, in the
// one that the rule names. It may be called before Run and while Run goes on.
//
// If a registry that must be asked does not answer within the patience, or the job is just being moved, Add
// returns all the same: the job is declared, is brought to its home as soon as that can be, and [Federation.Health] says
// what it waits for. So it does if ctx ends when the scheduler of the home has the job, which joins when it can.
//
// A job that no registry has is created again if its creation got no answer. A registry may carry the first one out later
// still, also when the job was removed since, which is then there again.
//
// Errors, after which the job is not declared: those of [scheduler.Scheduler.Add] but for the registry's being away;
// [home.ErrTwice] and [home.ErrLost]; [ErrInvalidOption] if the rule names no registry of the federation, or two registries are
// seen to be one store; what the rule panicked with, as [job.PanicError]; [scheduler.ErrStopped] after Close, too; and the end
// of ctx before that.
func (f *Federation) Add(ctx context.Context, cfg job.Config, handler job.Handler, opts ...scheduler.JobOption) (*Job, error) {
	err := cfg.Validate() // whether it ever fires again is a matter of its home, where it may be stored otherwise
	if handler == nil {
		err = errors.Join(err, errors.New("the job has no code: handler is nil"))
	}
	if err != nil { // before anybody can have its handle, which would be taken for that of a job that is data
		return nil, fmt.Errorf("declare job %q: %w", texts.Shorten(cfg.Name), err)
	}
	j := f.newJob(cfg.Name)
	// What the caller does with its map and its slice afterwards must not change what is declared later, or once more.
	cfg.Props, opts = maps.Clone(cfg.Props), slices.Clone(opts)
	j.cfg, j.handler, j.options, j.waits = cfg, handler, opts, errors.New("it is being declared")
	j.settling <- struct{}{}
	defer j.settled()
	f.mu.Lock()
	switch {
	case f.closed:
		err = scheduler.ErrStopped
	case f.jobs[cfg.Name] != nil:
		err = scheduler.ErrDeclared
	default:
		f.jobs[cfg.Name] = j
	}
	f.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("declare job %q: %w", texts.Shorten(cfg.Name), err)
	}
	switch err := j.settle(ctx, nil); {
	case err == nil:
	case ctx.Err() != nil || !passes(err) || f.isClosing():
		j.forget()
		return nil, fmt.Errorf("declare job %q: %w", texts.Shorten(cfg.Name), err)
	default:
		f.wake()
	}
	return j, nil
}

// isClosing tells whether Run is at its end, or the federation closed, so that nobody would bring a job to its home any more.
func (f *Federation) isClosing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closing || f.closed || f.stop != nil && f.stop.Err() != nil
}

// passes tells whether an error goes by itself, when a registry is back or a move is over.
func passes(err error) bool {
	for _, passing := range []error{
		home.ErrAway, errMoving, registry.ErrUnavailable, registry.ErrUnknownOutcome, registry.ErrSessionLost, registry.ErrNoSpace,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// forget takes the job off the list. Its caller has the lock of settling, and whoever gets that afterwards finds the job
// gone.
func (j *Job) forget() {
	j.mu.Lock()
	j.gone, j.handle, j.waits = true, nil, scheduler.ErrUnknownJob
	j.mu.Unlock()
	j.f.mu.Lock()
	defer j.f.mu.Unlock()
	if j.f.jobs[j.name] == j {
		delete(j.f.jobs, j.name)
	}
}

// settle brings the job to its home, if it is not there: the scheduler of its former home leaves it, that of its home
// takes it up. The caller has the lock of settling. The error says why it is not there, and is kept for the report. turns
// bounds how many jobs are taken up at a time; nil does not.
func (j *Job) settle(ctx context.Context, turns chan struct{}) (err error) {
	j.mu.Lock()
	said, found := j.moved, j.found // by the scheduler, whose handle may not show it yet
	j.moved, j.found = false, false
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.waits = err; err == nil && j.moved {
			j.waits = errMoving
			j.f.wake()
		}
	}()
	for {
		switch handle := j.scheduled(); {
		case handle == nil:
		case j.dropped():
			j.keep("", nil)
		case found:
			if err := j.leave(ctx, handle); err != nil {
				j.mu.Lock()
				j.found = true
				j.mu.Unlock()
				return err
			}
		case !hasMoved(handle) && (!said || !showsSoon(ctx, handle)):
			return nil
		default:
			if err := j.leave(ctx, handle); err != nil {
				return err
			}
		}
		err := j.takeUp(ctx, turns)
		if away := (*jobtree.ElsewhereError)(nil); errors.As(err, &away) {
			continue // it has moved since
		}
		return err
	}
}

// leave has the scheduler of the job's former home leave it. What of it runs here may take hours to end, so the error that
// it has not yet comes after the patience; the scheduler goes on leaving.
func (j *Job) leave(ctx context.Context, handle *scheduler.Job) error {
	bounded, cancel := context.WithTimeout(ctx, j.f.patience)
	defer cancel()
	if err := handle.Leave(bounded); err != nil {
		return fmt.Errorf("leave %s: %w", j.Registry(), err)
	}
	j.keep("", nil)
	return nil
}

// takeUp finds the job's home and declares the job there.
func (j *Job) takeUp(ctx context.Context, turns chan struct{}) error {
	if turns != nil {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	var unruled error
	place, err := j.f.directory.Claim(ctx, j.name, func(string) (name string) {
		name, unruled = j.f.rule.ask(ctx, j.cfg)
		return name
	})
	switch {
	case unruled != nil: // no name was claimed
		return unruled
	case err != nil:
		return err
	case place.From != "":
		j.stored = true
		j.keep(place.Registry, nil)
		j.f.awaitArrival(j, place) //nolint:contextcheck // it is awaited for as long as Run goes on
		return fmt.Errorf("%w from %s to %s", errMoving, place.From, place.Registry)
	}
	return j.enter(ctx, j.f.member(place.Registry))
}

// enter declares the job to the scheduler of its home.
func (j *Job) enter(ctx context.Context, m *member) error {
	j.keep(m.name, nil)
	_, s, err := m.scheduler(ctx)
	if err != nil {
		return err
	}
	waited := patience.New(j.f.patience)
	options := j.options
	if j.stored { // whoever removes it meanwhile means it to be gone
		options = append(slices.Clone(options), scheduler.WithoutCreating())
	}
	handle, err := s.Add(waited.Within(ctx), j.cfg, j.handler, options...)
	again := errors.Is(err, scheduler.ErrDeclared)
	if handle == nil && (again && j.entered == m.name || !again && (passes(err) || waited.Over() || ctx.Err() != nil)) {
		j.entered = m.name
		if known, missing := s.Job(j.name); missing == nil { // it is declared, and joins when it can
			handle, err = known, nil
		}
	}
	if err != nil {
		if ctx.Err() == nil && waited.Over() {
			m.suspect(err)
		}
		return err
	}
	j.stored = true
	j.keep(m.name, handle)
	return nil
}

// hasMoved tells whether a job is not where its handle is, as far as the process sees.
func hasMoved(handle *scheduler.Job) bool {
	_, _, err := handle.Config()
	away := (*jobtree.ElsewhereError)(nil)
	return errors.As(err, &away)
}

// isRemoved tells whether a job is not stored where its handle is, as far as the process sees.
func isRemoved(handle *scheduler.Job) bool {
	_, _, err := handle.Config()
	return errors.Is(err, scheduler.ErrNotStored)
}

// wasRemoved looks whether another registry has a job that was removed where it is. Two had it then, as after one of them was
// restored from a backup, and whoever removed it from one means it to go on in the other, when nothing of it runs any more in the
// first. It does not wait for that.
func (f *Federation) wasRemoved(name string) {
	f.mu.Lock()
	j := f.jobs[name]
	f.mu.Unlock()
	if j == nil {
		return
	}
	f.goAlong(func(ctx context.Context) {
		select {
		case f.viewing <- struct{}{}: // many may be removed at once
			defer func() { <-f.viewing }()
		case <-ctx.Done():
			return
		}
		was := j.Registry()
		if running, err := f.stillRuns(ctx, was, name); err != nil || running {
			return // lookForMoved comes again
		}
		place, err := f.directory.Find(ctx, name)
		if err != nil || !place.Exists || place.Registry == was || j.Registry() != was {
			return
		}
		j.mu.Lock()
		j.found = true
		j.mu.Unlock()
		f.hasMoved(name)
	})
}

// stillRuns tells whether a process runs an item of a job in a registry, as its mark says, which outlives the job.
func (f *Federation) stillRuns(ctx context.Context, registryName, name string) (bool, error) {
	store, err := f.member(registryName).store(ctx)
	if err != nil {
		return false, err
	}
	nodes, _, err := store.List(ctx, jobtree.For(name).Root())
	return slices.ContainsFunc(nodes, func(n registry.Node) bool {
		what, is := jobtree.Parse(n.Path)
		return is && what.Kind == jobtree.KindItemRunning
	}), err
}

// showsSoon waits until a handle shows that its job has moved, and tells whether it did in time.
func showsSoon(ctx context.Context, handle *scheduler.Job) bool {
	tick := time.NewTicker(showsWithin / 20)
	defer tick.Stop()
	for range 20 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		if hasMoved(handle) {
			return true
		}
	}
	return false
}

// showsWithin is how far a handle may be behind what its scheduler tells: it may have just opened another view.
const showsWithin = time.Second

// dropped tells whether the scheduler that has the job's handle could not start the job, when nobody waited for that any
// more.
func (j *Job) dropped() bool {
	m := j.f.member(j.Registry())
	m.mu.Lock()
	s := m.sched
	m.mu.Unlock()
	_, err := s.Job(j.name)
	return err != nil
}

// hasMoved has a job looked at whose scheduler says that its home is elsewhere.
func (f *Federation) hasMoved(name string) {
	f.mu.Lock()
	j := f.jobs[name]
	f.mu.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	j.moved = true
	if j.waits == nil {
		j.waits = errMoving
	}
	j.mu.Unlock()
	f.wake()
}

// settleAll has jobs brought to their homes that are not there, until ctx ends. It waits for none of them: one may take long
// to be left.
func (f *Federation) settleAll(ctx context.Context) {
	turns := make(chan struct{}, settledAtOnce)
	look := time.NewTimer(jittered(lookEvery))
	defer look.Stop()
	pause, again := firstPause, time.NewTimer(0)
	defer again.Stop()
	for ctx.Err() == nil {
		news := false
		select {
		case <-f.woken:
			pause, news = firstPause, true
		case <-again.C:
			pause = min(2*pause, longPause)
		case <-look.C:
			f.lookForMoved() //nolint:contextcheck // what it begins goes on until Run ends
			look.Reset(jittered(lookEvery))
		case <-ctx.Done():
			return
		}
		waiting := f.waiting()
		if len(waiting) == 0 {
			again.Stop()
			continue
		}
		for _, j := range waiting {
			if news {
				j.news.Store(true)
			}
			if j.trySettling() && !f.goAlong(func(ctx context.Context) { j.settleAlong(ctx, turns) }) { //nolint:contextcheck // it is that of Run, as ctx
				j.settled()
			}
		}
		again.Reset(jittered(pause))
	}
}

// trySettling takes the lock of settling if nobody has it.
func (j *Job) trySettling() bool {
	select {
	case j.settling <- struct{}{}:
		return true
	default:
		return false
	}
}

// settled gives the lock of settling back.
func (j *Job) settled() { <-j.settling }

// settleAlong tries once more, and again if there was news meanwhile. The caller has taken the lock of settling, which it
// gives back.
func (j *Job) settleAlong(ctx context.Context, turns chan struct{}) {
	for {
		j.news.Store(false)
		j.settleAgain(ctx, turns)
		j.settled()
		if !j.news.Load() || ctx.Err() != nil || !j.trySettling() {
			return
		}
	}
}

// settleAgain tries once more, and tells what has come of it if that has changed.
func (j *Job) settleAgain(ctx context.Context, turns chan struct{}) {
	before := j.Waits()
	if before == nil || j.isGone() {
		return
	}
	err := j.settle(ctx, turns)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		j.f.log.InfoContext(ctx, "job is at its home", logJob, j.name, logRegistry, j.Registry())
	case err.Error() != before.Error() && !passes(err):
		j.f.log.ErrorContext(ctx, "job cannot be run", logJob, j.name, logError, err)
	case err.Error() != before.Error():
		j.f.log.WarnContext(ctx, "job stands", logJob, j.name, logError, err)
	}
}

// waiting returns the jobs that are not at their homes.
func (f *Federation) waiting() (all []*Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		if j.Waits() != nil {
			all = append(all, j)
		}
	}
	return all
}

// lookForMoved finds jobs of whose move nobody has heard, as when too much happened at once, and those that their schedulers
// could not start.
func (f *Federation) lookForMoved() {
	f.mu.Lock()
	all := make([]*Job, 0, len(f.jobs))
	for _, j := range f.jobs {
		all = append(all, j)
	}
	f.mu.Unlock()
	for _, j := range all {
		handle := j.scheduled()
		switch {
		case handle == nil:
		case j.dropped(), hasMoved(handle):
			f.hasMoved(j.name)
		case isRemoved(handle):
			f.wasRemoved(j.name)
		}
	}
}

// awaitArrival has a job looked at again when it has arrived where it is being moved to. It does not wait for that.
func (f *Federation) awaitArrival(j *Job, place home.Place) {
	j.mu.Lock()
	awaited := j.awaited
	j.awaited = true
	j.mu.Unlock()
	over := func() {
		j.mu.Lock()
		j.awaited = false
		j.mu.Unlock()
	}
	if !awaited && !f.goAlong(func(ctx context.Context) {
		f.watchFor(ctx, j.name, place.Registry)
		over()
		// A job of this name that is none of this move's would be found again at once, and so would a registry that opens no
		// view fail. Then settleAll tries again, which pauses.
		if now, err := f.directory.Find(ctx, j.name); err == nil && (now.From != place.From || now.Registry != place.Registry) {
			f.wake()
		}
	}) {
		over()
	}
}

// watchFor returns when a registry has a job that is to arrive there, or after a while.
func (f *Federation) watchFor(ctx context.Context, name, registryName string) {
	ctx, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	store, err := f.member(registryName).store(ctx)
	if err != nil {
		return // the next try finds out why
	}
	view, err := f.viewOf(ctx, store, name)
	if err != nil {
		return
	}
	defer view.Close()
	_, _ = view.WaitFor(ctx, func(s registry.Snapshot) bool {
		config := s.Get(jobtree.For(name).Config())
		_, elsewhere := jobtree.DecodeElsewhere(config)
		return config.Exists() && !elsewhere
	})
}

// viewOf opens the view of a job's configuration, of which many may be wanted at once.
func (f *Federation) viewOf(ctx context.Context, store home.Store, name string) (*registry.View, error) {
	select {
	case f.viewing <- struct{}{}:
		defer func() { <-f.viewing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return store.View(ctx, jobtree.For(name).Config())
}
