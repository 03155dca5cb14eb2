package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
)

// DefaultTriggerWithin is how long a request by hand lasts, unless [TriggerWithin] says so.
const DefaultTriggerWithin = time.Hour

// ErrTriggerPending says that items have not begun yet for the request before. It names them.
var ErrTriggerPending = errors.New("the request before is pending; it can be replaced")

// TriggerOption says what [Job.Trigger] asks for.
type TriggerOption func(*triggering)

// triggering is a request that is to be made.
type triggering struct {
	jobtree.Triggered
	within  time.Duration
	replace bool
}

// TriggerItems names the items that are to run. The default is all that the job has by then.
func TriggerItems(items ...int) TriggerOption {
	return func(a *triggering) {
		a.Items = slices.Compact(slices.Sorted(slices.Values(items)))
		if a.Items == nil {
			a.Items = []int{}
		}
	}
}

// TriggerParameter gives a text to the code of the items, as [job.ShardingContext].TriggerParameter, at most 2,048
// bytes. The registry keeps it with the job.
func TriggerParameter(text string) TriggerOption { return func(a *triggering) { a.Parameter = text } }

// TriggerFire names a fire that the executions stand for, as when the work of one is done again. The schedule is
// left alone, and the fire need not be one of it.
func TriggerFire(fire time.Time) TriggerOption { return func(a *triggering) { a.Fire = fire.UTC() } }

// TriggerWithin says how long the request lasts: an item that cannot begin by then does not run for it. The default is
// [DefaultTriggerWithin].
func TriggerWithin(d time.Duration) TriggerOption { return func(a *triggering) { a.within = d } }

// TriggerReplacing takes the place of a request that is pending. Items that have not begun for that one do not run for
// it any more.
func TriggerReplacing() TriggerOption { return func(a *triggering) { a.replace = true } }

