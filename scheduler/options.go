package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/instanceid"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/following"
	"github.com/elasticron/elasticron/sharding"
)

// Option sets something of this process. What describes a job is in [job.Config].
type Option func(*options) error

// DefaultStopTimeout is how long a stop waits if [WithStopTimeout] does not say otherwise.
const DefaultStopTimeout = 20 * time.Second

// MaxHeadStart is the longest head start that a job may have; see [WithHeadStart].
const MaxHeadStart = fires.MaxHeadStart

type options struct {
	instance    string
	logger      *slog.Logger
	observers   []Observer
	strategies  *sharding.Registry
	stopTimeout time.Duration
	now         func() time.Time
	java        bool // Java instances of Elastic-Job-Lite 2.1.5 share the jobs
	java3       bool // Java instances of ElasticJob 3.0.x share the jobs
	handlers    handlers

	connectionListeners []ConnectionListener
	leadershipListeners []LeadershipListener
	listenerTimeout     time.Duration
	errorHandlers       *errorhandler.Registry
	errorHandlerTimeout time.Duration
	following           following.Rule
	headStart           time.Duration
}

func newOptions(opts []Option) (options, error) {
	o := options{
		logger:      slog.New(slog.DiscardHandler),
		strategies:  sharding.Default(),
		stopTimeout: DefaultStopTimeout,
		now:         time.Now,

		listenerTimeout:     defaultListenerTimeout,
		errorHandlers:       errorhandler.Default(),
		errorHandlerTimeout: 10 * time.Second,
		headStart:           MaxHeadStart,
	}
	faults := option.Apply(&o, opts)
	if o.instance == "" {
		o.instance = instanceid.New()
	}
	faults = append(faults, o.checkShared())
	return o, errors.Join(faults...)
}

// WithInstanceID sets the id under which this process takes part in its jobs: "<ip>@-@<text>", with
// no slash and no second "@-@". Two live processes must not share one, nor may two schedulers of a process over one registry:
// the second gets [ErrDuplicateInstance]. The default is the host's first address, the pid and a random part, new for each
// Scheduler.
func WithInstanceID(id string) Option {
	return func(o *options) error {
		if _, err := jobtree.ParseInstanceID(id); err != nil {
			return fmt.Errorf("%w: instance id: %w", ErrInvalidOption, err)
		}
		o.instance = id
		return nil
	}
}

// WithLogger sets where the scheduler logs, and with it where failures of items are reported: the
// default error handler tells the log. The default logger logs nothing.
//
// Nothing waits for the log: its lines are handed over on a goroutine of their own, in their order. A log that stands still
// misses what comes while 8192 lines wait, and one that panics misses the line; the next one that it takes counts that.
// Before Run returns, it has up to a second for what is left, and less where a stop has used its time up. One that still stands
// then is no error of Run: if it goes on, it is handed what is left even after Run has returned. Whether it wants lines of a
// level it is asked in place, so that has to be quick.
func WithLogger(logger *slog.Logger) Option {
	return func(o *options) error {
		if logger == nil {
			return fmt.Errorf("%w: logger is nil", ErrInvalidOption)
		}
		o.logger = logger
		return nil
	}
}

// WithObserver adds somebody who hears what the scheduler does. The default is nobody; of several,
// each hears everything; see [Event] for what that is. An observer may also be an [ItemContext] and a
// [HealthObserver].
func WithObserver(observer Observer) Option {
	return func(o *options) error {
		if f, is := observer.(ObserverFunc); observer == nil || is && f == nil {
			return fmt.Errorf("%w: observer is nil", ErrInvalidOption)
		}
		o.observers = append(o.observers, observer)
		return nil
	}
}

// WithJavaPeers tells that Java instances of Elastic-Job-Lite 2.1.5 take part in the jobs of this
// scheduler, over the same ZooKeeper. Every process of such a cluster that uses this library must set
// it, while there are Java instances and no longer. The default is that there are none.
//
// With it the scheduler does what Java instances expect of each other, and refuses to declare jobs that
// they could not read or run. The guarantees on single execution then hold among the instances of this
// library, and between all while one of them leads; docs/java.md says what that means.
func WithJavaPeers() Option {
	return func(o *options) error {
		o.java = true
		return nil
	}
}

// WithElasticJob3Peers tells that Java instances of ElasticJob 3.0.x take part in the jobs of this scheduler, over the
// same ZooKeeper. It is [WithJavaPeers] for these, and not to be used with it: nodes are read and written as ElasticJob
// 3.x writes them, so one job is never shared by both kinds, nor by processes with different options. Settings that
// ElasticJob 3.x does not have are refused. It is tested with 3.0.4; docs/java.md says what works.
func WithElasticJob3Peers() Option {
	return func(o *options) error {
		o.java3 = true
		return nil
	}
}

// WithStrategies sets the sharding strategies by name that this process knows. The default is
// [sharding.Default]. A process does not lead a job whose strategy it does not know.
//
// A strategy of your own is asked apart from everything else. While it has not returned, the items stay
// where they are; after ten seconds the log and [JobHealth.Sharding] say so. After the total count of a job was changed nothing
// of it begins until the strategy has answered; if it fails, or has not returned after ten seconds, the items that there still
// are go on where they are, and new ones belong to nobody until it gives an assignment. Where Java instances share the job,
// all of them wait for that.
func WithStrategies(strategies *sharding.Registry) Option {
	return func(o *options) error {
		if strategies == nil {
			return fmt.Errorf("%w: strategies are nil", ErrInvalidOption)
		}
		o.strategies = strategies
		return nil
	}
}

