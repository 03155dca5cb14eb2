package operate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/registry"
)

// Match returns the names of the jobs that a pattern names, in order, such as "orders-*"; the patterns are those of
// [path.Match]. What has no configuration is no job. The error of a malformed pattern is a [*Refusal].
func (o *Operator) Match(ctx context.Context, pattern string) ([]string, error) {
	if _, err := Matching(nil, pattern); err != nil {
		return nil, err
	}
	nodes, revision, err := o.store.List(ctx, registry.Root)
	if err != nil {
		return nil, deed{verb: verbMatch}.completed(denied(err))
	}
	return Matching(JobNames(registry.NewSnapshot(revision, nodes)), pattern)
}

const verbMatch Verb = "match jobs"

// Matching returns those of names that a pattern names, in their order, as [Operator.Match] does.
func Matching(names []string, pattern string) (matched []string, err error) {
	if _, err := path.Match(pattern, ""); err != nil {
		r := refuse(CauseInvalid, `write one such as "orders-*"`, "%q is no pattern of names", pattern)
		return nil, deed{verb: verbMatch}.completed(r)
	}
	for _, name := range names {
		if ok, _ := path.Match(pattern, name); ok {
			matched = append(matched, name)
		}
	}
	return matched, nil
}

// JobResult is the result of an operation on one of several jobs.
type JobResult struct {
	Job    string
	Result Result
	Err    error
}

// ErrNotBegun is the error of those of several jobs to which nothing was done, because the context had ended before.
var ErrNotBegun = errors.New("not begun")

// SomeFailedError says that an operation on several jobs was not done to all.
type SomeFailedError struct{ Results []JobResult }

// Failed returns the jobs to which it was not done, or for which that is unknown or unconfirmed.
func (e *SomeFailedError) Failed() (failed []JobResult) {
	for _, r := range e.Results {
		if r.Err != nil {
			failed = append(failed, r)
		}
	}
	return failed
}

// Error counts them and tells of the first; apart of those that only did not follow yet, and of those that have not begun,
// neither of which have failed.
func (e *SomeFailedError) Error() string {
	var failed, late, never []JobResult
	for _, r := range e.Failed() {
		var unconfirmed *UnconfirmedError
		switch {
		case errors.As(r.Err, &unconfirmed):
			late = append(late, r)
		case errors.Is(r.Err, ErrNotBegun):
			never = append(never, r)
		default:
			failed = append(failed, r)
		}
	}
	var parts []string
	count := func(of []JobResult, what string) {
		if len(of) > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d jobs %s, the first being %q: %s", len(of), len(e.Results), what, of[0].Job, of[0].Err))
		}
	}
	count(failed, "failed")
	count(late, "could not be confirmed yet")
	count(never, "have not begun")
	return strings.Join(parts, "; ")
}

// Unwrap gives all errors.
func (e *SomeFailedError) Unwrap() (all []error) {
	for _, r := range e.Failed() {
		all = append(all, r.Err)
	}
	return all
}

// together is how many jobs are operated at once.
const together = 8

// Each does an operation to several jobs, up to eight at once, under one id, so that it may be asked for again with the same
// one. What was shown is told by ShownJobs: do is given each job's plan as Shown. heard, if it is not nil, is told of each
// as it is done, on the caller's goroutine. The results are in the order of the jobs. If some failed, the error is a
// [*SomeFailedError]. When the context ends, the jobs that have not begun fail with [ErrNotBegun] and its cause. A do that
// panics fails with a [*job.PanicError], and one that ends its goroutine with [job.ErrGoexit].
//
//	results, err := operate.Each(ctx, jobs, opts, op.DisableJob, nil)
func Each(ctx context.Context, jobs []string, opts Options, do func(ctx context.Context, job string, opts Options) (Result, error), heard func(JobResult)) ([]JobResult, error) {
	opts.ID, opts.Progress = opts.id(), nil
	results := make([]JobResult, len(jobs))
	finished, slots := make(chan int, len(jobs)), make(chan struct{}, together) // sized so that nobody waits to tell
	var group sync.WaitGroup
	group.Go(func() {
		for i, job := range jobs {
			slots <- struct{}{}
			group.Go(func() {
				defer func() { <-slots }()
				results[i] = JobResult{Job: job}
				if over := context.Cause(ctx); over != nil {
					results[i].Err = fmt.Errorf("%w: %w", ErrNotBegun, over)
				} else {
					// What panics, or ends its goroutine, fails for this job alone, and Each waits for all.
					results[i].Err = protect.Call(func() (err error) {
						results[i].Result, err = do(ctx, job, opts.ofJob(job))
						return err
					})
				}
				finished <- i
			})
		}
	})
	for range jobs {
		if i := <-finished; heard != nil {
			heard(results[i])
		}
	}
	group.Wait()
	return results, SomeFailed(results)
}

// SomeFailed returns a [*SomeFailedError] if an operation on several jobs was not done to all, else nil.
func SomeFailed(results []JobResult) error {
	e := &SomeFailedError{results}
	if len(e.Failed()) == 0 {
		return nil
	}
	return e
}

// DisableServerEverywhere disables a server in every job that knows it or has an instance there, under one id. Asking
// again is harmless: a job in which it is disabled already counts as done, with Repeated set. The results name the
// jobs; if some failed, the error is a [*SomeFailedError]. What was shown is told by ShownJobs. It is refused if no job
// knows the server.
func (o *Operator) DisableServerEverywhere(ctx context.Context, ip string, opts Options) ([]JobResult, error) {
	return o.everywhere(ctx, opts, knowsServer(ip), func(job string) deed { return serverDeed(VerbDisableServer, job, ip) })
}

