package etcd

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// send carries out one request. It returns the commits that need another try, and how long to wait
// before it.
func (q *queue) send(f *flight) (again []*commit, wait time.Duration) {
	defer f.breakOff()
	resp, err := q.r.client.Do(f.ctx, requestOf(f.commits))
	if err == nil {
		q.keepPace(f)
	}
	switch refused := refusal(err); {
	case err == nil:
		q.answered(f.commits, resp.Txn())
		q.land(f, func(*commit) {})
		return nil, 0
	case refused == nil:
		q.r.log.Debug("commit without an answer", slog.Int("transactions", len(f.commits)), slog.Any("error", err))
		if f.ctx.Err() == nil || tookTooLong(err) { // not because nobody waits for it any more
			q.r.trouble.note(err)
		}
		return q.land(f, func(c *commit) { c.fell(err, f.sent.maybe(q.r)) }), longest(f.commits)
	case len(f.commits) > 1: // one of them, or their number, is to blame; the others must not suffer
		return q.land(f, func(c *commit) { c.alone = true }), 0
	default:
		q.refused(f.commits[0], refused)
		q.land(f, func(*commit) {})
		return nil, 0
	}
}

// keepPace notes how long the answer took.
func (q *queue) keepPace(f *flight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.pace.answered(now.Sub(f.began), now)
}

// fell notes a try without an answer. After one that may have been done, a commit that must not be
// repeated is given up.
func (c *commit) fell(err error, maybe bool) {
	c.waiting.note(err)
	if maybe && !c.maybe {
		c.maybe, c.enc = true, nil // encode again, now with what settling needs to see
	}
	if c.maybe && c.left == nil && !c.txn.Repeatable() {
		c.left = func(error) error { return registry.NotRepeated(err) }
	}
}

// longest returns the longest pause that one of the commits wants.
func longest(batch []*commit) (d time.Duration) {
	for _, c := range batch {
		d = max(d, c.waiting.pause())
	}
	return d
}

// requestOf makes one operation of the commits: one transaction as it is, several as the nested ones
// of a transaction without conditions.
func requestOf(batch []*commit) clientv3.Op {
	if len(batch) == 1 {
		return batch[0].enc.op()
	}
	nested := make([]clientv3.Op, len(batch))
	for i, c := range batch {
		nested[i] = c.enc.op()
	}
	return clientv3.OpTxn(nil, nested, nil)
}

// answered tells each commit its outcome. All share the revision of the request.
func (q *queue) answered(batch []*commit, resp *clientv3.TxnResponse) {
	q.r.see(resp.Header.Revision)
	revision := registry.Revision(resp.Header.Revision)
	for i, c := range batch {
		own := (*pb.TxnResponse)(resp)
		if len(batch) > 1 {
			own = resp.Responses[i].GetResponseTxn()
		}
		if own.Succeeded {
			c.end(registry.Outcome{Revision: revision})
			continue
		}
		found, conflict := q.r.ns.conflict(c.txn, own, revision)
		q.conflicted(c, conflict, found)
	}
}

func (q *queue) conflicted(c *commit, conflict error, found []registry.Node) {
	if !c.maybe {
		c.fail(conflict)
		return
	}
	revision, err := registry.Settle(c.txn, conflict, c.since, found)
	c.end(registry.Outcome{Revision: revision, Err: err})
}

// refused ends a commit that etcd would not even judge.
func (q *queue) refused(c *commit, refusal error) {
	if errors.Is(refusal, registry.ErrSessionLost) {
		q.r.keeper.gone(c.sessions, refusal)
		if len(c.sessions) == 1 {
			refusal = fmt.Errorf("session %s: %w", c.sessions[0].ID(), refusal)
		}
	}
	if c.maybe {
		_, refusal = registry.Settle(c.txn, refusal, c.since, nil)
	}
	c.fail(refusal)
}
