package federation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/instanceid"
	"github.com/elasticron/elasticron/internal/logqueue"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// Keys of log lines.
const (
	logRegistry = "registry"
	logJob      = "job"
	logError    = "error"
)

// Federation runs the jobs of one process over several registries. Its methods are safe for concurrent use.
type Federation struct {
	directory *home.Directory
	members   []*member // in the order of their names
	rule      Rule
	shared    []scheduler.Option
	log       *slog.Logger
	lines     *logqueue.Queue // of log: nothing waits for it
	patience  time.Duration
	instance  func() string // the id under which all schedulers take part, made when the first registry was opened

	woken   chan struct{} // has something if jobs should be looked at
	viewing chan struct{} // has something for each view that is being opened to await an arrival

	mu       sync.Mutex
	jobs     map[string]*Job // that were added
	stop     context.Context // of Run; nil before
	end      context.CancelFunc
	closing  bool // nothing is to be begun any more
	closed   bool // the handles are, or are about to be
	returned bool
	timeout  *time.Duration // of SetStopTimeout
	work     sync.WaitGroup // goroutines of Run
}

// New makes a federation over registries. directory is the name of one of them, the same in all processes: there it is
// decided in which registry a new job is. New does no I/O and starts nothing. The error lists every option that is not
// allowed and is [ErrInvalidOption]; options of schedulers are checked when their registries are opened.
func New(directory string, registries []Registry, options ...Option) (*Federation, error) {
	names, faults := namesOf(registries)
	f := &Federation{
		rule: Rendezvous(names...), log: slog.New(slog.DiscardHandler), patience: DefaultPatience, instance: sync.OnceValue(instanceid.New),
		jobs: make(map[string]*Job), woken: make(chan struct{}, 1), viewing: make(chan struct{}, settledAtOnce),
	}
	faults = append(faults, option.Apply(f, options)...)
	f.log, f.lines = logqueue.New(f.log)
	for _, r := range registries {
		f.members = append(f.members, &member{f: f, name: r.Name, open: r.Open, options: r.Options, opening: make(chan struct{}, 1)})
	}
	slices.SortFunc(f.members, func(a, b *member) int { return cmp.Compare(a.name, b.name) })
	var err error
	f.directory, err = home.New(directory, names, func(ctx context.Context, name string) (home.Store, error) { return f.member(name).store(ctx) })
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, err
	}
	return f, nil
}

// Directory returns what finds the homes of jobs and moves them.
func (f *Federation) Directory() *home.Directory { return f.directory }

// member returns a registry that there is.
func (f *Federation) member(name string) *member {
	i := slices.IndexFunc(f.members, func(m *member) bool { return m.name == name })
	return f.members[i]
}

// newScheduler makes the scheduler of a registry. All take part under one instance id, unless options say otherwise. The caller
// holds no lock: observers are called, which may call the federation.
func (f *Federation) newScheduler(m *member, reg registry.Registry) (*scheduler.Scheduler, error) {
	options := []scheduler.Option{
		scheduler.WithLogger(f.log.With(logRegistry, m.name)), scheduler.WithObserver(m), scheduler.WithInstanceID(f.instance()),
	}
	return scheduler.New(reg, slices.Concat(options, f.shared, m.options)...)
}

// bound passes on what SetStopTimeout was given before there was a scheduler, which has been published since.
func (f *Federation) bound(s *scheduler.Scheduler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timeout != nil {
		_ = s.SetStopTimeout(*f.timeout) // which is not negative
	}
}

// schedulers returns those whose registries were opened.
func (f *Federation) schedulers() (all []*scheduler.Scheduler) {
	for _, m := range f.members {
		m.mu.Lock()
		if m.sched != nil {
			all = append(all, m.sched)
		}
		m.mu.Unlock()
	}
	return all
}

// Run takes part in the declared jobs, and in those of the registries that there are handlers for, until ctx ends. A registry
// that cannot be reached, or whose scheduler cannot go on, takes its own jobs with it, which is logged and reported by
// Health; Run goes on with the others.
//
// When ctx ends, all schedulers stop at once and within one deadline, that of [scheduler.WithStopTimeout]; then the handles of
// the registries are closed, each of which takes a TTL at most. Run returns nil, or what the schedulers could not stop, why one
// of them had ended before, what could not be closed, and which Open has not returned. A federation runs once: the error of
// another call is [scheduler.ErrRan], and that of one after Close [scheduler.ErrStopped].
func (f *Federation) Run(ctx context.Context) error {
	stop, end := context.WithCancel(ctx)
	defer end()
	f.mu.Lock()
	ran, closed := f.stop != nil, f.closed
	if !ran && !closed {
		f.stop, f.end = stop, end
	}
	f.mu.Unlock()
	switch {
	case ran:
		return scheduler.ErrRan
	case closed:
		return scheduler.ErrStopped
	}
	errs := make([]error, len(f.members))
	var members sync.WaitGroup
	for i, m := range f.members {
		members.Go(func() { errs[i] = m.run(stop) })
	}
	f.goAlong(f.settleAll) //nolint:contextcheck // its context is that of Run
	f.wake()
	members.Wait()
	if stop.Err() == nil {
		<-stop.Done() // all schedulers have failed, and their jobs are reported until somebody stops the process
	}
	f.mu.Lock()
	f.closing = true
	f.mu.Unlock()
	f.work.Wait()
	unclosed := f.Close(context.WithoutCancel(ctx))
	f.lines.Flush(logqueue.LastLines)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.returned = true
	return errors.Join(append(errs, unclosed)...)
}

// goAlong runs what Run waits for, with a context that ends when Run is to stop. It answers false before Run and at its
// end.
func (f *Federation) goAlong(do func(ctx context.Context)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil || f.closing {
		return false
	}
	stop := f.stop
	f.work.Go(func() { do(stop) })
	return true
}

// Close closes the handles of the registries, side by side. Run does that at its end; it is for a federation that does not
// run: afterwards, Add and Run return [scheduler.ErrStopped].
func (f *Federation) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	errs := make([]error, len(f.members))
	var all sync.WaitGroup
	for i, m := range f.members {
		all.Go(func() { errs[i] = m.close(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// StopNow ends Run like the end of its context, but cancels running items at once; see [scheduler.Scheduler.StopNow].
func (f *Federation) StopNow() {
	for _, s := range f.schedulers() {
		s.StopNow()
	}
	f.halt()
}

// Vanish ends Run without a word to the registries; see [scheduler.Scheduler.Vanish]. The handles are closed all the
// same.
func (f *Federation) Vanish() {
	for _, s := range f.schedulers() {
		s.Vanish()
	}
	f.halt()
}

func (f *Federation) halt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end != nil {
		f.end()
	}
}

// SetStopTimeout changes what [scheduler.WithStopTimeout] has set, for a stop that begins later.
func (f *Federation) SetStopTimeout(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%w: the stop timeout is %s, must not be negative", ErrInvalidOption, d)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timeout = &d
	var errs []error
	for _, s := range f.schedulers() {
		errs = append(errs, s.SetStopTimeout(d))
	}
	return errors.Join(errs...)
}

// Reconsider is that of each scheduler; see [scheduler.Scheduler.Reconsider].
func (f *Federation) Reconsider() {
	for _, s := range f.schedulers() {
		s.Reconsider()
	}
}

// wake has jobs looked at that are not where they should be.
func (f *Federation) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}
