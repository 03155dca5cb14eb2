package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/registry"
)

var (
	_ registry.Reader     = (*Namespace)(nil)
	_ registry.JavaLayout = (*Namespace)(nil)
)

// List returns the nodes below a path, as the server's copy of the namespace has them: with all that was committed by
// this server before.
func (n *Namespace) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	return n.list(ctx, path, 0)
}

// Newer returns the whole namespace when it is newer than a revision. It waits for that until the context ends, also while
// there is no server.
func (n *Namespace) Newer(ctx context.Context, than registry.Revision) ([]registry.Node, registry.Revision, error) {
	for {
		nodes, revision, err := n.list(ctx, registry.Root, than)
		var gone *lostError
		switch {
		case errors.As(err, &gone):
			if !wait(ctx, pause) {
				return nil, 0, context.Cause(ctx)
			}
		case !errors.Is(err, errNotThere):
			return nodes, revision, err
		}
	}
}

// list reads all pages of one state. If the server has forgotten that meanwhile, or another one answers, it begins again.
func (n *Namespace) list(ctx context.Context, path string, after registry.Revision) (nodes []registry.Node, revision registry.Revision, err error) {
	for try := 1; ; try++ {
		nodes, revision, err = n.pages(ctx, path, after)
		if !errors.Is(err, wire.ErrForgotten) || try == maxTries || !wait(ctx, pause) {
			return nodes, revision, err
		}
	}
}

// mostServers is how often a page is asked for. A state is kept by the server that gave its first page, and a proxy may send
// each request to another one.
const mostServers = 8

func (n *Namespace) pages(ctx context.Context, path string, after registry.Revision) ([]registry.Node, registry.Revision, error) {
	query := url.Values{"path": {path}}
	if n.secrets {
		query.Set("secrets", "true")
	}
	if after > 0 {
		query.Set("after", after.String())
	}
	nodes := []registry.Node{}
	for tries := 1; ; {
		var answer wire.NodeList
		err := n.once(ctx, request{method: http.MethodGet, path: "/nodes", query: query}, &answer)
		if errors.Is(err, wire.ErrForgotten) && tries < mostServers { // another server answers the next request, maybe the right one
			tries++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		tries = 1
		n.java.Store(answer.Java)
		for _, node := range answer.Nodes {
			nodes = append(nodes, node.Node())
		}
		if answer.Next == "" {
			return nodes, answer.Revision, nil
		}
		query.Del("after")
		query.Set("revision", answer.Revision.String())
		query.Set("behind", answer.Next)
	}
}

// Get returns one node, or [registry.ErrNotFound].
func (n *Namespace) Get(ctx context.Context, path string) (registry.Node, error) {
	nodes, _, err := n.List(ctx, path)
	if err != nil {
		return registry.Node{}, err
	}
	if len(nodes) == 0 || nodes[0].Path != path {
		return registry.Node{}, registry.ErrNotFound
	}
	return nodes[0], nil
}

// Children returns the names below a path, in order.
func (n *Namespace) Children(ctx context.Context, path string) ([]string, error) {
	nodes, _, err := n.List(ctx, path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, node := range nodes {
		below := strings.TrimPrefix(strings.TrimPrefix(node.Path, path), "/")
		name, _, _ := strings.Cut(below, "/")
		if name != "" && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// JavaLayout tells whether Java instances may take part, as the last answer said.
func (n *Namespace) JavaLayout() (root string, ok bool) { return "", n.java.Load() }
