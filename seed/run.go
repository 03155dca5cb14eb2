package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/registry"
)

// Target is the registry to fill.
type Target interface {
	registry.Reader
	registry.Committer
}

// Options say what Run does. With the zero Options, it creates what is missing.
type Options struct {
	// Overwrite replaces the values of nodes that exist by those of the file, but for whether a job is disabled: that
	// is up to operators, once the job is there. The default keeps all of them.
	Overwrite bool
	// Force consents to fewer items of a job that exists, and to times that are over, which end it. The default refuses both.
	Force bool
	// DryRun only reports what Run would do, and returns the fault for which it would do nothing. The default does it.
	DryRun bool
	// Who changes jobs that exist, How, such as by which program, and why, is written down with the change. Who and How
	// have at most 200 bytes, a Reason 1,000. The defaults are "unknown", "seed" and no reason.
	Who, How, Reason string
	// Progress hears after each job how many of the file's jobs are done, on the caller's goroutine. nil hears nothing.
	Progress func(done, of int)
}

// ErrInvalidOption is the error of an option that is not allowed. It is one error in all packages of this module: errors.Is
// finds it by any of their names.
var ErrInvalidOption = option.ErrInvalid

// author is who is written down.
func (o Options) author() guarded.Author {
	return guarded.Author{Who: cmp.Or(o.Who, "unknown"), How: cmp.Or(o.How, "seed"), Reason: o.Reason}
}

// Action is what Run did with a node, or would do. The words are part of the report's format.
type Action string

// The actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged" // the registry has what the file says
	Kept      Action = "kept"      // the registry has something else, which stays
)

// Node tells what Run did with one node of the file, or would do.
type Node struct {
	Path   string `json:"path"` // below the namespace
	Action Action `json:"action"`
}

// Run writes the content of a file into the registry, job by job, and reports on each node in the order of
// their paths. An error is one of the registry; the nodes that were reported are done. After
// [registry.ErrUnknownOutcome], what is missing of a job may appear a moment later, or never: run it again.
//
// What it changes of a job that exists is written down among the job's operations, in the same transaction, with the
// configuration before. If these cannot be read, Run changes nothing of the job and returns the fault. A job that it creates
// begins without operations.
//
// Of a job whose home is another registry of a federation, Run changes nothing: all its nodes are [Kept] or, if they were to
// be overwritten, an error says where the job is. Nor does it of a job with [ErrRefused]. The other jobs are done all the
// same.
//
// If somebody else creates or changes a node meanwhile, Run treats it as one that exists.
func Run(ctx context.Context, target Target, file File, opts Options) ([]Node, error) {
	if err := opts.author().Check(); err != nil {
		return nil, err
	}
	var done []Node
	var refused []error
	for i, name := range slices.Sorted(maps.Keys(file.jobs)) {
		nodes, err := fill(ctx, target, name, file.jobs[name], opts)
		if err != nil {
			err = fmt.Errorf("seed job %s: %w", name, err)
		}
		switch {
		case err == nil:
			done = append(done, nodes...)
		case ofJob(err):
			refused = append(refused, err)
		default:
			return done, errors.Join(append(refused, err)...)
		}
		if opts.Progress != nil {
			opts.Progress(i+1, len(file.jobs))
		}
	}
	return done, errors.Join(refused...)
}

// ofJob tells of a fault whether it is the job's own, so that the other jobs are not concerned: its home is another registry,
// what it would become is refused or more than the registry takes, or what is stored of it cannot be read.
func ofJob(err error) bool {
	var away *jobtree.ElsewhereError
	var value *jobtree.ValueError
	if errors.As(err, &away) || errors.As(err, &value) {
		return true
	}
	return slices.ContainsFunc([]error{ErrRefused, registry.ErrTooLarge, registry.ErrOwned, registry.ErrInvalid}, func(cause error) bool {
		return errors.Is(err, cause)
	})
}

// fill writes one job, and begins again whenever somebody interferes.
func fill(ctx context.Context, target Target, name string, values map[string]string, opts Options) ([]Node, error) {
	writer := guarded.NewWriter(target)
	for {
		found, revision, err := target.List(ctx, jobtree.For(name).Root())
		if err != nil {
			return nil, err
		}
		stored := registry.NewSnapshot(revision, found)
		if away, is := elsewhere(name, stored); is {
			if opts.Overwrite {
				return nil, away
			}
			return kept(values), nil
		}
		nodes, marks, config := decide(name, values, stored, opts.Overwrite)
		for _, step := range config {
			if err := mayStore(stored.Get(step.Write.Path), step.Write.Value, opts.Force, time.Now()); err != nil {
				return nil, err
			}
		}
		note, err := guarded.NoteOf(name, stored.Get, slices.Concat(marks, config), jobtree.VerbSeed, opts.author())
		if opts.DryRun || err != nil {
			return nodes, err
		}
		path := jobtree.For(name).Config()
		writer.Always(registry.Unchanged(path, stored.Get(path).Revision)) // of a job that is there by now, what is done is written down
		again, err := writer.Commit(ctx, note, marks, config)
		if !errors.Is(err, registry.ErrConflict) && !again {
			return nodes, err
		}
	}
}

// elsewhere tells whether the home of a job is another registry.
func elsewhere(name string, stored registry.Snapshot) (*jobtree.ElsewhereError, bool) {
	config := stored.Get(jobtree.For(name).Config())
	e, is := jobtree.DecodeElsewhere(config)
	return &jobtree.ElsewhereError{Path: config.Path, Elsewhere: e}, is
}

// kept reports that nothing is done with the nodes of a job.
func kept(values map[string]string) (nodes []Node) {
	for _, path := range slices.Sorted(maps.Keys(values)) {
		nodes = append(nodes, Node{Path: path, Action: Kept})
	}
	return nodes
}

// decide says what to do with each node of a job, and what to write for it.
func decide(name string, values map[string]string, found registry.Snapshot, overwrite bool) (nodes []Node, marks, config []guarded.Step) {
	for _, path := range slices.Sorted(maps.Keys(values)) {
		stored := found.Get(path)
		value := withDisabledOf(stored, values[path])
		action := judge(stored, value, overwrite)
		if action == Unchanged && value != values[path] {
			action = Kept
		}
		nodes = append(nodes, Node{Path: path, Action: action})
		if action != Created && action != Updated {
			continue
		}
		step := guarded.Step{
			Write: registry.Put(path, value), Guard: registry.Unchanged(path, stored.Revision),
		}
		if path == jobtree.For(name).Config() {
			config = append(config, step)
		} else {
			marks = append(marks, step)
		}
	}
	return nodes, marks, config
}

func judge(stored registry.Node, value string, overwrite bool) Action {
	switch {
	case !stored.Exists():
		return Created
	case same(stored, value):
		return Unchanged
	case overwrite:
		return Updated
	default:
		return Kept
	}
}
