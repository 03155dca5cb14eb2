package scheduler

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// Dump is a job's tree, as the registry has it and as this process sees it.
type Dump struct {
	Job          string     `json:"job"`
	Revision     int64      `json:"revision"`      // of the registry's nodes
	ViewRevision int64      `json:"view_revision"` // of those that this process sees
	Nodes        []DumpNode `json:"nodes"`         // in ascending order of their paths
	// Paused tells why the job pauses on this process, as [JobHealth.Config] does. Empty is that it does not.
	Paused string `json:"paused,omitempty"`
}

// DumpNode is a node of a [Dump]. Paths are without the namespace.
type DumpNode struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	// Seen is false if this process's view does not show the node, and SeenValue is what it shows.
	Seen      bool   `json:"seen"`
	SeenValue string `json:"seen_value,omitempty"`
	// Apart is a node of an item that this process does not follow, see [WithFollowing]: it is not to be seen.
	Apart bool `json:"apart,omitempty"`
}

// Agrees tells whether the registry and the view say the same of the node, as far as the process follows it.
func (n DumpNode) Agrees() bool { return n.Apart || n.Seen && n.SeenValue == n.Value }

// Dump reads the job's tree, with one request, and sets what this process sees beside it. It waits for
// nothing: a view that lags shows. What operators did is left out, as processes do not follow it.
//
// Errors: [ErrUnknownJob], also if Run ends meanwhile, the end of ctx, and those of the registry.
func (j *Job) Dump(ctx context.Context) (Dump, error) {
	if _, err := j.view(); err != nil {
		return Dump{}, err
	}
	ctx, free := j.whileKnown(ctx)
	defer free()
	s, name := j.s, j.r.name
	s.mu.Lock()
	paused, outside := j.r.pausedFor, j.r.outside
	view := j.r.view // with what it leaves out
	s.mu.Unlock()
	nodes, revision, err := s.registry.List(ctx, j.r.tree.Root())
	if err != nil {
		return Dump{}, fmt.Errorf("dump job %q: %w", name, err)
	}
	seen := view.Snapshot()
	d := Dump{Job: name, Revision: int64(revision), ViewRevision: int64(seen.Revision()), Nodes: make([]DumpNode, 0, len(nodes)), Paused: paused}
	for _, n := range nodes {
		if jobtree.ForOperators(n.Path) {
			continue
		}
		mine := seen.Get(n.Path)
		d.Nodes = append(d.Nodes, DumpNode{
			Path: n.Path, Value: n.Value, Seen: mine.Exists(), SeenValue: mine.Value, Apart: outside != nil && outside(n.Path),
		})
	}
	return d, nil
}
