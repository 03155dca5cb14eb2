package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/internal/byhand"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// DefaultTriggerWithin is how long a request by hand lasts, unless [TriggerWithin] says so: an hour.
const DefaultTriggerWithin = byhand.DefaultWithin

// TriggerOption says what [Job.Trigger] asks for.
type TriggerOption func(*triggerOptions) error

type triggerOptions struct{ byhand.Ask }

// TriggerItems names the items that are to run. The default is all that the job has by then.
func TriggerItems(items ...int) TriggerOption {
	return func(o *triggerOptions) error {
		if len(items) == 0 {
			return fmt.Errorf("%w: no items are named", ErrInvalidOption)
		}
		o.Items = slices.Compact(slices.Sorted(slices.Values(items)))
		return nil
	}
}

// TriggerParameter gives a text to the code of the items, as [job.ShardingContext].TriggerParameter, at most 2,048
// bytes. The registry keeps it with the job.
func TriggerParameter(text string) TriggerOption {
	return func(o *triggerOptions) error {
		if len(text) > jobtree.MaxTriggerParameter {
			return fmt.Errorf("%w: a parameter of %d bytes must have at most %d", ErrInvalidOption, len(text), jobtree.MaxTriggerParameter)
		}
		o.Parameter = text
		return nil
	}
}

// TriggerFire names a fire that the executions stand for, as when the work of one is done again. The schedule is
// left alone, and the fire need not be one of it.
func TriggerFire(fire time.Time) TriggerOption {
	return func(o *triggerOptions) error {
		o.Fire = fire
		return nil
	}
}

// TriggerWithin says how long the request lasts: an item that cannot begin by then does not run for it. It must be
// positive. The default is [DefaultTriggerWithin].
func TriggerWithin(d time.Duration) TriggerOption {
	return func(o *triggerOptions) error {
		if d <= 0 {
			return fmt.Errorf("%w: within %s must be positive", ErrInvalidOption, d)
		}
		o.Within = d
		return nil
	}
}

// TriggerReplacing takes the place of a request that is pending. Items that have not begun for that one do not run for
// it any more.
func TriggerReplacing() TriggerOption {
	return func(o *triggerOptions) error {
		o.Replace = true
		return nil
	}
}

// Trigger makes items of the job run once, now, whatever the cron says: all of them, or those that the options
// name, each where it is. It returns when the request is in the registry; the request can be waited for. An item that
// is running runs once more right after, before it runs for fires that it missed; but of requests and fires that wait at
// once, none goes twice while the other waits. An item that is disabled does not run, unless it is enabled before the
// request ends.
//
// A job has one request at a time. Where executions are not recorded, or Java instances take part, nobody sees whether items
// have begun for the one before: each request takes its place, and items that have not begun do not run for it any more.
//
// Errors: [ErrInvalidOption], [ErrTriggerPending] while items have yet to begin for the one
// before, [ErrUnknownJob] if the scheduler does not have the job any more or has stopped, [ErrNoInstance] if no instance
// lives whose server is enabled, or the job is disabled, a [job.FieldError] for what the job cannot do, such as items that
// it does not have or that are disabled, [ErrNotStored], the end of ctx, and those of the registry. After
// [registry.ErrUnknownOutcome] the job may have been triggered; asking again may trigger it twice.
//
// Where Java instances take part, the whole job alone can be asked for, without a parameter or a fire, and each
// instance answers for the items that it has at that time. Beyond a hundred Java instances it takes further requests. If
// one of those fails, the error says so: the others run for it, and those that are left do not.
func (j *Job) Trigger(ctx context.Context, options ...TriggerOption) (*Request, error) {
	o := triggerOptions{byhand.Ask{Within: DefaultTriggerWithin, Java: j.s.traits.AloneAnswered}}
	faults := option.Apply(&o, options)
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("trigger job %q: %w", j.r.name, err)
	}
	j.s.mu.Lock()
	known := j.s.runners[j.r.name] == j.r && (j.s.life == nil || j.s.life.Err() == nil)
	j.s.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("trigger job %q: %w", j.r.name, ErrUnknownJob)
	}
	ctx, free := j.whileKnown(ctx)
	defer free()
	var seen registry.Revision // what was in the way must be seen
	for {
		request, err := j.trigger(ctx, o.Ask, seen)
		var conflict *registry.ConflictError
		switch {
		case err == nil:
			return request, nil
		case !errors.As(err, &conflict):
			return nil, fmt.Errorf("trigger job %q: %w", j.r.name, err)
		}
		seen = conflict.Revision
	}
}

