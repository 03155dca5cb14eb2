package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// send carries out one request. It returns the commits that need another try, and how long to wait
// before it.
func (q *queue) send(req *request) (again []*commit, wait time.Duration) {
	defer req.cancel()
	seen := q.r.seen.Load()
	resp, err := q.r.transact(req.ctx, q.r.ns.encode(req.groups))
	var refused []*commit
	var made registry.Revision
	if err == nil {
		q.observeLatency(req)
		q.r.seeSince(seen, resp.Header.Revision)
		refused, made = q.answered(req, resp)
	}
	q.r.hub.answered(req.number, made)
	switch refusal := refusal(err); {
	case err == nil:
		if len(refused) == 0 {
			q.finish(req, func(*commit) {})
			return nil, 0
		}
		return q.explainConflicts(q.ask(req, refused, true), registry.Revision(resp.Header.Revision)), 0
	case refusal == nil:
		q.r.log.Debug("commit without an answer", slog.Int("transactions", len(req.commits)), slog.Any("error", err))
		if req.ctx.Err() == nil || tookTooLong(err) { // not because nobody waits for it any more
			q.r.lastFailure.note(err)
		}
		maybe, size := req.sent.mayHaveBeenSent(q.r), len(req.commits)
		return q.finish(req, func(c *commit) {
			c.noteUnanswered(err, maybe)
			q.r.tellInsistence(c.retry, err)
			if maybe && !saidByEtcd(err) {
				c.suspect(size, q.answers, err)
			}
		}), longestBackoff(req.commits)
	case errors.Is(refusal, registry.ErrNoSpace):
		return q.settleNoSpace(req, refusal), 0
	case len(req.commits) > 1: // one of them, or their number, is to blame; the others must not suffer
		return q.finish(req, func(c *commit) { c.alone = true }), 0
	default:
		q.refused(req.commits[0], refusal)
		q.finish(req, func(*commit) {})
		return nil, 0
	}
}

// observeLatency notes how long the answer took.
func (q *queue) observeLatency(req *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.latency.observe(now.Sub(req.began), now)
	q.answers++
}

// noteUnanswered notes a try without an answer. After one that may have been done, a commit that must not be
// repeated is given up.
func (c *commit) noteUnanswered(err error, maybe bool) {
	c.retry.noteFailure(err)
	if maybe {
		c.mayBeDone, c.explains = true, true // now with what settling needs to see
	}
	if c.mayBeDone && c.abandoned == nil && !c.txn.Repeatable() {
		c.abandoned = func(error) error { return backend.NotRepeated(err) }
	}
}

const (
	// splitBy is in how many a request is split at least that got no answer again.
	splitBy = 8
	// unansweredAlways is how many tries without an answer have a commit go with fewer, whether or not others have had one: all
	// of what waits may be in the one request. Nor is it then, if they had, that the way there was merely busy.
	unansweredAlways = 5
)

// suspect notes a try without an answer, in a request of so many, when so many were answered. If others were answered since
// the try before, which had no answer either, then one of the request's commits may be what never gets one: something on the
// way there drops it. Then each goes on with fewer, and soon by itself, and the others do not suffer. It is not soon while the
// store, or the way there, may just be busy: then ever more requests are what it needs least. While nobody gets an answer, that
// it goes with fewer is a guess: the store may be away.
func (c *commit) suspect(size, answers int, err error) {
	c.unanswered++
	c.stuck = c.stuck || c.companions > 0 && size == 1
	others := c.unanswered > 1 && answers != c.answersBefore
	c.answersBefore = answers
	switch {
	case c.companions > 0:
		c.guessed = c.guessed && !others
	case c.unanswered >= unansweredAlways, others && !maybeBusy(err):
		c.guessed = !others
	default:
		return
	}
	c.companions = max(1, size/splitBy)
}

// guessedWrong tells whether the commit was set apart while nobody had an answer, and now that so many were answered, others
// have: so it was the store that was away, and nothing is known of the commit.
func (c *commit) guessedWrong(answers int) bool { return c.guessed && answers != c.answersBefore }

// clear has a commit go with any number again. It had no answer once.
func (c *commit) clear() { c.unanswered, c.companions, c.stuck, c.guessed = 1, 0, false, false }

// saidByEtcd tells whether the error is a server's own, such as that it has too many requests: so nothing on the way there has
// dropped this one.
func saidByEtcd(err error) bool {
	_, text := describe(err)
	return strings.HasPrefix(text, "etcdserver: ")
}

// maybeBusy tells whether the error may say no more than that whoever should answer had no time: it is what a proxy says in
// that case, or what a call comes to that took too long or whose connection broke.
func maybeBusy(err error) bool {
	code, _ := describe(err)
	return code == codes.Unavailable || tookTooLong(err)
}

