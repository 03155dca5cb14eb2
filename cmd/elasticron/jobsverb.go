package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// newJobsVerb gives a command the flags of all operations and --match, and what it does to each job that its arguments
// name, or whose name matches. A fault of its own flags goes before one of the jobs.
func newJobsVerb(p *program, cmd *cobra.Command, of func(v *verb) (ofJob, error)) {
	match := ""
	newVerb(p, cmd, func(v *verb, args []string) error {
		do, err := of(v)
		if err != nil {
			return err
		}
		return v.jobs(args, match, do)
	})
	matchFlag(cmd, &match)
}

func matchFlag(cmd *cobra.Command, match *string) {
	cmd.Flags().StringVar(match, "match", "", "the jobs whose name matches, such as 'orders-*'; asks, unless --yes is given")
}

// jobs carries out an operation on one job that was named, or on several.
func (v *verb) jobs(args []string, match string, do ofJob) error {
	jobs, err := v.jobsOf(args, match)
	if err != nil {
		return err
	}
	return v.ofJobs(jobs, match, do)
}

func (v *verb) ofJobs(jobs []string, match string, do ofJob) error {
	if len(jobs) == 1 && match == "" {
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) { return do(ctx, jobs[0], opts) })
	}
	return v.several(jobs, do)
}

// jobsOf returns the jobs that arguments name, or whose names match.
func (v *verb) jobsOf(args []string, match string) (jobs []string, err error) {
	switch {
	case match == "" && len(args) == 0:
		return nil, misuse("want the name of a job, or --match")
	case match != "" && len(args) > 0:
		return nil, misuse("jobs are named besides --match: want one of them")
	case match == "":
		for _, job := range bareJobs(args) {
			if !slices.Contains(jobs, job) { // each once
				jobs = append(jobs, job)
			}
		}
		return jobs, nil
	}
	jobs, err = v.op.Match(v.ctx, match)
	if err == nil && len(jobs) == 0 {
		err = fmt.Errorf("no job matches %q", match)
	}
	return jobs, err
}

// ofJob is an operation on one of several jobs, as the operator has it.
type ofJob func(ctx context.Context, job string, opts operate.Options) (operate.Result, error)

// several carries out an operation on several jobs, under one id. Where it asks, it shows the plan for each, and does what
// it has shown or nothing.
func (v *verb) several(jobs []string, do ofJob) error {
	if v.yes || v.opts.DryRun {
		return v.each(jobs, do)
	}
	do, text, err := v.planned(jobs, do)
	if err != nil {
		return err
	}
	if err := v.ask(text); err != nil {
		return err
	}
	return v.each(jobs, do)
}

// planned plans an operation on several jobs. It returns the plans to show, and the operation that is held to them: what would
// be another one by then is refused, and what is refused now is not done.
func (v *verb) planned(jobs []string, do ofJob) (held ofJob, text string, err error) {
	dry := v.opts
	dry.DryRun, dry.Progress = true, nil
	results, err := operate.Each(v.ctx, jobs, dry, do, nil)
	var some *operate.SomeFailedError
	if err != nil && !errors.As(err, &some) {
		return nil, "", err
	}
	plans, refused := make(map[string]*operate.Plan), make(map[string]error)
	for _, r := range results {
		if refused[r.Job] = r.Err; r.Err == nil {
			plans[r.Job] = &r.Result.Plan
		}
		text += jobResultText(v.shownResult(r), true)
	}
	return func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
		if err := refused[job]; err != nil {
			return operate.Result{}, err // nobody has agreed to anything else
		}
		opts.Shown = plans[job]
		return do(ctx, job, opts)
	}, text, nil
}

// each carries out an operation on several jobs, and shows what becomes of each.
func (v *verb) each(jobs []string, do ofJob) error {
	opts := v.opts
	opts.Progress = nil
	results, err := operate.Each(v.ctx, jobs, opts, func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
		result, err := do(ctx, job, opts)
		if failed := result.Progress.Failed(); err == nil && len(failed) > 0 {
			err = &operate.ItemsFailedError{Items: failed}
		}
		return result, err
	}, func(r operate.JobResult) {
		if v.output == formatTable && !errors.Is(r.Err, operate.ErrNotBegun) { // those may be many, and are counted below
			_, _ = io.WriteString(v.news, jobResultText(v.shownResult(r), opts.DryRun))
		}
	})
	return v.end(results, err)
}