// trigger puts the request as one node, however many instances there are, in the place of the one that was read. A
// request that is carried out late does not trigger once more. If the answer was lost and others have overtaken it,
// nobody can tell whether it was done, so it is not made again.
func (j *Job) trigger(ctx context.Context, a byhand.Ask, seen registry.Revision) (*Request, error) {
	state, err := j.state(ctx, seen)
	if err != nil {
		return nil, err
	}
	r, err := byhand.Decide(state, a, j.s.now())
	if err != nil { // the view shows a step a moment after those know of it that follow the job, as that it has joined
		if state, err = j.stored(ctx); err != nil {
			return nil, err
		}
		if r, err = byhand.Decide(state, a, j.s.now()); err != nil {
			return nil, refusedTrigger(state, a, err)
		}
	}
	// The first request creates the node, which is removed with the job, and so with the configuration.
	txn := registry.Txn{If: r.Compare, Then: r.Writes, Repeat: registry.RepeatCreation}
	revision, err := j.s.registry.Commit(ctx, txn)
	if err != nil {
		return nil, unsure(err)
	}
	if r.More {
		if err := byhand.AskRest(ctx, j.s.registry, j.state, revision); err != nil {
			return nil, err
		}
	}
	items := r.Items
	if items == nil {
		for n := range state.Config.Value.ShardingTotalCount {
			items = append(items, n)
		}
	}
	return &Request{j: j, revision: revision, items: items, until: r.Until, each: r.Each}, nil
}

// refusedTrigger says in the words of this package why a request is not made.
func refusedTrigger(s *jobtree.State, a byhand.Ask, err error) error {
	var fault *byhand.Fault
	if !errors.As(err, &fault) {
		return err
	}
	ofItems := func(reason string) error {
		return &job.FieldError{Field: "Items", Value: strconv.Itoa(fault.Items[0]), Reason: reason}
	}
	switch fault.Why {
	case byhand.NotStored:
		return ErrNotStored
	case byhand.JobDisabled, byhand.NobodyLives, byhand.NobodyEnabled:
		return ErrNoInstance
	case byhand.Unusable, byhand.Unwritable:
		return fault.Err
	case byhand.BeyondJava:
		return &job.FieldError{Field: "Items", Value: fmt.Sprint(a.Items), Reason: "and parameter and fire must not be given, because Java instances take part, which know the whole job alone"}
	case byhand.UnknownItems:
		return ofItems(fmt.Sprintf("must be from 0 to %d", s.Config.Value.ShardingTotalCount-1))
	case byhand.ItemsDisabled:
		return ofItems("must be enabled, and it is disabled")
	case byhand.AllDisabled:
		return &job.FieldError{Field: "Items", Value: "all", Reason: "must be enabled, one of them at least, and they are disabled"}
	case byhand.Pending:
		return fmt.Errorf("%w: request %d waits for items %v", ErrTriggerPending, s.Triggered().Revision, fault.Items)
	}
	return fault
}

// unsure returns a conflict after which nobody can tell whether the transaction was done, as an unknown
// outcome: what must not be done twice is not to be decided again. Other errors stay as they are.
func unsure(err error) error {
	var conflict *registry.ConflictError
	if errors.As(err, &conflict) && conflict.Ambiguous {
		return fmt.Errorf("%w: %s", registry.ErrUnknownOutcome, conflict.Error())
	}
	return err
}
