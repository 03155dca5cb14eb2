package api

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/operate/jobfile"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

func exportJobs(c *call) error {
	query := c.r.URL.Query()
	match, err := pattern(query)
	if err != nil {
		return err
	}
	p, err := c.answering()
	if err != nil {
		return err
	}
	names := query["job"]
	found := make(map[string]bool)
	var nodes []registry.Node
	for n := range p.State.All() {
		name, known := jobtree.Parse(n.Path)
		found[name.Job] = true
		named := len(names) == 0 || slices.Contains(names, name.Job)
		if is, _ := path.Match(match, name.Job); known && named && is {
			nodes = append(nodes, n)
		}
	}
	for _, name := range names {
		if !found[name] || elsewhere(p, name) {
			return noJobIn(p, name)
		}
	}
	text, faults := seed.Export(nodes)
	if faults != nil && len(text) == 0 {
		return fault(http.StatusConflict, string(operate.CauseUnusable), "no job can be exported: %s", faults)
	}
	if err := c.allowedStill(); err != nil {
		return err
	}
	if faults != nil {
		text = append([]byte(texts.Comment(faults.Error())), text...)
		c.w.Header().Set(wire.HeaderLeftOut, strconv.Itoa(leftOut(faults)))
	}
	c.w.Header().Set("Content-Type", "application/yaml")
	c.w.Header().Set("Content-Disposition", `attachment; filename="jobs.yaml"`)
	_, _ = c.w.Write(text)
	return nil
}

// leftOut counts the faults that [seed.Export] has joined, one for each job.
func leftOut(faults error) int {
	if joined, is := faults.(interface{ Unwrap() []error }); is {
		return len(joined.Unwrap())
	}
	return 1
}

func importJobs(c *call) error {
	asked, err := c.importAsked()
	if err != nil {
		return err
	}
	file, err := seed.ParseYAML([]byte(asked.Text))
	if err != nil {
		return fault(http.StatusUnprocessableEntity, string(operate.CauseInvalid), "%s", err)
	}
	opts, wait, err := c.optionsOfMany(asked.AskedOfMany)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return malformed(wire.ParamWait, "several jobs are not waited for")
	}
	o, err := c.operator()
	if err != nil {
		return err
	}
	p, err := c.answering()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, maxTime)
	defer cancel()
	jobs := make(map[string]jobfile.Job)
	var names []string
	for _, job := range jobfile.Jobs(file) {
		jobs[job.Name] = job
		names = append(names, job.Name)
	}
	direct := jobfile.Direct{Operator: o, Store: c.ns.Store}
	results, err := operate.Each(ctx, names, opts, func(ctx context.Context, name string, opts operate.Options) (operate.Result, error) {
		stored, err := c.ns.Store.Get(ctx, jobtree.For(name).Config()) // the copy may be late, and this decides what is done
		if err != nil && !errors.Is(err, registry.ErrNotFound) {
			return operate.Result{ID: opts.ID}, err
		}
		return jobfile.Apply(ctx, direct, stored, jobs[name], opts)
	}, nil)
	var some *operate.SomeFailedError
	if err != nil && !errors.As(err, &some) {
		return err
	}
	repeated := !slices.ContainsFunc(results, func(r operate.JobResult) bool { return r.Err != nil || !r.Result.Repeated })
	for i := range results {
		r := &results[i].Result
		r.ID = opts.ID
		if r.When.IsZero() {
			r.When = c.now().UTC() // nothing had to be decided
		}
	}
	answer := wire.Import{Jobs: c.outcomes(opts, asked.Reason, results).Jobs}
	answer.Differences, _ = jobfile.Applied(file, slices.Collect(p.State.All()))
	c.asWrittenDown(answer.Jobs)
	return c.answer(statusOf(opts.DryRun, repeated), answer)
}

// asWrittenDown has outcomes tell of the operations that the jobs know. A job of a file may have none of the id of the whole: if
// nothing was to be done, or if only marks of its servers and items were, which have ids of their own.
func (c *call) asWrittenDown(outcomes []wire.JobOutcome) {
	p := c.picture()
	for _, o := range outcomes {
		if o.Outcome == nil || o.Outcome.Operation == nil {
			continue
		}
		known := p.Namespace.Of(o.Job).Operations(o.Job)
		i := slices.IndexFunc(known, func(op operate.Operation) bool { return op.ID == o.Outcome.ID })
		if i < 0 {
			o.Outcome.Operation = nil
			continue
		}
		known[i].Before = ""
		o.Outcome.Operation = &known[i]
	}
}

// importAsked reads what is asked for: as JSON, or as the file itself with the rest in the query.
func (c *call) importAsked() (asked wire.ImportRequest, err error) {
	if isJSON(c.r) {
		if asked, err = body[wire.ImportRequest](c); err == nil && len(asked.Text) > maxImport {
			err = &http.MaxBytesError{Limit: maxImport}
		}
		return asked, err
	}
	query := c.r.URL.Query()
	if asked.Force, err = flag(query, "force"); err != nil {
		return asked, err
	}
	text, err := c.read()
	asked.Reason, asked.Text = query.Get("reason"), string(text)
	return asked, err
}