// Trigger makes items of the job run once, now, whatever the cron says: all of them, or those that the options
// name, each where it is. It returns when the request is in the registry; the request can be waited for. An item that
// is running runs once more right after, before it runs for fires that it missed. An item that is disabled does not
// run, unless it is enabled before the request ends.
//
// A job has one request at a time. Errors: [ErrTriggerPending] while items have yet to begin for the one before,
// [ErrUnknownJob] if the scheduler does not have the job any more or has stopped, [ErrNoInstance] if no instance lives
// whose server is enabled, or the job is disabled, a [job.FieldError] for what the job cannot do, such as items that
// it does not have or that are disabled, and those of the registry. After [registry.ErrUnknownOutcome] the job may
// have been triggered; asking again may trigger it twice.
//
// Where Java instances take part, the whole job alone can be asked for, without a parameter or a fire, and each
// instance answers for the items that it has at that time.
func (j *Job) Trigger(ctx context.Context, options ...TriggerOption) (*Request, error) {
	a := triggering{within: DefaultTriggerWithin}
	for _, option := range options {
		option(&a)
	}
	j.s.mu.Lock()
	known := j.s.runners[j.r.name] == j.r && (j.s.life == nil || j.s.life.Err() == nil)
	j.s.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("trigger job %q: %w", j.r.name, ErrUnknownJob)
	}
	var seen registry.Revision // what was in the way must be seen
	for {
		request, err := j.trigger(ctx, a, seen)
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
func (j *Job) trigger(ctx context.Context, a triggering, seen registry.Revision) (*Request, error) {
	state, err := j.state(ctx, seen)
	if err != nil {
		return nil, err
	}
	now := j.s.now()
	a.Until = now.Add(a.within).UTC()
	if err := a.check(state, j.s.traits.AloneAnswered, now); err != nil {
		return nil, err
	}
	a.Each = j.s.traits.AloneAnswered || state.Config.Value.Unmonitored
	text, err := jobtree.EncodeTriggered(a.Triggered)
	if err != nil {
		return nil, err
	}
	first, others := requestTxns(state, text, javaInstances(state, j.s.traits.AloneAnswered))
	revision, err := j.s.registry.Commit(ctx, first)
	if err != nil {
		return nil, unsure(err)
	}
	// Those that are gone by now are not asked, and a request that came meanwhile is as good as this one.
	for _, o := range j.s.registry.CommitAll(ctx, others) {
		if o.Err != nil && !errors.Is(o.Err, registry.ErrConflict) {
			return nil, fmt.Errorf("the request is made, but not to all Java instances: %w", o.Err)
		}
	}
	items := a.Items
	if items == nil {
		for n := range state.Config.Value.ShardingTotalCount {
			items = append(items, n)
		}
	}
	return &Request{j: j, revision: revision, items: items, until: a.Until, each: a.Each}, nil
}

// state returns the job's tree, as this process sees it once that is as new as seen, or as it is read where the
// scheduler does not run yet or cannot follow the job.
func (j *Job) state(ctx context.Context, seen registry.Revision) (*jobtree.State, error) {
	if view, err := j.view(); err == nil && view.WaitRevision(ctx, seen) == nil {
		return j.s.dialect.StateOf(j.r.name, view.Snapshot()), nil
	}
	nodes, revision, err := j.s.registry.List(ctx, j.r.tree.Root())
	if err != nil {
		return nil, err
	}
	return j.s.dialect.StateOf(j.r.name, registry.NewSnapshot(revision, nodes)), nil
}

// check tells why a request is not made.
func (a triggering) check(s *jobtree.State, alone bool, now time.Time) error {
	if len(s.Instances) == 0 || !slices.ContainsFunc(s.Instances, func(i jobtree.Instance) bool { return s.Enabled(i.ID) }) {
		return ErrNoInstance
	}
	cfg := s.Config.Value
	switch {
	case !s.Config.Exists():
		return configuration.ErrNotStored
	case s.Config.Err != nil:
		return s.Config.Err
	case a.within <= 0:
		return &job.FieldError{Field: "Within", Value: a.within.String(), Reason: "must be positive"}
	case alone && (a.Items != nil || a.Parameter != "" || !a.Fire.IsZero()):
		return &job.FieldError{Field: "Items", Value: fmt.Sprint(a.Items), Reason: "and parameter and fire must not be given, because Java instances take part, which know the whole job alone"}
	}
	for _, n := range a.Items {
		switch {
		case n < 0 || n >= cfg.ShardingTotalCount:
			return &job.FieldError{Field: "Items", Value: strconv.Itoa(n), Reason: fmt.Sprintf("must be from 0 to %d", cfg.ShardingTotalCount-1)}
		case s.Disabled(n):
			return &job.FieldError{Field: "Items", Value: strconv.Itoa(n), Reason: "must be enabled, and it is disabled"}
		}
	}
	if a.replace || alone || cfg.Unmonitored { // no record tells what is pending
		return nil
	}
	if pending := s.Pending(now); len(pending) > 0 {
		return fmt.Errorf("%w: request %d waits for items %v", ErrTriggerPending, s.Triggered().Revision, pending)
	}
	return nil
}

// javaInstances are those that know a request by the value of their own nodes alone.
func javaInstances(s *jobtree.State, alone bool) []jobtree.Instance {
	if !alone {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Instances), func(i jobtree.Instance) bool { return !jobtree.JavaInstance(i.ID) })
}

// triggerTogether is how many Java instances are asked in the transaction of the request itself.
const triggerTogether = 100

// requestTxns are the transaction of a request, and those that ask the Java instances for which it has no room.
func requestTxns(s *jobtree.State, text string, java []jobtree.Instance) (first registry.Txn, others []registry.Txn) {
	tree, path := s.Tree(), s.Tree().Triggered()
	first = registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(tree.Config(), s.Config.Revision),
			registry.Unchanged(path, s.Triggered().Revision),
		},
		Then: []registry.Write{registry.Put(path, text)},
		// The first request creates the node, which is removed with the job, and so with the configuration.
		Repeat: registry.RepeatCreation,
	}
	for i, instance := range java {
		compare, ask := registry.Unchanged(tree.Instance(instance.ID), instance.Revision), registry.Update(tree.Instance(instance.ID), jobtree.InstanceTriggered)
		if i < triggerTogether {
			first.If, first.Then = append(first.If, compare), append(first.Then, ask)
			continue
		}
		others = append(others, registry.Txn{If: []registry.Condition{compare}, Then: []registry.Write{ask}})
	}
	return first, others
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
