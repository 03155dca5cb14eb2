package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/load"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// startLimit bounds how many jobs register at the same time.
const startLimit = 64

// Scheduler runs the jobs of one process. Its methods are safe for concurrent use.
type Scheduler struct {
	registry registry.Registry
	options
	dialect peers.Dialect // of others that may share the jobs
	traits  peers.Traits  // theirs
	log     *slog.Logger
	repeats *repeats.Log
	runs    *repeats.Log // of the lines of ofRuns
	// observer stands for all.
	observer *observers

	timetable *fires.Timetable
	admission *admission.Admission
	load      load.Load
	clock     fires.ClockCheck
	// clockWas is for the goroutine of the timetable alone; see watchClock.
	clockWas time.Duration
	notices  notify.Notices
	work     sync.WaitGroup // goroutines of runners and items
	ready    chan struct{}

	mu           sync.Mutex
	runners      map[string]*runner
	adding       map[string]chan struct{}  // jobs that are being declared; closed when that is over
	catalog      *catalog                  // nil without handlers, and before Run
	left         map[string]*registry.View // of this instance in jobs that it has left; nil until one is open
	leftClosed   bool                      // no view of those is opened any more
	catalogBlind error                     // why the list of jobs cannot be followed; nil if it can
	returned     bool                      // Run has
	attached     *room.Attachment          // nil while there is no session
	session      *registry.Session         // the newest there was; nil before the first
	life         context.Context           // of all that Run starts; nil before Run, ended after it
	fail         context.CancelCauseFunc
	endLife      context.CancelCauseFunc
	stop         context.Context // ends when Run is to stop

	curfew    *stopping.Curfew
	listeners *notify.Listeners
}

// New makes a scheduler over a registry, which stays the caller's to close after Run has returned.
// It does no I/O and starts nothing. The error lists every option that is not allowed and is
// [ErrInvalidOption].
func New(reg registry.Registry, opts ...Option) (*Scheduler, error) {
	if reg == nil {
		return nil, fmt.Errorf("%w: registry is nil", ErrInvalidOption)
	}
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	dialect, err := dialectOf(&o, reg)
	if err != nil {
		return nil, err
	}
	s := &Scheduler{
		registry: reg, options: o, dialect: dialect, traits: dialect.Traits(),
		timetable: fires.NewTimetable(o.now), admission: admission.New(), ready: make(chan struct{}), runners: make(map[string]*runner), adding: make(map[string]chan struct{}),
		left: make(map[string]*registry.View),
	}
	log := o.logger.With(logInstance, o.instance)
	s.repeats = repeats.New(log, repeats.Every)
	s.log, s.runs = countRuns(log)
	s.observer = hearers(s)
	s.timetable.Woke = s.watchClock
	s.curfew = stopping.NewCurfew()
	s.listeners = &notify.Listeners{Curfew: s.curfew, Timeout: s.listenerTimeout, Failed: s.listenerFailed}
	s.load.Tell = s.tellLoad
	s.watchRegistryClock()
	for _, one := range s.observers {
		if o, is := one.(HealthObserver); is {
			o.ObserveHealth(s.Health)
		}
	}
	return s, nil
}

// InstanceID returns the id under which this process takes part in its jobs.
func (s *Scheduler) InstanceID() string { return s.instance }

// Ready returns a channel that is closed when every job declared before Run has joined its cluster.
func (s *Scheduler) Ready() <-chan struct{} { return s.ready }

// Add declares a job, whose items handler runs, and returns its handle. It may be called before Run and while
// Run goes on; in the second case it returns when the job has joined its cluster. If ctx ends before that, the
// job is declared all the same, and joins when it can; [Scheduler.Job] finds its handle.
//
// The first declaration of a job in the registry stores its configuration. Later ones leave the
// stored one as it is: what is stored counts, for every instance. [OnConflict] says otherwise.
//
// Errors after which the registry is as it was: every fault of cfg at once; an option that is not
// allowed, which is [ErrInvalidOption]; a cron that never fires; an unknown sharding strategy;
// [ErrDeclared], also of all but one of several calls for one job at once; [ErrClassConflict] if the
// stored job is another one; [ErrConfigConflict] if a difference is to be refused; a stored configuration
// that cannot be read; [ErrJavaPeers]; [ErrStopped] if Run has stopped before.
//
// Errors after which the configuration may be stored, because others may rely on it by then: those of
// the registry, the end of ctx, and [ErrStopped] if Run stops meanwhile. After [registry.ErrUnknownOutcome]
// the job was not there yet, and may be in a moment, or never: declare it again.
func (s *Scheduler) Add(ctx context.Context, cfg job.Config, handler job.Handler, opts ...JobOption) (*Job, error) {
	r, err := s.add(ctx, cfg, handler, opts)
	if err != nil {
		return nil, fmt.Errorf("declare job %q: %w", cfg.Name, err)
	}
	return &Job{s, r}, nil
}

