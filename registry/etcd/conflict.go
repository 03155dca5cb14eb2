package etcd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticron/elasticron/registry"
)

// A commit that was refused is explained by what it looked at: the first of its conditions that did not hold, and
// what was found instead. Few are refused, so a transaction does not carry the reads that this takes; the store is
// asked afterwards, for the state at the very revision that refused. Only what may have been done by an earlier try
// without an answer, and what the store could not explain, carries its reads with it.

// explainConflicts tells the commits of a request that asks why they were refused at a revision. It returns those for
// which the store does not tell, because it has forgotten that revision or refuses: they are sent again with their
// reads.
func (q *queue) explainConflicts(asking *request, revision registry.Revision) (again []*commit) {
	defer asking.cancel()
	for len(asking.commits) > 0 {
		paths, n := pathsOf(asking.commits)
		resp, err := q.r.readAt(asking.ctx, paths, revision)
		if err != nil {
			q.r.log.Debug("refused commits are sent again with their reads", slog.Int("transactions", len(asking.commits)), slog.Any("error", err))
			return q.finish(asking, func(c *commit) { c.explains = true })
		}
		found := q.r.ns.found(resp)
		for _, c := range asking.commits[:n] {
			c.fail(c.conflict(found, revision))
		}
		q.told(asking, asking.commits[:n]...)
	}
	return nil
}

// pathsOf returns what the first n commits looked at, each path once: as many of them as surely fit into one request,
// and one at least.
func pathsOf(commits []*commit) (paths []string, n int) {
	known := make(map[string]bool)
	for _, c := range commits {
		var more []string
		for _, path := range c.lookedAt() {
			if !known[path] {
				more = append(more, path)
			}
		}
		if n > 0 && len(paths)+len(more) > maxOps {
			break
		}
		for _, path := range more {
			known[path] = true
		}
		paths = append(paths, more...)
		n++
	}
	return paths, n
}

// readAt reads nodes as they were at a revision.
func (r *Registry) readAt(ctx context.Context, paths []string, revision registry.Revision) (*pb.TxnResponse, error) {
	return r.readTogether(ctx, r.ns.reads(paths, int64(revision)))
}

// readTogether carries out reads in one transaction.
func (r *Registry) readTogether(ctx context.Context, reads []*pb.RequestOp) (resp *pb.TxnResponse, err error) {
	req := &pb.TxnRequest{Success: reads}
	err = r.repeat(ctx, func(ctx context.Context) error {
		resp, err = r.transact(ctx, req)
		return err
	})
	return resp, err
}

// lookedAt returns the paths of the nodes that decide on a transaction, and of all that it writes if an earlier try may
// have done so.
func (c *commit) lookedAt() []string {
	paths := make([]string, 0, len(c.guards)+len(c.txn.Then))
	look := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, g := range c.guards {
		look(g.Path)
	}
	for _, w := range c.txn.Then {
		switch w.Kind {
		case registry.WritePut:
			if !w.Unasked || c.mayBeDone {
				look(w.Path)
			}
		case registry.WriteDelete, registry.WriteDeleteTree:
			if c.mayBeDone {
				look(w.Path)
			}
		}
	}
	return paths
}

// siblingsFrom is how deep nodes lie between which there is little, such as those of an item: /job/sharding/0/record.
const siblingsFrom = 3

// reads are those of paths, at a revision unless that is 0. Siblings, such as those of one item, are one range, with
// whatever lies between them: each operation of a request costs the store. Higher up a whole subtree may lie between
// two nodes, so those are read one by one.
func (n namespace) reads(paths []string, revision int64) []*pb.RequestOp {
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(strings.Compare(parent(a), parent(b)), strings.Compare(a, b)) })
	var ops []*pb.RequestOp
	for rest := paths; len(rest) > 0; {
		siblings := rest
		if end := slices.IndexFunc(rest, func(p string) bool { return parent(p) != parent(rest[0]) }); end > 0 {
			siblings = rest[:end]
		}
		rest = rest[len(siblings):]
		first, last := siblings[0], siblings[len(siblings)-1]
		if first != last && strings.Count(parent(first), "/") >= siblingsFrom {
			ops = append(ops, read(&pb.RangeRequest{Key: []byte(n.key(first)), RangeEnd: []byte(n.key(last) + "\x00"), Revision: revision}))
			continue
		}
		for _, path := range siblings {
			ops = append(ops, read(&pb.RangeRequest{Key: []byte(n.key(path)), Revision: revision}))
		}
	}
	return ops
}

// readAnyBelow reads one key below a path, if there is one.
func (n namespace) readAnyBelow(path string) *pb.RequestOp {
	start, end := n.below(path)
	return read(&pb.RangeRequest{Key: []byte(start), RangeEnd: []byte(end), Limit: 1, KeysOnly: true})
}

func read(r *pb.RangeRequest) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: r}}
}

// parent returns the path above one; empty for one right below the root.
func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// found returns the nodes that reads showed, by path.
func (n namespace) found(resp *pb.TxnResponse) map[string]registry.Node {
	found := make(map[string]registry.Node)
	for _, part := range resp.Responses {
		for _, node := range n.nodes(part.GetResponseRange().GetKvs()) {
			found[node.Path] = node
		}
	}
	return found
}

// conflict explains why a transaction was refused at a revision: by the first condition that did not hold, or else
// by a plain put on a node that a session owns. found is what there was at that revision.
func (c *commit) conflict(found map[string]registry.Node, revision registry.Revision) error {
	for _, g := range c.guards {
		if !g.Holds(found[g.Path]) {
			return &registry.ConflictError{Condition: g, Found: found[g.Path], Revision: revision}
		}
	}
	for _, w := range c.txn.Then {
		if node := found[w.Path]; w.Kind == registry.WritePut && !w.Unasked && node.Ephemeral() {
			return fmt.Errorf("%w: put of %s", registry.ErrOwned, node)
		}
	}
	return fmt.Errorf("etcd refused %s at revision %d although all of its conditions held", firstWrite(c.txn), revision)
}
