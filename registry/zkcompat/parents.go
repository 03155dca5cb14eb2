package zkcompat

import (
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"
)

// parents remembers which znodes were seen that can have children, so that a commit need not look
// again. They hardly ever go; when one did, the commit that relied on it is refused and looks itself.
type parents struct {
	mu    sync.Mutex
	known map[string]bool
}

// most bounds what is remembered; beyond, everything is forgotten and learned again.
const mostParents = 100_000

func (p *parents) has(path string) bool {
	if path == "/" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[path]
}

func (p *parents) add(paths ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) > mostParents {
		p.known = make(map[string]bool)
	}
	for _, path := range paths {
		p.known[path] = true
	}
}

func (p *parents) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = nil
}

// makeParents creates the missing ancestors of a znode, persistent and empty, as Java does. It tells of each one that it has
// made.
func (r *Registry) makeParents(ctx context.Context, l *link, path string, made func(znode string)) error {
	parent := parentOf(path)
	if r.parents.has(parent) {
		return nil
	}
	z, err := r.fetch(ctx, l, parent)
	if err != nil && !errors.Is(err, zk.ErrNoAuth) { // whoever may not read it may still create below it
		return err
	}
	if err == nil && !z.there {
		if err := r.makeParents(ctx, l, parent, made); err != nil {
			return err
		}
		_, err := ask(ctx, l, func(c *zk.Conn) (string, error) { return c.Create(parent, []byte{}, 0, r.acl) })
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			r.parents.forget()
			return err
		}
		if err == nil {
			made(parent)
		}
	}
	if z.owner() == 0 {
		r.parents.add(parent)
	}
	return nil
}
