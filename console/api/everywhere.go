package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/operate"
)

// A server or an instance is operated in the job that the parameter "job" names, or in all its jobs.

func disableServer(c *call) error {
	return c.inOneOrAll("ip", (*operate.Operator).DisableServer, (*operate.Operator).DisableServerEverywhere)
}

func enableServer(c *call) error {
	return c.inOneOrAll("ip", (*operate.Operator).EnableServer, (*operate.Operator).EnableServerEverywhere)
}

func shutDownInstance(c *call) error {
	return c.inOneOrAll("instance", (*operate.Operator).ShutDown, (*operate.Operator).ShutDownEverywhere)
}

// An operation on a server or an instance in one job, and in all, as the operator has them.
type (
	inOne func(o *operate.Operator, ctx context.Context, job, target string, opts operate.Options) (operate.Result, error)
	inAll func(o *operate.Operator, ctx context.Context, target string, opts operate.Options) ([]operate.JobResult, error)
)

// inOneOrAll operates what the path names.
func (c *call) inOneOrAll(name string, one inOne, all inAll) error {
	target := c.r.PathValue(name)
	if c.job != "" {
		return c.simple(func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
			return one(o, ctx, c.job, target, opts)
		})
	}
	asked, err := body[wire.AskedOfMany](c)
	if err != nil {
		return err
	}
	opts, wait, err := c.optionsOfMany(asked)
	if err != nil {
		return err
	}
	o, err := c.operator()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, maxTime)
	defer cancel()
	results, err := all(o, ctx, target, opts)
	var some *operate.SomeFailedError
	if err != nil && !errors.As(err, &some) {
		return err
	}
	if wait > 0 && !opts.DryRun {
		ctx, cancel := context.WithTimeout(c.ctx, wait)
		defer cancel()
		opts.Wait, opts.Again = true, true
		again, err := all(o, ctx, target, opts)
		if err == nil || errors.As(err, &some) { // else it is done, whatever became of the waiting
			confirmed(results, again)
		}
	}
	return c.answer(statusOf(opts.DryRun, false), c.outcomes(opts, asked.Reason, results))
}

// confirmed takes over how far the jobs have followed.
func confirmed(results, again []operate.JobResult) {
	seen := make(map[string]operate.JobResult, len(again))
	for _, r := range again {
		seen[r.Job] = r
	}
	for i, r := range results {
		later, known := seen[r.Job]
		var unconfirmed *operate.UnconfirmedError
		if r.Err != nil || !known {
			continue
		}
		results[i].Result.Progress = later.Result.Progress
		switch {
		case errors.As(later.Err, &unconfirmed):
			results[i].Err = later.Err
		case later.Err != nil: // it is done, whatever became of the waiting
			results[i].Err = &operate.UnconfirmedError{Result: results[i].Result, Err: later.Err}
		}
	}
}

// outcomes are what became of several jobs.
func (c *call) outcomes(opts operate.Options, reason string, results []operate.JobResult) wire.Outcomes {
	all := wire.Outcomes{ID: opts.ID, Jobs: []wire.JobOutcome{}}
	for _, r := range results {
		all.Jobs = append(all.Jobs, c.jobOutcome(opts, reason, r))
	}
	return all
}

func (c *call) jobOutcome(opts operate.Options, reason string, r operate.JobResult) wire.JobOutcome {
	j := wire.JobOutcome{Job: r.Job}
	var unconfirmed *operate.UnconfirmedError
	if r.Err != nil && !errors.As(r.Err, &unconfirmed) {
		p := problemOf(r.Err, c.operation)
		if p.Status == http.StatusInternalServerError { // the other causes are told to who asked
			c.conceal(&p, r.Err, "job", r.Job)
		}
		j.Problem = &p
		return j
	}
	out := wire.OutcomeOf(r.Result)
	if unconfirmed != nil {
		out.Progress, out.Unconfirmed = &unconfirmed.Result.Progress, unconfirmed.Err.Error()
	}
	if !opts.DryRun {
		c.ns.wrote(r.Result.Revision)
		out.Operation = c.writtenDown(r.Result, reason)
	}
	j.Outcome = &out
	return j
}

