package migrate

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// jobNodes is all that a registry has of a job.
type jobNodes struct {
	nodes map[string]registry.Node // by path
	state *jobtree.State
}

func nodesOf(name string, nodes []registry.Node, revision registry.Revision) jobNodes {
	t := jobNodes{nodes: make(map[string]registry.Node, len(nodes))}
	for _, n := range nodes {
		t.nodes[n.Path] = n
	}
	t.state = jobtree.StateOf(name, registry.NewSnapshot(revision, nodes))
	return t
}

func (t jobNodes) get(path string) registry.Node { return t.nodes[path] }
