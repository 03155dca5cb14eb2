package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// stateOf reads one state of a job. A list over ZooKeeper is none: what one transaction has written may be in it in part, such
// as that an execution has ended, without the checkpoint that it has saved. A view shows states alone, and here one that is as
// new as the list. Of a reader that has no views, a list must do.
//
// A view waits for a registry that does not answer, for as long as its context lasts. Who reads one job after the other is to
// hear of that, as a list would tell, so the view has much longer than the list took, and no longer.
func stateOf(ctx context.Context, from registry.Reader, root string) ([]registry.Node, registry.Revision, error) {
	began := time.Now()
	nodes, revision, err := from.List(ctx, root)
	viewer, is := from.(registry.Viewer)
	if err != nil || !is {
		return nodes, revision, err
	}
	patience := viewPatience + 10*time.Since(began)
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	view, err := viewer.View(bounded, root)
	if err == nil {
		defer view.Close()
		err = view.WaitRevision(bounded, revision)
	}
	switch {
	case err == nil:
		shown := view.Snapshot()
		return slices.Collect(shown.All()), shown.Revision(), nil
	case bounded.Err() != nil && ctx.Err() == nil:
		return nil, 0, fmt.Errorf("%w: no view of %s within %v", registry.ErrUnavailable, root, patience.Round(time.Second))
	default:
		return nil, 0, err
	}
}

// viewPatience is for how long a view may take that a list of no time came before.
const viewPatience = time.Minute