func (s *Scheduler) add(ctx context.Context, cfg job.Config, handler job.Handler, opts []JobOption) (*runner, error) {
	declared, err := newJobOptions(opts)
	if err != nil {
		return nil, err
	}
	if err := declared.check(cfg); err != nil {
		return nil, err
	}
	if err := s.checkDeclaration(ctx, cfg, handler); err != nil {
		return nil, err
	}
	r := newRunner(s, cfg, handler, declared) //nolint:contextcheck // the runner lives as long as Run
	wait, err := s.declare(ctx, r, cfg)
	if err != nil {
		return nil, err
	}
	return r, wait()
}

// declare stores a configuration and puts its runner on the list. Nobody else does either for the same
// job meanwhile, so a declaration that is refused as the second one has stored nothing. wait is that of
// enter.
func (s *Scheduler) declare(ctx context.Context, r *runner, cfg job.Config) (wait func() error, err error) {
	release, err := s.reserve(ctx, cfg.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.dialect.Admit(ctx, cfg.Name); err != nil {
		return nil, err
	}
	if err := s.storeConfig(ctx, cfg, r.declared.conflict); err != nil {
		return nil, err
	}
	return s.enter(ctx, r)
}

// enter puts the runner on the list, and starts it if Run is under way. Both are one step under the
// lock: Run, when it stops, sees the runner and waits for its start, or the runner is refused. wait
// returns when the job has joined, or at once before Run.
func (s *Scheduler) enter(ctx context.Context, r *runner) (wait func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	life, err := s.enterLocked(r)
	if err != nil {
		return nil, err
	}
	if life == nil {
		return func() error { return nil }, nil // Run starts it
	}
	started := make(chan error)
	s.work.Go(func() { s.startNow(ctx, life, r, started) })
	return func() error {
		select {
		case err := <-started:
			if err != nil {
				return err
			}
			return r.waitJoined(ctx)
		case <-ctx.Done():
			return fmt.Errorf("waiting to join: %w", context.Cause(ctx))
		}
	}, nil
}

// startNow starts a job of a Run that is under way, and tells how that went while ctx lasts. The job
// itself lives as long as Run.
func (s *Scheduler) startNow(ctx, life context.Context, r *runner, started chan<- error) {
	err := s.start(life, r)
	if err != nil {
		s.forget(r)
	}
	select {
	case started <- err:
	case <-ctx.Done():
		if err != nil && life.Err() == nil {
			r.log.ErrorContext(life, "job was declared and cannot be started", logError, err)
		}
	}
}

// refusal tells why a job of this name cannot be added. The caller holds mu.
func (s *Scheduler) refusal(name string) error {
	switch {
	case s.runners[name] != nil:
		return ErrDeclared
	case s.stop != nil && s.stop.Err() != nil:
		return ErrStopped
	default:
		return nil
	}
}

// reserve lets only the caller declare a job of this name, until the caller releases the name. It holds up
// other declarations, which wait and then find the job declared or may try themselves, and the catalog,
// which looks at the job afterwards.
func (s *Scheduler) reserve(ctx context.Context, name string) (release func(), err error) {
	for {
		s.mu.Lock()
		err, other := s.refusal(name), s.adding[name]
		if err == nil && other == nil {
			s.adding[name] = make(chan struct{})
		}
		s.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case other == nil:
			return func() { s.release(name) }, nil //nolint:contextcheck // jobs live as long as Run, not as this call
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another declaration of the job: %w", context.Cause(ctx))
		}
	}
}

func (s *Scheduler) release(name string) {
	s.mu.Lock()
	close(s.adding[name])
	delete(s.adding, name)
	c := s.catalog
	s.mu.Unlock()
	if c != nil {
		c.box.Post(func() { c.consider(name) })
	}
}

// enterData puts the runner of a job that nobody is declaring on the list, and returns Run's life.
func (s *Scheduler) enterData(r *runner) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.adding[r.name] != nil {
		return nil, ErrDeclared
	}
	if _, left := s.left[r.name]; left {
		return nil, errLeft
	}
	return s.enterLocked(r)
}

