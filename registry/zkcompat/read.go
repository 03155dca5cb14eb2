package zkcompat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

const (
	// atOnce is how many requests of one call are with the server at a time.
	atOnce = 96
	// readTogether is how many znodes one request reads at most, and how many bytes their paths have, unless it is one path:
	// the server drops the connection over a request that is too large.
	readTogether      = 128
	readTogetherBytes = 128 << 10
)

// Get implements [registry.Reader].
func (r *Registry) Get(ctx context.Context, path string) (registry.Node, error) {
	if err := registry.CheckPath(path); err != nil {
		return registry.Node{}, r.opError(registry.OpGet, path, err)
	}
	var found registry.Node
	err := r.read(ctx, func(ctx context.Context, l *link) error {
		z, err := r.fetch(ctx, l, r.ns.znode(path))
		found = z.node(path)
		return err
	})
	if err == nil && !found.Exists() {
		err = registry.ErrNotFound
	}
	return found, r.opError(registry.OpGet, path, err)
}

// List implements [registry.Reader]. It is not one state of the store: ZooKeeper has no read of a
// subtree, so nodes are read one by one, many at a time. All commits up to the revision are in it, and
// some later ones may be, in part.
func (r *Registry) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if err := backend.CheckSubtree(path); err != nil {
		return nil, 0, r.opError(registry.OpList, path, err)
	}
	var nodes []registry.Node
	var revision registry.Revision
	err := r.read(ctx, func(ctx context.Context, l *link) error {
		revision = l.seen()
		found, err := walk(ctx, l, r.ns.znode(path))
		nodes = nodesOf(r.ns, found)
		return err
	})
	if err != nil {
		return nil, 0, r.opError(registry.OpList, path, err)
	}
	return nodes, revision, nil
}

