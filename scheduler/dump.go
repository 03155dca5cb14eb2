package scheduler

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
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
}

// Agrees tells whether the registry and the view say the same of the node.
func (n DumpNode) Agrees() bool { return n.Seen && n.SeenValue == n.Value }

// Dump reads the tree of a job, with one request, and sets what this process sees beside it. It waits
// for nothing: a view that lags shows.
//
// Errors: [ErrUnknownJob] if this scheduler does not have the job or does not run, and those of the
// registry.
func (s *Scheduler) Dump(ctx context.Context, name string) (Dump, error) {
	s.mu.Lock()
	var view *registry.View
	paused := ""
	if r := s.runners[name]; r != nil {
		view, paused = r.view, r.pausedFor
	}
	s.mu.Unlock()
	if view == nil {
		return Dump{}, fmt.Errorf("dump job %q: %w", name, ErrUnknownJob)
	}
	nodes, revision, err := s.registry.List(ctx, jobtree.For(name).Root())
	if err != nil {
		return Dump{}, fmt.Errorf("dump job %q: %w", name, err)
	}
	seen := view.Snapshot()
	d := Dump{Job: name, Revision: int64(revision), ViewRevision: int64(seen.Revision()), Nodes: make([]DumpNode, 0, len(nodes)), Paused: paused}
	for _, n := range nodes {
		mine := seen.Get(n.Path)
		d.Nodes = append(d.Nodes, DumpNode{Path: n.Path, Value: n.Value, Seen: mine.Exists(), SeenValue: mine.Value})
	}
	return d, nil
}

// JobNames returns the names of the jobs that this scheduler has, in no order.
func (s *Scheduler) JobNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.runners))
	for name := range s.runners {
		names = append(names, name)
	}
	return names
}