// inAllJobs does to all jobs of a server or an instance what the operator has one call for. Where it asks, it shows the plan
// for each job, and does what it has shown or nothing.
func (v *verb) inAllJobs(name string, do func(context.Context, string, operate.Options) ([]operate.JobResult, error)) error {
	opts := v.opts
	opts.Progress = func(p operate.Progress) { // how far a job is says nothing of all; that there is no answer does
		if p.Of == 0 && !p.Done {
			v.told.tell(progressText(p))
		}
	}
	if !v.yes && !opts.DryRun {
		dry := opts
		dry.DryRun = true
		planned, err := do(v.ctx, name, dry)
		var some *operate.SomeFailedError
		if err != nil && (!errors.As(err, &some) || len(some.Failed()) == len(planned)) {
			return err
		}
		text := ""
		opts.ShownJobs = make(map[string]*operate.Plan, len(planned))
		for _, r := range planned {
			if r.Err == nil && !r.Result.Repeated { // else nobody has agreed to do anything to it
				opts.ShownJobs[r.Job] = &r.Result.Plan
			}
			text += jobResultText(v.shownResult(r), true)
		}
		if err := v.ask(text); err != nil {
			return err
		}
	}
	opts.ID = cmp.Or(opts.ID, rand.Text()[:16]) // to be told if all that is heard is that nobody knows
	results, err := do(v.ctx, name, opts)
	v.told.end()
	if len(results) == 0 && errors.Is(err, registry.ErrUnknownOutcome) {
		return repeatable(err, opts.ID)
	}
	if v.output == formatTable {
		for _, r := range results {
			if _, err := io.WriteString(v.news, jobResultText(v.shownResult(r), opts.DryRun)); err != nil {
				return err
			}
		}
	}
	return v.end(results, err)
}

// end shows the outcome for several jobs.
func (v *verb) end(results []operate.JobResult, err error) error {
	if v.output == formatTable {
		failed, late, never := 0, 0, 0
		for _, r := range results {
			var unconfirmed *operate.UnconfirmedError
			if r.Err != nil {
				failed++
			}
			if errors.As(r.Err, &unconfirmed) {
				late++
			}
			if errors.Is(r.Err, operate.ErrNotBegun) {
				never++
			}
		}
		if len(results) > 0 {
			end := ""
			switch {
			case v.opts.DryRun:
				end = ". " + nothingDone
			case late > 0:
				end = fmt.Sprintf(", and %d not confirmed yet", late)
			}
			if never > 0 {
				end = fmt.Sprintf(", and %d not begun", never) + end
			}
			_, _ = fmt.Fprintf(v.out, "%d of %d jobs%s\n", len(results)-failed, len(results), end)
		}
		return err
	}
	values := make([]any, 0, len(results))
	for _, r := range results {
		text := ""
		if r.Err != nil {
			text = r.Err.Error()
		}
		values = append(values, struct {
			Job    string         `json:"job"`
			Error  string         `json:"error,omitempty"`
			Result operate.Result `json:"result"`
		}{r.Job, text, v.shownResult(r).Result})
	}
	return errors.Join(err, v.output.write(v.out, map[string]any{"jobs": values}))
}

// jobResultText says what was done to one of several jobs or, in a dry run, what would be.
func jobResultText(r operate.JobResult, dry bool) string {
	line := func(text string) string { return printable(r.Job+": "+text) + "\n" }
	switch {
	case errors.Is(r.Err, registry.ErrUnknownOutcome):
		return line(repeatable(r.Err, r.Result.ID).Error()) // one key is for all jobs
	case r.Err != nil:
		return line(r.Err.Error())
	case r.Result.Repeated:
		return line("is so already")
	case dry:
		return planText(r.Result.Plan)
	default:
		return line("done")
	}
}
