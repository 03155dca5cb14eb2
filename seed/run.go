package seed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Target is the registry to fill.
type Target interface {
	registry.Reader
	registry.Committer
}

// Options say what to do. The zero Options create what is missing.
type Options struct {
	// Overwrite gives nodes that exist the value that the file has. The default keeps them.
	Overwrite bool
	// DryRun only tells what would be done. The default does it.
	DryRun bool
}

// Action is what became of a node, or would become of it. The words are part of the report's format.
type Action string

// The actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged" // it said so already
	Kept      Action = "kept"      // it says something else, and was left alone
)

// Node is what became of one node of the file.
type Node struct {
	Path   string `json:"path"` // below the namespace
	Action Action `json:"action"`
}

// Run fills the registry with what a file says, job by job, and tells of each node in the order of
// their paths. The error is that of the registry; nodes told of before it are done. After
// [registry.ErrUnknownOutcome] what is missing of a job may be there in a moment, or never: run it again.
//
// A node that somebody else creates or changes meanwhile is one that exists.
func Run(ctx context.Context, target Target, file File, opts Options) ([]Node, error) {
	var done []Node
	for _, name := range slices.Sorted(maps.Keys(file.jobs)) {
		nodes, err := fill(ctx, target, name, file.jobs[name], opts)
		if err != nil {
			return done, fmt.Errorf("seed job %s: %w", name, err)
		}
		done = append(done, nodes...)
	}
	return done, nil
}

// fill deals with one job, again and again until nobody interferes.
func fill(ctx context.Context, target Target, name string, values map[string]string, opts Options) ([]Node, error) {
	writer := guarded.NewWriter(target)
	for {
		found, _, err := target.List(ctx, jobtree.For(name).Root())
		if err != nil {
			return nil, err
		}
		nodes, marks, config := decide(name, values, found, opts.Overwrite)
		if opts.DryRun {
			return nodes, nil
		}
		again, err := writer.Commit(ctx, marks, config)
		if !errors.Is(err, registry.ErrConflict) && !again {
			return nodes, err
		}
	}
}

// decide says what becomes of each node of a job, and what is to be written for that.
func decide(name string, values map[string]string, found []registry.Node, overwrite bool) (nodes []Node, marks, config []guarded.Step) {
	stored := make(map[string]registry.Node, len(found))
	for _, n := range found {
		stored[n.Path] = n
	}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		action := judge(stored[path], values[path], overwrite)
		nodes = append(nodes, Node{Path: path, Action: action})
		if action != Created && action != Updated {
			continue
		}
		step := guarded.Step{
			Write: registry.Put(path, values[path]), Guard: registry.Unchanged(path, stored[path].Revision),
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
