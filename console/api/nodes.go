package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// listNodes answers with the tree itself. The command line judges it with its own code, so that a namespace looks the
// same whether it is reached through a server or not.
func listNodes(c *call) error {
	query := c.r.URL.Query()
	below := query.Get("path")
	if below == "" {
		below = registry.Root
	}
	if err := registry.CheckPath(below); err != nil && below != registry.Root {
		return malformed("path", "%s", err)
	}
	secrets, err := flag(query, "secrets")
	if err != nil {
		return err
	}
	after, err := parseRevision(query.Get("after"))
	if err != nil {
		return err
	}
	p := c.picture()
	if after > 0 {
		if p = c.newerThan(p, after); p.State.Revision() <= after {
			c.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	text, err := c.tree(p, below, secrets)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", fmt.Sprintf("%q", p.State.Revision().String()))
	c.send(http.StatusOK, text)
	return nil
}

// tree encodes what who asks may read, when it is its turn: many who ask at once do not copy the namespace as many times
// at once.
func (c *call) tree(p *live.Picture, below string, secrets bool) ([]byte, error) {
	select {
	case c.trees <- struct{}{}:
		defer func() { <-c.trees }()
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	}
	answer := wire.NodeList{Nodes: []wire.Node{}, Revision: p.State.Revision(), Java: c.ns.java}
	may := make(map[string]bool)
	for n := range p.State.Below(below) {
		job := operate.JobOf(n.Path)
		visible, known := may[job]
		if !known {
			visible = c.reads(job)
			may[job] = visible
			if visible && secrets && !c.secretsOf(job) {
				return nil, forbidden(access.Administer, c.ns.Name, job)
			}
		}
		if !visible {
			continue
		}
		if !secrets {
			n = jobtree.MaskSecrets(n)
		}
		answer.Nodes = append(answer.Nodes, wire.NodeOf(n))
	}
	return encoded(answer)
}

func parseRevision(text string) (registry.Revision, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, malformed("after", "%q is given, want a revision", text)
	}
	return registry.Revision(n), nil
}

// newerThan waits for a picture of a newer state, as long as a request may wait.
func (c *call) newerThan(p *live.Picture, after registry.Revision) *live.Picture {
	ctx, cancel := context.WithTimeout(c.ctx, wire.MaxWait)
	defer cancel()
	for p.State.Revision() <= after {
		select {
		case <-p.Newer:
			p = c.ns.Hub.Picture()
		case <-ctx.Done():
			return p
		}
	}
	return p
}
