package zkcompat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// Commit implements [registry.Committer].
func (r *Registry) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := r.commit(ctx, txn)
	return revision, r.opError(registry.OpCommit, firstPath(txn), err)
}

// firstPath returns what stands for a transaction in an error.
func firstPath(txn registry.Txn) string {
	if len(txn.Then) == 0 {
		return ""
	}
	return txn.Then[0].Path
}

func (r *Registry) commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if err := txn.Check(); err != nil {
		return 0, err
	}
	if r.life.Err() != nil {
		return 0, registry.ErrClosed
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	c := r.queue.submit(ctx, txn)[0]
	return r.finish(ctx, txn, r.queue.wait(ctx, c))
}

// finish has a transaction that left the queue without an outcome go on by itself.
func (r *Registry) finish(ctx context.Context, txn registry.Txn, v verdict) (registry.Revision, error) {
	if v.done {
		return v.outcome.Revision, v.outcome.Err
	}
	a := attempt{r: r, txn: txn, fresh: v.fresh, lost: v.lost, since: v.since, last: v.err}
	turn := txn.Turn
	if a.lost { // it was sent, and must be settled
		turn.Until = time.Time{}
		if !txn.Repeatable() {
			return a.unrepeated(ctx)
		}
	}
	switch err := r.gate.Enter(ctx, turn); {
	case err == nil:
		defer r.gate.Leave()
	case ctx.Err() == nil:
		return 0, err
	}
	for trying := (insistence{r: r}); ; a.tries++ {
		if ctx.Err() != nil || !remote.Sleep(ctx, remote.Backoff(a.tries-1)) {
			return a.giveUp(ctx)
		}
		if txn.Turn.Over(time.Now()) && !a.lost {
			return 0, registry.ErrNotSent
		}
		revision, done, err := a.try(ctx)
		if done {
			return revision, err
		}
		if err != nil && !errors.Is(err, errLeft) {
			a.last = err
		}
		trying.note(firstPath(txn), err)
		if a.lost && !txn.Repeatable() {
			return a.unrepeated(ctx)
		}
	}
}

// attempt is one transaction on its way to an answer.
type attempt struct {
	r     *Registry
	txn   registry.Txn
	tries int
	fresh bool // look at the server, not at views
	// lost tells that a multi was sent whose answer never came, since that the store had reached since
	// before it was.
	lost  bool
	since registry.Revision
	last  error // what the last failed try came to
	// over counts tries of which the server said that the session is over, and then showed that it is not.
	over int
}

func (a *attempt) giveUp(ctx context.Context) (registry.Revision, error) {
	meaning := registry.ErrUnavailable
	if a.lost {
		meaning = registry.ErrUnknownOutcome
	}
	return 0, remote.GivenUp(ctx, meaning, a.last)
}

// unrepeated ends a transaction that may have been done and must not be sent again.
func (a *attempt) unrepeated(ctx context.Context) (registry.Revision, error) {
	if ctx.Err() != nil {
		return a.giveUp(ctx)
	}
	return 0, backend.NotRepeated(cmp.Or(a.last, errLeft))
}

// try surveys, and sends the multi. It is done when there is an answer.
func (a *attempt) try(ctx context.Context) (revision registry.Revision, done bool, err error) {
	if lost := a.sessionLost(nil); lost != nil && !a.lost {
		return 0, true, lost
	}
	waiting, stop := a.unsent(ctx)
	defer stop()
	l, err := a.r.keeper.usable(waiting)
	if errors.Is(err, registry.ErrClosed) && !a.lost {
		return 0, true, err
	}
	if err != nil {
		return 0, false, err
	}
	if lost := a.sessionLost(l); lost != nil {
		return a.refused(ctx, l, nil, lost)
	}
	if full := a.noRoom(waiting, l); full != nil {
		return 0, true, full
	}
	s, err := a.r.look(waiting, l, a.txn, a.fresh || a.lost)
	if err != nil {
		return a.failed(err)
	}
	refused := s.refusal(l.seen())
	var p *plan
	if refused == nil {
		p, refused = s.plan()
	}
	if refused != nil {
		if !s.fresh { // what a view shows may be late; an answer must not be
			a.fresh = true
			a.tries--
			return 0, false, nil
		}
		if errors.Is(refused, registry.ErrTooLarge) && !a.lost {
			if pruned, err := a.prune(waiting, l, s); pruned {
				return 0, false, err
			}
		}
		return a.refused(ctx, l, s, refused)
	}
	return a.send(ctx, l, p)
}

// prune makes a transaction that is too large smaller, if that is possible; then it is tried again. The error tells why not
// all was done, unless somebody else did something meanwhile.
func (a *attempt) prune(ctx context.Context, l *link, s *survey) (pruned bool, err error) {
	pruned, err = s.prune(ctx, l)
	switch {
	case err == nil && pruned:
		a.r.parents.forget()
		a.tries--
	case isOvertaken(err):
		a.r.parents.forget()
	case refusal(err) != nil:
		return false, nil
	}
	return pruned, err
}

// unsent bounds by the transaction's turn what must come before it is sent. What was sent is settled.
func (a *attempt) unsent(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.txn.Turn.Until.IsZero() || a.lost {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, a.txn.Turn.Until, registry.ErrNotSent)
}

