package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// maxTree bounds a page of nodes, by about as many bytes as they take. A node alone may take more.
const maxTree = 2 << 20

// listNodes answers with the tree itself, page by page, all of one state. The command line judges it with its own code, so
// that a namespace looks the same whether it is reached through a server or not.
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
	after, err := parseRevision(query, "after")
	if err != nil {
		return err
	}
	of, err := parseRevision(query, "revision")
	if err != nil {
		return err
	}
	behind := query.Get("behind")
	if (behind != "") != (of > 0) || of > 0 && after > 0 {
		return malformed("behind", "behind and revision go together, and without after: want what the page before said")
	}
	var state registry.Snapshot
	if of > 0 {
		var kept bool
		if state, kept = c.ns.kept.of(readerOf(c.who), of); !kept {
			// Another server gave the page before, as a proxy may have it: in etcd, a revision names one state, whoever shows it.
			if state = c.ns.Hub.Picture().State; state.Revision() != of {
				return fault(http.StatusGone, wire.CauseForgotten,
					"the state of revision %d is not kept here, or not any more: "+
						"begin with the first page, and have one server answer all requests of a client", of)
			}
		}
	} else {
		var p *live.Picture
		if after > 0 { // who follows has been told what was, and hears more when the registry answers
			p = c.newerThan(c.picture(), after)
			if err := c.allowedStill(); err != nil {
				return err
			}
		} else if p, err = c.answering(); err != nil {
			return err
		}
		if state = p.State; after > 0 && state.Revision() <= after {
			c.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	text, err := c.tree(state, below, behind, secrets)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", fmt.Sprintf("%q", state.Revision().String()))
	return c.send(http.StatusOK, text)
}

// tree encodes a page of what who asks may read, when it is its turn: many who ask at once do not copy the namespace as many
// times at once.
func (c *call) tree(state registry.Snapshot, below, behind string, secrets bool) ([]byte, error) {
	select {
	case c.trees <- struct{}{}:
		defer func() { <-c.trees }()
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	}
	if err := c.allowedStill(); err != nil {
		return nil, err
	}
	answer := wire.NodeList{Nodes: []wire.Node{}, Revision: state.Revision(), Java: c.ns.java}
	may := make(map[string]bool)
	left := maxTree
	for n := range state.Below(below) {
		if n.Path <= behind {
			continue
		}
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
		if left <= 0 {
			answer.Next = answer.Nodes[len(answer.Nodes)-1].Path
			break
		}
		if !secrets {
			n = jobtree.MaskSecrets(n)
		}
		left -= len(n.Path) + len(n.Value) + sizeOfNode
		answer.Nodes = append(answer.Nodes, wire.NodeOf(n))
	}
	if answer.Next != "" {
		c.ns.kept.keep(readerOf(c.who), state)
	}
	return encoded(answer)
}

// sizeOfNode is what a node takes besides its path and its value, in bytes.
const sizeOfNode = 80

func parseRevision(query url.Values, name string) (registry.Revision, error) {
	text := query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, malformed(name, "%q is given, want a revision", text)
	}
	return registry.Revision(n), nil
}

// newerThan waits for a picture of a newer state, as long as a request may wait and the server goes on.
func (c *call) newerThan(p *live.Picture, after registry.Revision) *live.Picture {
	ctx, cancel := context.WithTimeout(c.ctx, wire.MaxWait)
	defer cancel()
	for p.State.Revision() <= after {
		select {
		case <-p.Newer:
			p = c.ns.Hub.Picture()
		case <-c.ns.Hub.Closed():
			return p
		case <-ctx.Done():
			return p
		}
	}
	return p
}