// EnableServerEverywhere takes back [Operator.DisableServerEverywhere].
func (o *Operator) EnableServerEverywhere(ctx context.Context, ip string, opts Options) ([]JobResult, error) {
	return o.everywhere(ctx, opts, knowsServer(ip), func(job string) deed { return serverDeed(VerbEnableServer, job, ip) })
}

// ShutDownEverywhere has an instance leave all its jobs, under one id, as [Operator.ShutDown] does for one. It is
// refused if no job has the instance.
func (o *Operator) ShutDownEverywhere(ctx context.Context, instance string, opts Options) ([]JobResult, error) {
	concerns := func(w *world) bool { return w.state.Instance(instance).Created != 0 }
	return o.everywhere(ctx, opts, concerns, func(job string) deed { return shutDownDeed(job, instance) })
}

func knowsServer(ip string) func(*world) bool {
	return func(w *world) bool { return w.serves(ip) || w.snapshot.Get(w.tree.Server(ip)).Exists() }
}

// everywhere does a deed to every job that it concerns: one read, then one transaction a job in as few requests as
// there can be. What was overtaken is done by itself.
func (o *Operator) everywhere(ctx context.Context, opts Options, concerns func(*world) bool, of func(job string) deed) ([]JobResult, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.ID = opts.id()
	everyJob := of("")
	nodes, revision, err := o.store.List(ctx, registry.Root)
	if err != nil {
		return nil, everyJob.completed(denied(err))
	}
	snapshot := registry.NewSnapshot(revision, nodes)
	var results []JobResult
	var txns []registry.Txn
	var decided []int // of results, by transaction
	var deeds []deed
	for _, job := range JobNames(snapshot) {
		w := o.worldOf(job, snapshot, opts.Force)
		d := of(job)
		// What this operation was about may be gone since it was done.
		op, _ := w.operated.Value.Find(opts.ID)
		done := op.Verb == string(d.verb) && op.Target == d.target
		if !w.state.Config.Exists() || !done && !concerns(w) {
			continue
		}
		r := JobResult{Job: job, Result: Result{ID: opts.ID, When: w.now, Plan: Plan{Verb: d.verb, Job: job, Target: d.target}}}
		dec, again, err := d.judge(w, opts.ID, opts)
		r.Result.State, r.Result.Config, r.Result.Repeated = w.number(), w.state.Config.Revision, again
		if again {
			r.Result.Was = &operationsOf(job, jobtree.Operated{Operations: []jobtree.Operation{op}})[0]
		}
		r.Result.take(dec.plan)
		if cause, is := IsRefused(err); is && cause == CauseAlready {
			r.Result.Repeated, err = true, nil
		}
		if shown := opts.ofJob(job).Shown; err == nil && !r.Result.Repeated && shown != nil && !shown.Same(r.Result.Plan) {
			err = stale(shown.differenceTo(r.Result.Plan))
		}
		r.Err = d.completed(err)
		if err == nil && !r.Result.Repeated && !opts.DryRun {
			txns, decided = append(txns, o.transaction(w, dec, d, r.Result, opts.Reason)), append(decided, len(results))
		}
		results, deeds = append(results, r), append(deeds, d)
	}
	if len(results) == 0 {
		return nil, everyJob.completed(refuse(CauseUnknownTarget, "look at the instances and servers of the namespace", "no job has it"))
	}
	if len(txns) > 0 {
		for i, outcome := range o.store.CommitAll(ctx, txns) {
			at := decided[i]
			o.settle(ctx, deeds[at], &results[at], outcome, opts)
		}
	}
	if opts.Wait && !opts.DryRun {
		for i := range results {
			if results[i].Err == nil { // also where it was so already: the job need not have followed yet
				results[i].Result, results[i].Err = o.confirm(ctx, deeds[i], opts, results[i].Result)
			}
		}
	}
	return results, SomeFailed(results)
}

// settle takes in the outcome of one transaction of several. What was overtaken is decided anew, by itself.
func (o *Operator) settle(ctx context.Context, d deed, r *JobResult, outcome registry.Outcome, opts Options) {
	if conflict := (*registry.ConflictError)(nil); errors.As(outcome.Err, &conflict) {
		opts.Wait = false
		if conflict.Ambiguous {
			decided := r.Result
			d.sent = &decided
		}
		r.Result, r.Err = o.carry(ctx, d, opts.ofJob(d.job))
		if cause, is := IsRefused(r.Err); is && cause == CauseAlready {
			r.Result.Repeated, r.Err = true, nil
		}
		return
	}
	r.Result.Revision, r.Err = outcome.Revision, d.completed(denied(outcome.Err))
	if r.Err == nil {
		o.report(ctx, r.Result, opts.Reason)
	}
}

// confirm waits for one job to follow what was done.
func (o *Operator) confirm(ctx context.Context, d deed, opts Options, r Result) (Result, error) {
	view, err := o.store.View(ctx, jobtree.For(d.job).Root())
	if err != nil {
		return r, &UnconfirmedError{Result: r, Err: err}
	}
	defer view.Close()
	return o.await(ctx, view, d, opts, r)
}

// JobNames are the names of the jobs of a namespace, in order, but for those whose home is another registry. One that is
// leaving is still seen here, and nowhere else.
func JobNames(s registry.Snapshot) (names []string) {
	for n := range s.All() {
		name, ok := jobtree.Parse(n.Path)
		if !ok || name.Kind != jobtree.KindConfig {
			continue
		}
		if e, elsewhere := jobtree.DecodeElsewhere(n); !elsewhere || e.Leaving() {
			names = append(names, name.Job)
		}
	}
	return names
}