// WithErrorHandlers sets the error handlers by name that this process knows. The default is
// [errorhandler.Default]: LOG, IGNORE and THROW.
func WithErrorHandlers(handlers *errorhandler.Registry) Option {
	return func(o *options) error {
		if handlers == nil {
			return fmt.Errorf("%w: error handlers are nil", ErrInvalidOption)
		}
		o.errorHandlers = handlers
		return nil
	}
}

// WithErrorHandlerTimeout bounds one call of an error handler; its context then ends with the cause
// [ErrErrorHandlerTimeout]. Two calls of a job go on at once, and 1,024 failures wait: a failure that finds no room is
// not told, and only logged. A stop waits for handlers that are still being told as it waits for items: see
// [WithStopTimeout]. The default is 10 seconds.
func WithErrorHandlerTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("%w: error handler timeout %s is not above 0", ErrInvalidOption, d)
		}
		o.errorHandlerTimeout = d
		return nil
	}
}

// WithHeadStart bounds how long before a fire the items of a job may begin for it. An execution begins with a transaction, and
// without a head start each would run later by as long as that takes. With one, an item that only waits for its fire begins for
// it ahead, by as long as that took lately, and its code is called when the fire comes and not before.
//
// Until then the tree shows that the item runs. If it is disabled meanwhile, moves, or the process stops, the begin is taken
// back, and whoever has the item when the fire comes runs it. If the process dies, or loses its session to others, that is as
// if it had happened in the run: without Failover the fire is lost, though its code was never called. docs/guarantees.md lists
// what else may come about.
//
// No head start is longer than a quarter of the time between two fires. A job's first fire in a process has none. Jobs that are
// not monitored, that have a fixed delay or that are shared with Java never have one, nor those that have a
// [job.WholeRoundListener] in this process.
//
// The default is [MaxHeadStart], which is also the most; 0 turns it off.
func WithHeadStart(most time.Duration) Option {
	return func(o *options) error {
		if most < 0 || most > MaxHeadStart {
			return fmt.Errorf("%w: head start %s, must be from 0 to %s", ErrInvalidOption, most, MaxHeadStart)
		}
		o.headStart = most
		return nil
	}
}

// WithStopTimeout bounds how long running items, listeners and error handlers may go on once a stop
// began: one deadline for all of them. Then their contexts are cancelled with the cause [ErrStopped].
// Run returns at most three seconds later, however many of them do not return, even if the registry does
// not answer; its error names what was given up, also of observers, which hear what is left in two of
// those seconds. Zero cancels them at once. If the registry did not answer until then, the session is given up; with it
// go the items of other schedulers over the same handle.
//
// The default is [DefaultStopTimeout]. With the three seconds, and what closing the registry may take,
// that is less than the 30 seconds after which Kubernetes kills a container: whoever sets more should set
// terminationGracePeriodSeconds, too, to this, three seconds and the session's TTL.
func WithStopTimeout(d time.Duration) Option {
	return func(o *options) error {
		if err := checkStopTimeout(d); err != nil {
			return err
		}
		o.stopTimeout = d
		return nil
	}
}

// WithClock sets where the scheduler reads the wall clock, by which jobs fire. The default is
// [time.Now]. It is for tests of clocks that differ or are set: how long things take is measured
// apart from it. The function must be safe for concurrent use and fast, and must not panic.
func WithClock(now func() time.Time) Option {
	return func(o *options) error {
		if now == nil {
			return fmt.Errorf("%w: clock is nil", ErrInvalidOption)
		}
		o.now = now
		return nil
	}
}

// defaultListenerTimeout is how long a listener may take if nothing else is said.
const defaultListenerTimeout = 30 * time.Second

// WithConnectionListener adds a listener to the process's session with the registry: that it was
// established, is in doubt, is back, or is lost. Of several, each hears everything. The default is
// none.
//
// Nothing waits for the listener: items are cancelled and begin as they would without it. What it
// returns, its panic, or that it took longer than the listener timeout is logged and told to the
// observer.
func WithConnectionListener(listener ConnectionListener) Option {
	return func(o *options) error {
		if listener == nil {
			return fmt.Errorf("%w: connection listener is nil", ErrInvalidOption)
		}
		o.connectionListeners = append(o.connectionListeners, listener)
		return nil
	}
}

// WithLeadershipListener adds a listener that hears when this process becomes, or ceases to be, the leader of
// a job, for every job that it takes part in. It is for information: between the call and what the
// listener does, somebody else may lead already. For the rest it is as [WithConnectionListener].
func WithLeadershipListener(listener LeadershipListener) Option {
	return func(o *options) error {
		if listener == nil {
			return fmt.Errorf("%w: leadership listener is nil", ErrInvalidOption)
		}
		o.leadershipListeners = append(o.leadershipListeners, listener)
		return nil
	}
}

// WithListenerTimeout bounds one call of any listener. Then its context ends with the cause
// [ErrListenerTimeout], and a second later what waited for it goes on; code that does not return even
// then is left behind on its goroutine. A stop may end the contexts earlier: see [WithStopTimeout]. The
// default is 30 seconds.
func WithListenerTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 {
			return fmt.Errorf("%w: listener timeout %s must be above 0", ErrInvalidOption, d)
		}
		o.listenerTimeout = d
		return nil
	}
}
