package api

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	file, err := c.parsed(asked.Text)
	if err != nil {
		return err
	}
	defer c.anew()()
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

// Limits of files to import.
const (
	// maxNodes bounds the values of a file: each takes some 200 bytes in memory, and may be written in two. Files that people
	// keep have no more in maxImport bytes.
	maxNodes = 1_200_000
	// fewNodes is up to how many values a file waits for no other.
	fewNodes = 20_000
	// maxFault bounds what is told of a file that is wrong, in bytes.
	maxFault = 128 << 10
)

// parsed reads a file. One of many values takes hundreds of megabytes meanwhile, so those are read one at a time.
func (c *call) parsed(text string) (seed.File, error) {
	n := nodesOf(text)
	if n > maxNodes {
		return seed.File{}, malformed("body", "it has more than %d values: import it in parts", maxNodes)
	}
	if n > fewNodes {
		leave, err := c.place(c.files)
		if err != nil {
			return seed.File{}, err
		}
		defer leave()
	}
	file, err := seed.ParseYAML([]byte(text))
	if err != nil {
		told := err.Error()
		told = strings.ToValidUTF8(told[:min(len(told), maxFault)], "")
		return file, fault(http.StatusUnprocessableEntity, string(operate.CauseInvalid), "%s", told)
	}
	return file, c.allowedStill() // which may have been long
}

// nodesOf is about how many values a YAML text has, keys among them, and hardly fewer than are made of it. What stands in
// quotes may count, too. Lists and mappings on one line begin where a bracket stands behind a blank, and are not taken to end.
func nodesOf(text string) (n int) {
	blank := func(i int) bool { return i < 0 || i >= len(text) || text[i] <= ' ' || text[i] >= utf8.RuneSelf }
	oneLine, keyed, said := false, false, false // whether the line has said anything
	for i := range len(text) {
		switch char := text[i]; {
		case char == '-' && blank(i+1):
			n++
		case char == ':' && (oneLine || blank(i+1)), char == '?' && (oneLine || !said && blank(i+1)): // a key and a value
			n += 2
			keyed = true
		case char == ',' && oneLine, (char == '[' || char == '{') && (oneLine || blank(i-1)):
			oneLine = true
			if !keyed {
				n += 2 // a value or, in a mapping, a key that has none
			}
			keyed = false
		case !blank(i):
			said = true
		case text[i] != ' ' && text[i] != '\t':
			said = false
		}
	}
	return n
}

// asWrittenDown has outcomes tell of the operations that the jobs know. A job of a file may have none of the id of the whole:
// if nothing was to be done, or if only marks of its servers and items were, which have ids of their own.
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