// Children implements [registry.Reader]. A child that holds nothing itself is looked into: ZooKeeper
// keeps parents when their children go. One that this user may not read is named, lest it hides the others.
func (r *Registry) Children(ctx context.Context, path string) ([]string, error) {
	if err := backend.CheckSubtree(path); err != nil {
		return nil, r.opError(registry.OpChildren, path, err)
	}
	var names []string
	err := r.read(ctx, func(ctx context.Context, l *link) error {
		names = nil
		parent := r.ns.znode(path)
		all, err := r.childrenOf(ctx, l, parent)
		if err != nil {
			return err
		}
		kept := make([]bool, len(all))
		err = each(ctx, len(all), func(i int) (err error) {
			kept[i], err = r.holds(ctx, l, childOf(parent, all[i]))
			return err
		})
		for i, name := range all {
			if kept[i] {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return err
	})
	if err != nil {
		return nil, r.opError(registry.OpChildren, path, err)
	}
	return names, nil
}

// holds tells whether there is a node at a znode or below it, or one that this user may not read.
func (r *Registry) holds(ctx context.Context, l *link, path string) (found bool, err error) {
	defer func() {
		if errors.Is(err, zk.ErrNoAuth) {
			found, err = true, nil
		}
	}()
	z, err := r.fetch(ctx, l, path)
	if err != nil || !z.there || z.node(path).Exists() {
		return z.there, err
	}
	names, err := r.childrenOf(ctx, l, path)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if found, err := r.holds(ctx, l, childOf(path, name)); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// read has a call made on a connection whose server knows all that was committed before, and repeats it until it is answered or
// ctx ends.
func (r *Registry) read(ctx context.Context, call func(ctx context.Context, l *link) error) error {
	return r.untilAnswered(ctx, func(ctx context.Context, l *link) error {
		if err := l.ballot(ctx); err != nil {
			return err
		}
		return call(ctx, l)
	})
}

// insistence is a request that is repeated. If a server answers it with errors for longer than the session would last without
// one, that is told: an error that no table names as hopeless may be so all the same.
type insistence struct {
	r     *Registry
	since time.Time // of the first such answer
}

// note takes in what a try has come to.
func (i *insistence) note(path string, err error) {
	switch {
	case err == nil || errors.Is(err, errLeft):
	case isBroken(err):
		i.since = time.Time{} // the keeper tells of that
	case i.since.IsZero():
		i.since = time.Now()
	case time.Since(i.since) > i.r.config.SessionTimeout:
		i.r.repeats.Tell(repeats.Line{
			Level: slog.LevelWarn, Message: "the registry does not do a request, trying on", Cause: err.Error(),
			Attrs: []any{"path", path, "error", err},
		})
	}
}

// untilAnswered repeats a call until it is answered or ctx ends.
func (r *Registry) untilAnswered(ctx context.Context, call func(ctx context.Context, l *link) error) error {
	if r.life.Err() != nil {
		return registry.ErrClosed
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	var last error
	trying := insistence{r: r}
	for failed := 0; ; failed++ {
		if ctx.Err() != nil || !remote.Sleep(ctx, remote.Backoff(failed)) {
			return remote.GivenUp(ctx, registry.ErrUnavailable, last)
		}
		l, err := r.keeper.usable(ctx)
		if err != nil {
			return err
		}
		if err = call(ctx, l); err == nil {
			return nil
		}
		if refused := refusal(err); refused != nil {
			return refused
		}
		if !errors.Is(err, errLeft) {
			last = err
		}
		trying.note("", err)
	}
}

// fetch reads one znode.
func (r *Registry) fetch(ctx context.Context, l *link, path string) (znode, error) {
	return ask(ctx, l, func(c *zk.Conn) (znode, error) { return get(c, path) })
}

func get(c *zk.Conn, path string) (znode, error) {
	data, stat, err := c.Get(path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return znode{}, nil
	case err != nil:
		return znode{}, fmt.Errorf("%s: %w", path, err)
	default:
		return znode{there: true, data: string(data), stat: *stat}, nil
	}
}

func (r *Registry) childrenOf(ctx context.Context, l *link, path string) ([]string, error) {
	return ask(ctx, l, func(c *zk.Conn) ([]string, error) { return children(c, path) })
}

func children(c *zk.Conn, path string) ([]string, error) {
	names, _, err := c.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// walk reads the subtree at a znode, level by level.
func walk(ctx context.Context, l *link, root string) (map[string]znode, error) {
	w, err := l.introduced(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]znode)
	for level := []string{root}; len(level) > 0; {
		var parents []string
		err := w.read(ctx, opGetData, level, func(path string, r result) error {
			z, err := r.znode()
			if z.there {
				found[path] = z
			}
			if z.stat.NumChildren > 0 {
				parents = append(parents, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		level = nil
		err = w.read(ctx, opChildren, parents, func(path string, r result) error {
			for _, name := range r.names {
				level = append(level, childOf(path, name))
			}
			if r.code == codeNoNode {
				return nil
			}
			return errorOf(r.code)
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// requests yields the paths that one request reads after the other.
func requests(paths []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for len(paths) > 0 {
			n, size := 1, len(paths[0])
			for n < min(len(paths), readTogether) && size+len(paths[n]) <= readTogetherBytes {
				size += len(paths[n])
				n++
			}
			if !yield(paths[:n:n]) {
				return
			}
			paths = paths[n:]
		}
	}
}

// read reads something of znodes, a good many with each request, and has take take it, one after the other.
func (w *wire) read(ctx context.Context, kind int32, paths []string, take func(path string, r result) error) error {
	type part struct {
		paths  []string
		answer chan answer // holds it
	}
	var parts []part
	for paths := range requests(paths) {
		p := part{paths, make(chan answer, 1)}
		if !w.request(opMultiRead, readRequest(kind, paths), func(a answer) { p.answer <- a }) {
			return zk.ErrConnectionClosed
		}
		parts = append(parts, p)
	}
	for _, p := range parts {
		var a answer
		select {
		case a = <-p.answer:
		case <-ctx.Done():
			return errLeft
		}
		if a.err != nil {
			return a.err
		}
		results, err := results(a.body, len(p.paths))
		if err != nil {
			return err
		}
		for i, r := range results {
			if err := take(p.paths[i], r); err != nil {
				return fmt.Errorf("%s: %w", p.paths[i], err)
			}
		}
	}
	return nil
}

// each makes calls, many at once, until one fails or ctx ends, and waits for those under way.
func each(ctx context.Context, count int, call func(i int) error) error {
	var next atomic.Int64
	var failure atomic.Pointer[error]
	var wg sync.WaitGroup
	for range min(count, atOnce) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && ctx.Err() == nil && failure.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := call(i); err != nil {
					failure.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	wg.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	if ctx.Err() != nil {
		return errLeft
	}
	return nil
}

// nodesOf returns the nodes among znodes, in ascending order of paths.
func nodesOf(ns namespace, found map[string]znode) []registry.Node {
	nodes := make([]registry.Node, 0, len(found))
	for path, z := range found {
		if path == ns.base {
			continue // the namespace itself holds no value
		}
		if n := z.node(ns.path(path)); n.Exists() {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b registry.Node) int { return cmp.Compare(a.Path, b.Path) })
	return nodes
}

// within tells whether a znode lies at or below another.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root) && (root == registry.Root || path[len(root)] == '/')
}
