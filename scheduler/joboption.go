package scheduler

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// JobOption sets something of one job in this process, when it is declared by [Scheduler.Add]. It is
// not stored: what all instances share is in [job.Config].
type JobOption func(*jobOptions) error

type jobOptions struct {
	listeners []job.Listener
	conflict  Conflict
	follows   bool // the job is not created
	hooks     *job.WholeRoundListener
}

// check finds what the options and the configuration make impossible together.
func (o *jobOptions) check(cfg job.Config, traits peers.Traits) error {
	if o.hooks != nil && traits.Unrecorded {
		return fmt.Errorf("%w: a whole-round listener needs a job that no Java instances share: they do not tell which items have run", ErrInvalidOption)
	}
	schedule, _ := cfg.Schedule() // nil is one of the faults that others report
	rules := policy.RulesOf(schedule, cfg)
	if o.hooks != nil && !wholeround.Together(&cfg, &rules) {
		return fmt.Errorf("%w: a whole-round listener needs a job that is not Unmonitored, and whose cron is no @delay: its items have no rounds together", ErrInvalidOption)
	}
	return nil
}

// plain are the options of all jobs that have none. They are never written.
var plain = jobOptions{conflict: RegistryWins}

func newJobOptions(opts []JobOption) (*jobOptions, error) {
	if len(opts) == 0 {
		return &plain, nil
	}
	o := plain
	faults := option.Apply(&o, opts)
	return &o, errors.Join(faults...)
}

// WithoutCreating declares a job that was stored before, as when a process follows it to another registry: if it is not
// there any more, it was removed, and Add does not create it. Add then returns at once. The job pauses like every one that was
// removed, and goes on when somebody stores it.
func WithoutCreating() JobOption {
	return func(o *jobOptions) error {
		o.follows = true
		return nil
	}
}

// WithListener adds a listener to the job's rounds on this instance. Of several, BeforeRun is called
// in the order in which they were given, one after the other, and so is AfterRun.
func WithListener(listener job.Listener) JobOption {
	return func(o *jobOptions) error {
		if listener == nil {
			return fmt.Errorf("%w: listener is nil", ErrInvalidOption)
		}
		o.listeners = append(o.listeners, listener)
		return nil
	}
}

// WithWholeRoundListener adds hooks that run once for each whole round of the job, on one of its instances. Every instance
// must declare the job with one. It is not allowed with [WithJavaPeers] and [WithElasticJob3Peers]. Only such jobs pay for
// it: two requests for each hook that runs, and none more for the items.
func WithWholeRoundListener(listener job.WholeRoundListener) JobOption {
	return func(o *jobOptions) error {
		if err := listener.Validate(); err != nil {
			return fmt.Errorf("%w: whole-round listener: %w", ErrInvalidOption, err)
		}
		if o.hooks != nil {
			return fmt.Errorf("%w: two whole-round listeners, a job can have one", ErrInvalidOption)
		}
		o.hooks = &listener
		return nil
	}
}
