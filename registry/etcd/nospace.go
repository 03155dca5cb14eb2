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

// settleNoSpace tells the commits of a request what has become of them that etcd answered with "no space". Most often etcd
// refuses what comes to a full store. But of a request that was on its way when the quota was used up, it says the same
// after it has carried it out. So the store, which goes on serving reads, is asked what each commit would have left behind.
// It returns those that shared the request, have left nothing and may be repeated: they are sent again alone, as there may
// be room for them.
func (q *queue) settleNoSpace(req *request, refusal error) (again []*commit) {
	alone := len(req.commits) == 1
	unsettled := q.maybeDone(req.commits)
	asking := q.ask(req, req.commits, false)
	defer asking.cancel()
	unsure := make(map[*commit]bool)
	for _, c := range slices.Clone(asking.commits) {
		found, at, err := q.r.readWrites(asking.ctx, c)
		if asking.ctx.Err() != nil || !q.awaited(asking) {
			break
		}
		certain := err == nil && certainlyNotDone(c.txn, c.since, found, at)
		switch done := backend.DoneAt(c.txn, c.since, found); {
		case err != nil:
			c.fail(fmt.Errorf("%w: the store is full, and whether it carried this out cannot be read: %s", registry.ErrUnknownOutcome, err.Error()))
		case done != 0:
			c.end(registry.Outcome{Revision: done})
		case !alone && c.txn.Repeatable() && (certain || !c.puts() || showsNothing(c.txn, c.since, found)):
			unsure[c] = !certain
			continue
		case !certain:
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
		c.mayBeDone = unsettled[c] || unsure[c] || !c.puts() || asking.ctx.Err() != nil
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

// certainlyNotDone tells whether found, which the store showed at a revision after it had answered, proves that the
// transaction was not done since: no revision has been made, a node that it deletes is there since before, or one that it
// puts is as it was. What is absent proves nothing: others may have removed what the transaction created.
func certainlyNotDone(txn registry.Txn, since registry.Revision, found []registry.Node, at registry.Revision) bool {
	if at <= since {
		return true
	}
	for _, w := range txn.Then {
		deletes := w.Kind == registry.WriteDelete || w.Kind == registry.WriteDeleteTree
		for _, n := range found {
			if deletes && w.Touches(n.Path) && n.Created <= since || !deletes && w.Path == n.Path && n.Exists() && n.Revision <= since {
				return true
			}
		}
	}
	return false
}

// showsNothing tells less: whether found shows nothing of the transaction. Of the nodes that it puts, none was written after
// since; or one that it deletes is there since before. What was created and deleted again since, be it by the transaction and
// then by others, leaves nothing either: so what must not be done twice must not be repeated after this.
func showsNothing(txn registry.Txn, since registry.Revision, found []registry.Node) bool {
	puts, kept := false, false
	for _, w := range txn.Then {
		deletes := w.Kind == registry.WriteDelete || w.Kind == registry.WriteDeleteTree
		puts = puts || !deletes
		for _, n := range found {
			switch {
			case deletes:
				kept = kept || w.Touches(n.Path) && n.Created <= since
			case n.Path == w.Path && n.Revision > since:
				return false
			}
		}
	}
	return puts || kept
}

// readWrites reads what a commit would have left behind, and returns the revision at which that is there.
func (r *Registry) readWrites(ctx context.Context, c *commit) ([]registry.Node, registry.Revision, error) {
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
		return nil, 0, err
	}
	r.see(resp.Header.Revision) // by which the next commit is judged: a full store makes few others
	return slices.Collect(maps.Values(r.ns.found(resp))), registry.Revision(resp.Header.Revision), nil
}