// bulkVerbs are what can be done to several jobs.
var bulkVerbs = map[string]func(wire.Bulk) func(context.Context, *operate.Operator, string, operate.Options) (operate.Result, error){
	"trigger": func(b wire.Bulk) func(context.Context, *operate.Operator, string, operate.Options) (operate.Result, error) {
		t := operate.Trigger{Items: b.Items, Parameter: b.Parameter, Replace: b.Replace}
		return func(ctx context.Context, o *operate.Operator, job string, opts operate.Options) (operate.Result, error) {
			return o.Trigger(ctx, job, t, opts)
		}
	},
	"disable": always((*operate.Operator).DisableJob),
	"enable":  always((*operate.Operator).EnableJob),
	"reshard": always((*operate.Operator).Reshard),
}

func always(do func(*operate.Operator, context.Context, string, operate.Options) (operate.Result, error)) func(wire.Bulk) func(context.Context, *operate.Operator, string, operate.Options) (operate.Result, error) {
	return func(wire.Bulk) func(context.Context, *operate.Operator, string, operate.Options) (operate.Result, error) {
		return func(ctx context.Context, o *operate.Operator, job string, opts operate.Options) (operate.Result, error) {
			return do(o, ctx, job, opts)
		}
	}
}

// mostBulk is how many jobs one request may operate.
const mostBulk = 10_000

func operateJobs(c *call) error {
	asked, err := body[wire.Bulk](c)
	if err != nil {
		return err
	}
	make, known := bulkVerbs[asked.Verb]
	switch {
	case !known:
		return malformed("verb", "%q is given, want trigger, disable, enable or reshard", asked.Verb)
	case (len(asked.Jobs) > 0) == (asked.Match != ""):
		return malformed("jobs", "want either jobs or match")
	case len(asked.Match) > maxPattern:
		return malformed("match", "it has %d bytes, want at most %d", len(asked.Match), maxPattern)
	case len(asked.Jobs) > mostBulk:
		return malformed("jobs", "%d jobs are given, want at most %d", len(asked.Jobs), mostBulk)
	}
	if err := noneNamed(asked.Items); err != nil {
		return err
	}
	jobs, err := c.jobsOf(asked)
	if err != nil {
		return err
	}
	opts, wait, err := c.optionsOfMany(asked.AskedOfMany)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return malformed(wire.ParamWait, "several jobs are not waited for: ask for each of them")
	}
	o, err := c.operator()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, maxTime)
	defer cancel()
	do := make(asked)
	results, err := operate.Each(ctx, jobs, opts, func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
		return do(ctx, o, job, opts)
	}, nil)
	var some *operate.SomeFailedError
	if err != nil && !errors.As(err, &some) {
		return err
	}
	return c.answer(statusOf(opts.DryRun, false), c.outcomes(opts, asked.Reason, results))
}

// jobsOf returns the jobs that a request names, all of which who asks may operate, or those that match and they may.
func (c *call) jobsOf(asked wire.Bulk) ([]string, error) {
	if asked.Match == "" {
		return asked.Jobs, c.mayEach("operate", asked.Jobs...)
	}
	o, err := c.operator()
	if err != nil {
		return nil, err
	}
	matched, err := o.Match(c.ctx, asked.Match)
	if err != nil {
		return nil, err
	}
	jobs := matched[:0]
	for _, job := range matched {
		if c.who.May("operate", c.ns.Name, job) {
			jobs = append(jobs, job)
		}
	}
	if len(jobs) == 0 {
		return nil, notFound("no job that you may operate matches %q", asked.Match)
	}
	return jobs, nil
}
