package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Target is where jobs are copied to.
type Target interface {
	registry.Reader
	registry.Committer
}

// ErrNoJobs is the error of [Run] if the source's namespace is empty, as that of a wrong name is.
var ErrNoJobs = errors.New("the namespace has no jobs")

// Run compares jobs of source and target, writes what the target lacks if opts.Apply, and reports on
// each job. A fault of one job does not keep it from the others.
//
// What it changes of a job that the target has is written down among the job's operations there, in the same transaction,
// with the configuration before. If these cannot be read, the job is [Refused]. A job that it creates begins without
// operations.
//
// The error is an [ErrInvalidOption], [ErrNoJobs], or that of a registry that cannot be read or written at
// all; then the report ends with the job before. What is wrong with a single job stands in the
// report, see [Report.Complete].
func Run(ctx context.Context, source registry.Reader, target Target, opts Options) (Report, error) {
	report := Report{Applied: opts.Apply}
	if err := opts.check(); err != nil {
		return report, err
	}
	names, err := jobNames(ctx, source, opts.Jobs)
	if err != nil {
		return report, err
	}
	m := migration{source: source, target: target, opts: opts}
	for i, name := range names {
		j, err := m.migrate(ctx, name)
		if err != nil {
			return report, fmt.Errorf("job %s: %w", name, err)
		}
		report.Jobs = append(report.Jobs, j)
		if opts.Progress != nil {
			opts.Progress(i+1, len(names))
		}
	}
	return report, nil
}

// jobNames returns the jobs to copy, each once.
func jobNames(ctx context.Context, source registry.Reader, asked []string) ([]string, error) {
	if len(asked) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(asked))), nil
	}
	names, err := source.Children(ctx, registry.Root)
	if err != nil {
		return nil, fmt.Errorf("list the jobs of the source: %w", err)
	}
	if len(names) == 0 {
		return nil, ErrNoJobs
	}
	return names, nil
}

type migration struct {
	source registry.Reader
	target Target
	opts   Options
}

// migrate copies one job. An error is one that the next job would meet, too.
func (m *migration) migrate(ctx context.Context, name string) (Job, error) {
	j := Job{Name: name}
	root := jobtree.For(name).Root()
	if err := registry.CheckPath(root); err != nil {
		return j.refused(err), nil
	}
	nodes, revision, err := stateOf(ctx, m.source, root)
	if errors.Is(err, registry.ErrDenied) {
		return j.refused(err), nil // others may belong to this user
	}
	if err != nil {
		return j, fmt.Errorf("read from the source: %w", err)
	}
	o, err := m.read(name, nodes, revision)
	j.Format, j.Notes = o.format, o.notes
	if err != nil {
		return j.refused(err), nil
	}
	text, err := jobtree.EncodeConfig(o.config)
	if err != nil {
		return j.refused(err), nil
	}
	look := func() (comparison, error) {
		nodes, revision, err := stateOf(ctx, m.target, root)
		if errors.Is(err, registry.ErrDenied) {
			return comparison{}, refusal{fmt.Errorf("in the target: %w", err)}
		}
		if err != nil {
			return comparison{}, fmt.Errorf("read from the target: %w", err)
		}
		there := nodesOf(name, nodes, revision)
		c, err := compare(&o, text, there)
		c.compareCheckpoints(&o, there, m.opts.Overwrite)
		if err == nil {
			err = untouched("here", there)
		}
		if away := (*jobtree.ElsewhereError)(nil); err == nil && errors.As(there.state.Config.Err, &away) {
			err = away // with another text in its config node, both registries would run it
		}
		if err == nil {
			c.note, c.unwritable = guarded.NoteOf(name, there.get, slices.Concat(c.marks, c.config), jobtree.VerbMigrate, m.opts.author())
		}
		if err != nil {
			err = refusal{fmt.Errorf("in the target: %w", err)}
		}
		return c, err
	}
	c, err := look()
	if err == nil {
		j, err = m.carryOut(ctx, j, c, look)
	}
	var refused refusal
	if errors.As(err, &refused) {
		return j.refused(refused), nil
	}
	return j, err
}

// refusal is an error that concerns one job alone.
type refusal struct{ error }

// read reads a job that may be copied.
func (m *migration) read(name string, nodes []registry.Node, revision registry.Revision) (original, error) {
	if len(nodes) == 0 {
		return original{}, errors.New("the source has no such job")
	}
	o, err := readOriginal(name, nodes, revision)
	if err == nil {
		err = untouched("in the source", o.jobNodes)
	}
	if err == nil {
		_, shared := registry.JavaRoot(m.source)
		err = o.finish(m.opts.TimeZone, shared)
	}
	if err != nil {
		return o, err
	}
	if running := o.running(); running != nil {
		if !m.opts.EvenIfRunning {
			return o, running
		}
		o.note("%s", running)
	}
	return o, nil
}

// carryOut decides what to do with a job that was compared, and does it. look compares the job again.
func (m *migration) carryOut(ctx context.Context, j Job, c comparison, look func() (comparison, error)) (Job, error) {
	j.Changes, j.Notes = c.changes, append(j.Notes, c.notes...)
	switch {
	case c.differs() && !m.opts.Overwrite:
		j.Action = Differs
		return j, nil
	case !c.exists:
		j.Action = Created
	case len(c.changes) > 0 || c.tokens != nil || c.checkpoints:
		j.Action = Updated
	default:
		j.Action = Unchanged
	}
	if c.tokens != nil {
		j.Changes = append(slices.Clone(j.Changes), *c.tokens)
	}
	switch {
	case j.Action == Unchanged:
		return j, nil
	case c.unwritable != nil:
		return j, refusal{fmt.Errorf("in the target: %w", c.unwritable)}
	case !m.opts.Apply:
		return j, nil
	}
	err := m.write(ctx, c, look)
	switch {
	case errors.Is(err, registry.ErrConflict):
		j.Action, j.Reason = Failed, "somebody changed the target meanwhile; run it again: "+err.Error()
		return j, nil
	case errors.Is(err, registry.ErrUnknownOutcome) && ctx.Err() == nil:
		j.Action, j.Reason = Failed, "it may have been written in part; run it again: "+err.Error()
		return j, nil
	case errors.Is(err, registry.ErrDenied), errors.Is(err, registry.ErrTooLarge):
		j.Action, j.Reason = Failed, err.Error()
		return j, nil
	default:
		return j, err
	}
}

// write writes what the target lacks. After a lost answer it looks what is still lacking.
func (m *migration) write(ctx context.Context, c comparison, look func() (comparison, error)) error {
	writer := guarded.NewWriter(m.target)
	for {
		writer.Always(c.found)
		again, err := writer.Commit(ctx, c.note, c.marks, c.config)
		switch {
		case err == nil:
			return nil
		case !again:
			return fmt.Errorf("write to the target: %w", err)
		}
		if c, err = look(); err == nil && c.unwritable != nil {
			err = refusal{fmt.Errorf("in the target: %w", c.unwritable)}
		}
		if err != nil {
			return err
		}
		if c.differs() && !m.opts.Overwrite {
			return fmt.Errorf("%w: the job is there, and another one", registry.ErrConflict)
		}
	}
}

func (j Job) refused(err error) Job {
	j.Action, j.Reason = Refused, err.Error()
	return j
}