// sessionLost tells whether a session in which the transaction writes is over, or, if l is not nil, is
// not the link's.
func (a *attempt) sessionLost(l *link) error {
	for _, w := range a.txn.Then {
		if w.Kind != registry.WritePutOwned {
			continue
		}
		if err := w.Session.Err(); err != nil {
			return err
		}
		if l == nil {
			continue
		}
		if id, _ := l.granted(); w.Session.ID() != registry.SessionID(id) {
			return fmt.Errorf("%w: session %s is not the handle's, which is %x", registry.ErrSessionLost, w.Session.ID(), id)
		}
	}
	return nil
}

// noRoom tells that the session can hold no more nodes. That takes no look at the store: whoever is told tries again now and
// then.
func (a *attempt) noRoom(ctx context.Context, l *link) error {
	if a.lost {
		return nil // what became of it has to be settled first
	}
	var owned []string
	for _, w := range a.txn.Then {
		if w.Kind == registry.WritePutOwned {
			owned = append(owned, a.r.ns.znode(w.Path))
		}
	}
	if len(owned) == 0 || l.ephemerals.room(owned) == nil {
		return nil
	}
	if l.recount(ctx) != nil {
		return nil // it is refused when it is sent, if it comes to that
	}
	return l.ephemerals.room(owned)
}

// mayCome tells whether a try that got no answer may still be done: it was sent in a session that this process gave
// up, and that the server may keep for a while.
func (a *attempt) mayCome() bool {
	return slices.ContainsFunc(a.txn.Then, func(w registry.Write) bool {
		return w.Kind == registry.WritePutOwned && a.r.keeper.mayStill(w.Session.ID())
	})
}

// send has the server do the multi.
func (a *attempt) send(ctx context.Context, l *link, p *plan) (registry.Revision, bool, error) {
	if len(p.ops) == 0 {
		return l.seen(), true, nil
	}
	claim, full := l.claimEphemerals(ctx, func() (*ephemeralClaim, error) { return l.ephemerals.claimOf(p.ops) })
	if full != nil {
		return a.refused(ctx, l, p.s, full)
	}
	if !a.lost {
		a.since = l.seen()
	}
	epoch, _ := l.ready()
	sent := l.clock()
	answers, over, err := askFor(ctx, l, func(c *zk.Conn) ([]zk.MultiResponse, error) {
		answers, err := c.Multi(p.ops...)
		claim.settle(fateOf(err)) // also if nobody waits for the answer
		return answers, err
	})
	if over == nil { // it was not sent
		claim.settle(fateUndone)
	}
	switch {
	case err == nil:
		a.r.keeper.committed(l, epoch, sent)
		a.r.parents.add(sortedKeys(p.made)...) // views may show them late
		if p.tells < 0 || p.tells >= len(answers) || answers[p.tells].Stat == nil {
			return l.seen(), true, nil
		}
		return registry.Revision(answers[p.tells].Stat.Mzxid), true, nil
	case errors.Is(err, errLeft):
		a.lost = true
		return 0, false, err
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNoChildrenForEphemerals): // what was there may be another now
		a.r.parents.forget()
		a.fresh = true
		return 0, false, err
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrNotEmpty):
		a.fresh = true
		return 0, false, err
	case errors.Is(err, zk.ErrConnectionClosed), errors.Is(err, zk.ErrClosing):
		a.lost = true
		return 0, false, sized(err, p.size)
	case errors.Is(err, errLocalSession), errors.Is(err, zk.ErrSessionExpired) && a.sessionLasts(ctx, l, epoch):
		l.ephemerals.setLocal(true)
		return a.failed(errLocalSession)
	default:
		return a.failed(err)
	}
}

// mostOver is how often a server may say in error that the session is over.
const mostOver = 3

// sessionLasts tells, of a session of which the server has said that it is over, that it is not: the servers have committed
// something in it since, on the same connection, and so it has gone several times. A follower says so of a local session when
// that is to own a node.
func (a *attempt) sessionLasts(ctx context.Context, l *link, epoch int) bool {
	if l.ballot(ctx) != nil {
		return false
	}
	if now, ok := l.ready(); !ok || now != epoch {
		return false
	}
	a.over++
	return a.over >= mostOver
}

// sized names the size of a request after which the connection was closed: a server does so, without a word, if it is larger
// than its jute.maxbuffer.
func sized(err error, size int) error {
	if size < mostBytes {
		return err
	}
	return fmt.Errorf("%w: after a request of %d bytes, which may be more than the server's jute.maxbuffer", err, size)
}

// failed judges an error of the store that is no answer to the transaction.
func (a *attempt) failed(err error) (registry.Revision, bool, error) {
	refused := refusal(err)
	switch {
	case refused == nil:
		return 0, false, err
	case a.lost:
		return 0, true, fmt.Errorf("%w: an earlier try got no answer, a later one this: %w", registry.ErrUnknownOutcome, refused)
	default:
		return 0, true, refused
	}
}

// refused answers with a refusal, unless an earlier try that got no answer turns out to be done.
func (a *attempt) refused(ctx context.Context, l *link, s *survey, refused error) (registry.Revision, bool, error) {
	if !a.lost {
		return 0, true, refused
	}
	if s == nil {
		a.r.parents.forget() // so that the survey looks at parents too
		var err error
		if s, err = a.r.look(ctx, l, a.txn, true); err != nil {
			return a.failed(err)
		}
	}
	if errors.Is(refused, registry.ErrSessionLost) && s.untouched(a.since) && !a.mayCome() {
		return 0, true, refused // a session that is gone cannot do it any more, and has not done it
	}
	revision, err := backend.Settle(a.txn, refused, a.since, s.nodes())
	return revision, true, err
}
