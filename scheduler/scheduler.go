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

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/logqueue"
	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/handover"
	"github.com/elasticron/elasticron/scheduler/internal/load"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
	"github.com/elasticron/elasticron/scheduler/internal/together"
)

// leastFlush is how long the log has for what it has not taken when Run ends, whatever has used up the time of a stop.
const leastFlush = 100 * time.Millisecond

// Scheduler runs the jobs of one process. Its methods are safe for concurrent use.
type Scheduler struct {
	registry registry.Registry
	options
	dialect peers.Dialect // of others that may share the jobs
	traits  peers.Traits  // theirs
	log     *slog.Logger
	lines   *logqueue.Queue // of log: nothing waits for it
	repeats *repeats.Log
	// together commits for all jobs what many come to at the same time.
	together together.Together
	// handovers bounds how much jobs that are left have to tell the registry at a time.
	handovers handover.Handovers
	runs      *repeats.Log // of the lines of ofRuns
	// observer stands for all.
	observer *observers

	timetable *fires.Timetable
	schedules fires.Schedules
	admission *admission.Admission
	load      load.Load
	clock     fires.ClockCheck
	process   room.Process // as rooms are shown it
	// clockWas and clockOwed are for the goroutine of the timetable alone; see watchClock.
	clockWas   time.Duration
	clockOwed  bool        // the registry had not told its time when it was asked
	clockFails atomic.Bool // it did not tell the time when it was asked last, though it can
	notices    notify.Notices
	work       sync.WaitGroup // goroutines of runners and items
	opening    chan struct{}  // has an element for each view of a job that is being opened
	ready      chan struct{}

	mu           sync.Mutex
	runners      map[string]*runner
	adding       map[string]chan struct{} // jobs that are being declared; closed when that is over
	catalog      *catalog                 // nil without handlers, and before Run
	left         map[string]*leftJob      // jobs that this process has left, in which it may come to be registered again
	notData      map[string]struct{}      // jobs that this process has left, and so does not take up as data; of one with handlers
	telling      map[*runner]struct{}     // that have left their jobs, and whose error handlers are still told of failures
	leftClosed   bool                     // no view of those is opened any more
	leftLooking  bool                     // they are looked at now and then
	catalogBlind error                    // why the list of jobs cannot be followed; nil if it can
	returned     bool                     // Run has
	attached     *room.Attachment         // nil while there is no session
	session      *registry.Session        // the newest there was; nil before the first
	life         context.Context          // of all that Run starts; nil before Run, ended after it
	fail         context.CancelCauseFunc
	endLife      context.CancelCauseFunc
	stop         context.Context // ends when Run is to stop
	cancelled    context.Context // ends when a stop cancels all items
	cancelAll    context.CancelFunc
	over         context.Context // ends when Run is over, and why is its cause
	endCalls     context.CancelCauseFunc
	stopWithin   time.Duration // as long as running items have at a stop

	curfew    *stopping.Curfew
	listeners *notify.Listeners
	failures  notify.Bounds // of the calls of error handlers
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
		registry:   reg,
		options:    o,
		dialect:    dialect,
		traits:     dialect.Traits(),
		timetable:  fires.NewTimetable(o.now),
		admission:  admission.New(),
		ready:      make(chan struct{}),
		opening:    make(chan struct{}, mostOpening),
		runners:    make(map[string]*runner),
		adding:     make(map[string]chan struct{}),
		left:       make(map[string]*leftJob),
		notData:    make(map[string]struct{}),
		telling:    make(map[*runner]struct{}),
		stopWithin: o.stopTimeout,
	}
	logger, lines := logqueue.New(o.logger)
	log := logger.With(logInstance, o.instance)
	s.lines = lines
	s.process = room.Process{Instance: o.instance, Clock: &s.clock}
	s.together.Registry = reg
	s.repeats = repeats.New(log, repeats.Every)
	s.log, s.runs = countRuns(log)
	s.observer = hearers(s)
	s.timetable.Woke = s.watchClock
	s.curfew = stopping.NewCurfew()
	s.cancelled, s.cancelAll = context.WithCancel(context.Background())
	s.over, s.endCalls = context.WithCancelCause(context.Background())
	s.listeners = &notify.Listeners{Curfew: s.curfew, Timeout: s.listenerTimeout, Failed: s.listenerFailed}
	s.failures = notify.Bounds{Timeout: s.errorHandlerTimeout, Curfew: s.curfew}
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

// Ready returns a channel that is closed when every job declared before Run has joined its cluster. By then, a health
// report names also the jobs of the registry that this process takes part in, which may still be joining theirs. If Run
// ends before that, it stays open: whoever waits for it should wait for the end of Run, too.
func (s *Scheduler) Ready() <-chan struct{} { return s.ready }

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
	stop, halt := context.WithCancelCause(ctx) // when to stop, and why
	defer halt(nil)
	fail := func(why error) { halt(&ending{why}) }
	life, end := context.WithCancelCause(execution.WithStop(context.WithoutCancel(ctx), s.cancelled)) // of everything that Run starts
	defer end(nil)
	runners, err := s.enterRun(stop, life, fail, end)
	if err != nil {
		return err
	}
	defer func() {
		s.lines.Flush(max(leastFlush, min(stopping.LastWords, s.curfew.Moment(3*stopping.LastWords))))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.returned = true
	}()
	s.notices.Begin(life, s.listeners, s.work.Go)
	var loops sync.WaitGroup
	loops.Go(func() { fail(s.followSessions(life)) })
	loops.Go(func() { s.timetable.Run(stop) })
	loops.Go(func() { s.startAll(stop, life, runners) })
	failure := waitStop(stop)

	// What creates work has stopped with stop; then goes the work, then what it is recorded with.
	var stopped []*runner
	var abandoned error
	if errors.Is(failure, ErrVanished) {
		end(failure) // whoever called Vanish may not have come to it, and code is to hear why
		s.curfew.Hasten()
		defer s.curfew.Start(0, func() {})()
	} else {
		stopped = s.leaveAll()
		over, given := s.windDown(stopped) //nolint:contextcheck // what winds down has a time of its own
		defer over()
		abandoned = given
		if errors.Is(context.Cause(life), ErrVanished) { // meanwhile, and from then on the tree stays as it is
			failure, stopped = errors.Join(failure, ErrVanished), nil
		}
	}
	end(nil)
	s.endCalls(stoppedFor(stop))
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
	if err := s.startCatalog(life, len(runners)); err != nil {
		s.fail(err) // does nothing if a stop or an earlier failure is why
		return
	}
	group, groupCtx := errgroup.WithContext(stop)
	var denied atomic.Int64
	for _, r := range runners {
		group.Go(func() error {
			err := s.start(life, r)
			if errors.Is(err, registry.ErrDenied) {
				r.log.ErrorContext(life, "job is left alone: the registry does not let this process read it", logError, err)
				s.forgetUnopened(r)
				if denied.Add(1) < int64(len(runners)) {
					return nil // the others have nothing to do with that
				}
			}
			if err != nil {
				return err
			}
			if s.isAbsent(r) {
				return nil // it joins when somebody stores it
			}
			if err := r.waitJoined(groupCtx, stop); !r.departure.gone.Has() {
				return err
			}
			return nil // it was left
		})
	}
	if err := group.Wait(); err != nil {
		s.fail(err)
		return
	}
	select {
	case <-s.catalog.looked():
		close(s.ready)
	case <-stop.Done():
	}
}
