package etcd

import (
	"context"
	"fmt"
	"maps"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// full tells the commits of a request what has become of them that etcd answered with "no space". Most often etcd refuses
// what comes to a full store. But of a request that was on its way when the quota was used up, it says the same after it has
// carried it out. So the store, which goes on serving reads, is asked what each commit would have left behind. It returns
// those that shared the request, have left nothing and may be repeated: they are sent again alone, as there may be room for
// them.
func (q *queue) full(req *request, refusal error) (again []*commit) {
	alone := len(req.commits) == 1
	unsettled := q.maybeDone(req.commits)
	asking := q.ask(req, req.commits, false)
	defer asking.cancel()
	for _, c := range slices.Clone(asking.commits) {
		found, err := q.r.readWrites(asking.ctx, c)
		if asking.ctx.Err() != nil || !q.awaited(asking) {
			break
		}
		switch done := backend.DoneAt(c.txn, c.since, found); {
		case err != nil:
			c.fail(fmt.Errorf("%w: the store is full, and whether it carried this out cannot be read: %s", registry.ErrUnknownOutcome, err.Error()))
		case done != 0:
			q.r.see(int64(done))
			c.end(registry.Outcome{Revision: done})
		case !alone && c.txn.Repeatable() && (!c.puts() || backend.Undone(c.txn, c.since, found)):
			continue
		case !backend.Undone(c.txn, c.since, found):
			// Nor may who finds the refusal in the error believe that nothing was written.
			c.fail(fmt.Errorf("%w: what is there now does not tell, and the store says: %s", registry.ErrUnknownOutcome, refusal.Error()))
		case unsettled[c]:
			_, err := backend.Settle(c.txn, refusal, c.since, nil)
			c.fail(err)
		default:
			c.fail(refusal)
		}
		q.told(asking, c)
	}
	return q.finish(asking, func(c *commit) {
		c.alone = true
		c.mayBeDone = unsettled[c] || !c.puts() || asking.ctx.Err() != nil
		c.explains = c.explains || c.mayBeDone // with what settling needs to see
	})
}

// awaited tells whether somebody waits for one of a request's commits.
func (q *queue) awaited(req *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return req.waiters > 0
}

// maybeDone notes that commits may have been done, and returns those of which that was known.
func (q *queue) maybeDone(commits []*commit) map[*commit]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := make(map[*commit]bool)
	for _, c := range commits {
		known[c] = c.mayBeDone
		c.mayBeDone = true
	}
	return known
}

// readWrites reads what a commit would have left behind.
func (r *Registry) readWrites(ctx context.Context, c *commit) ([]registry.Node, error) {
	var paths []string
	var below []*pb.RequestOp
	for _, w := range c.txn.Then {
		if !slices.Contains(paths, w.Path) {
			paths = append(paths, w.Path)
		}
		if w.Kind == registry.WriteDeleteTree {
			below = append(below, r.ns.readAnyBelow(w.Path))
		}
	}
	resp, err := r.readTogether(ctx, append(r.ns.reads(paths, 0), below...))
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(r.ns.found(resp))), nil
}