// enterLocked puts the runner on the list, and returns Run's life if it is running. The caller holds mu.
func (s *Scheduler) enterLocked(r *runner) (context.Context, error) {
	if err := s.refusal(r.name); err != nil {
		return nil, err
	}
	s.runners[r.name] = r
	return s.life, nil
}

// forget takes a runner off the list that could not be started.
func (s *Scheduler) forget(r *runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.view == nil {
		delete(s.runners, r.name)
		r.departure.over()
	}
}

// waitJoined waits until the runner's instance is registered.
func (r *runner) waitJoined(ctx context.Context) error {
	select {
	case <-r.joined:
		return nil
	case <-r.departure.gone:
		return errLeft
	case <-ctx.Done():
		return fmt.Errorf("waiting to join: %w", context.Cause(ctx))
	case <-r.life.Done():
		return ErrStopped
	}
}

// Run takes part in the declared jobs until ctx ends. Losing the session cancels the items that run,
// never Run: it registers again when the registry is back.
//
// When ctx ends, Run fires nothing new, hands its items and leaderships over, gives running items
// the stop timeout, and returns nil once every goroutine that it started is gone. Listeners and error
// handlers have the same deadline. What does not return even then is given up and named in the error;
// [WithStopTimeout] says how long that can take at most.
//
// There are other ways to go: [Scheduler.StopNow] and [Scheduler.Vanish].
//
// Other errors: [ErrRan] if it was called before, [ErrVanished], [ErrDuplicateInstance], or what the registry says
// when it cannot be used at all.
func (s *Scheduler) Run(ctx context.Context) error {
	stop, fail := context.WithCancelCause(ctx) // when to stop, and why
	defer fail(nil)
	life, end := context.WithCancelCause(context.WithoutCancel(ctx)) // of everything that Run starts
	defer end(nil)
	runners, err := s.enterRun(stop, life, fail, end)
	if err != nil {
		return err
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.returned = true
	}()
	s.notices.Begin(life, s.listeners, s.work.Go)
	var loops sync.WaitGroup
	loops.Go(func() { fail(s.followSessions(life)) })
	loops.Go(func() { s.timetable.Run(stop) })
	loops.Go(func() { s.startAll(stop, life, runners) })
	failure := waitStop(ctx, stop)

	// What creates work has stopped with stop; then goes the work, then what it is recorded with.
	var stopped []*runner
	var abandoned error
	if errors.Is(failure, ErrVanished) {
		s.curfew.Hasten()
		defer s.curfew.Start(0, func() {})()
	} else {
		stopped = s.handOver()
		over, given := s.windDown(stopped) //nolint:contextcheck // what winds down has a time of its own
		defer over()
		abandoned = given
	}
	end(nil)
	defer s.notices.Close()()
	loops.Wait()
	s.closeRunners()
	s.giveUpRemains(stopped)
	s.closeObservers()
	s.repeats.Close()
	s.runs.Close()
	return errors.Join(failure, abandoned, s.curfew.Report())
}

func (s *Scheduler) enterRun(stop, life context.Context, fail, end context.CancelCauseFunc) ([]*runner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life != nil {
		return nil, ErrRan
	}
	s.stop, s.life, s.fail, s.endLife = stop, life, fail, end
	s.curfew.Arm(life)
	return s.list(), nil
}

// startAll starts the jobs declared before Run, a few at a time, and says when all have joined. One
// that cannot join holds nobody up.
func (s *Scheduler) startAll(stop, life context.Context, runners []*runner) {
	if err := s.startCatalog(life); err != nil {
		s.fail(err) // does nothing if a stop or an earlier failure is why
		return
	}
	group, groupCtx := errgroup.WithContext(stop)
	slots := make(chan struct{}, startLimit)
	var denied atomic.Int64
	for _, r := range runners {
		group.Go(func() error {
			slots <- struct{}{}
			err := s.start(life, r)
			<-slots
			if errors.Is(err, registry.ErrDenied) {
				r.log.ErrorContext(life, "job is left alone: the registry does not let this process read it", logError, err)
				s.forget(r)
				if denied.Add(1) < int64(len(runners)) {
					return nil // the others have nothing to do with that
				}
			}
			if err != nil {
				return err
			}
			if err := r.waitJoined(groupCtx); !errors.Is(err, errLeft) {
				return err
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		s.fail(err)
		return
	}
	close(s.ready)
}

// list returns the runners. The caller holds mu.
func (s *Scheduler) list() []*runner {
	all := make([]*runner, 0, len(s.runners))
	for _, r := range s.runners {
		all = append(all, r)
	}
	return all
}