// longestBackoff returns the longest pause that one of the commits wants.
func longestBackoff(batch []*commit) (d time.Duration) {
	for _, c := range batch {
		d = max(d, c.retry.backoff())
	}
	return d
}

// answered tells each commit its outcome, but those that were refused and are still to be told why: these it returns.
// All commits share the revision of the request. made is that revision if the request certainly wrote something: else it
// is one that the store had before.
func (q *queue) answered(req *request, resp *pb.TxnResponse) (refused []*commit, made registry.Revision) {
	revision := registry.Revision(resp.Header.Revision)
	for i, g := range req.groups {
		of := resp
		if len(req.commits) > 1 {
			of = resp.Responses[i].GetResponseTxn()
		}
		for k, c := range g.commits {
			own := of
			if len(g.commits) > 1 && of.Succeeded { // or else a shared condition did not hold
				own = of.Responses[k].GetResponseTxn()
			}
			switch {
			case own.Succeeded:
				if c.puts() {
					made = revision
				}
				c.end(registry.Outcome{Revision: revision})
			case c.explains:
				q.conflicted(c, q.r.ns.found(own), revision)
			default:
				refused = append(refused, c)
			}
		}
	}
	return refused, made
}

// conflicted ends a commit that the store refused and that found is the reason of.
func (q *queue) conflicted(c *commit, found map[string]registry.Node, revision registry.Revision) {
	conflict := c.conflict(found, revision)
	if !c.mayBeDone {
		c.fail(conflict)
		return
	}
	revision, err := backend.Settle(c.txn, conflict, c.since, slices.Collect(maps.Values(found)))
	c.end(registry.Outcome{Revision: revision, Err: err})
}

// refused ends a commit that etcd would not even judge.
func (q *queue) refused(c *commit, refusal error) {
	if errors.Is(refusal, registry.ErrSessionLost) {
		q.r.keeper.leaseGone(c.sessions, refusal)
		if len(c.sessions) == 1 {
			refusal = fmt.Errorf("session %s: %w", c.sessions[0].ID(), refusal)
		}
	}
	switch asksMore := errors.Is(refusal, registry.ErrTooLarge) || errors.Is(refusal, registry.ErrDenied); {
	case c.mayBeDone && asksMore:
		// The earlier try carried fewer reads, so it may have been taken. Its outcome is unknown and nothing else: who
		// finds the refusal in the error would believe that nothing was written.
		refusal = fmt.Errorf("%w: an earlier try got no answer, and a later one, which reads more, this: %s", registry.ErrUnknownOutcome, refusal.Error())
	case c.mayBeDone:
		_, refusal = backend.Settle(c.txn, refusal, c.since, nil)
	}
	c.fail(refusal)
}

// sentMarker tells whether a request may have reached a server: only then is the outcome of a commit
// without an answer unknown. gRPC names a peer as soon as a request has a connection to travel on.
type sentMarker struct{ sent atomic.Bool }

type sentMarkKey struct{}

func (m *sentMarker) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, sentMarkKey{}, m)
}

// mayHaveBeenSent is true unless the request certainly never left. A client that the user brought along does
// not note it.
func (m *sentMarker) mayHaveBeenSent(r *Registry) bool { return m.sent.Load() || !r.ownClient }

// noteSent is the interceptor that every connection of ours has.
func noteSent(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	mark, ok := ctx.Value(sentMarkKey{}).(*sentMarker)
	if !ok {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	var on peer.Peer
	err := invoke(ctx, method, req, reply, conn, append(opts, grpc.Peer(&on))...)
	if on.Addr != nil {
		mark.sent.Store(true)
	}
	if _, txn := req.(*pb.TxnRequest); txn && ctx.Err() == nil && endedEarly(err) {
		return endedEarlyError{err}
	}
	return err
}

// endedEarly tells whether a call that failed was ended by whoever had it, be it a server or something on the way there, as
// if its time had been up or nobody waited for it.
func endedEarly(err error) bool {
	code := status.Code(err)
	return code == codes.DeadlineExceeded || code == codes.Canceled
}

// endedEarlyError has etcd's client take such a call for one without an answer, which it is. By itself, the client would send
// it once more, and the commit would not hear that it may be done twice.
type endedEarlyError struct{ error }

// GRPCStatus is what gRPC and etcd's client go by.
func (e endedEarlyError) GRPCStatus() *status.Status {
	return status.New(codes.Unavailable, status.Convert(e.error).Message())
}

// Unwrap returns the error that it came with.
func (e endedEarlyError) Unwrap() error { return e.error }
