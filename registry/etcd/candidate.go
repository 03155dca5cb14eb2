package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// candidate is one contender for a latch.
type candidate struct {
	*electionSession
	path    string
	ticket  string          // the node with which it stands in the line
	began   time.Time       // when it was made
	created int64           // the revision that created the ticket; known when the latch is held
	waitCtx context.Context // ends when waiting for the latch has become pointless
	giveUp  context.CancelFunc
	won     chan error    // the outcome of the campaign
	done    chan struct{} // closed by the caller: the latch is not needed any more
	gone    chan struct{} // closed when the key is deleted
}

func newCandidate(s *electionSession, path string) *candidate {
	c := &candidate{
		electionSession: s, path: path, ticket: fmt.Sprintf("%s/%x", path, s.etcd.Lease()), began: time.Now(),
		won: make(chan error, 1), done: make(chan struct{}), gone: make(chan struct{}),
	}
	c.waitCtx, c.giveUp = context.WithCancel(clientv3.WithRequireLeader(s.over)) // a member that lost the others has no news
	return c
}

// await returns when the latch is held, or why it will not be.
func (c *candidate) await(ctx context.Context) error {
	var err error
	select {
	case err = <-c.won:
	case <-c.over.Done():
		err = c.session.Err()
	case <-ctx.Done():
		err = remote.GivenUp(ctx, registry.ErrUnavailable, nil)
	}
	if err != nil {
		c.giveUp()
		close(c.done)
	}
	return err
}

// run runs the function as the holder.
func (c *candidate) run(ctx context.Context, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.over, func() { cancel(c.session.Err()) }) //nolint:contextcheck // the session outlives the call
	defer stop()
	var guarding sync.WaitGroup
	guarding.Go(func() { c.guard(ctx, cancel) })
	defer guarding.Wait()
	defer cancel(nil)
	return fn(ctx)
}

// ticketLook is how long a holder waits between two looks at its ticket. Thousands of jobs that elect their leaders at once
// are through before the first one, and pay nothing.
const ticketLook = time.Second

// guard ends the function's context when the ticket is gone, or another one is in its place: the next one in the line has the
// latch then. Who waited for long looks at once, as the ticket may have gone meanwhile, which is not noticed in the line.
func (c *candidate) guard(ctx context.Context, lost context.CancelCauseFunc) {
	for next := c.began.Add(ticketLook); remote.Sleep(ctx, time.Until(next)); next = time.Now().Add(ticketLook) {
		found, _, err := c.r.gets.read(ctx, clientv3.OpGet(c.r.ns.key(c.ticket), clientv3.WithKeysOnly()))
		if err == nil && (len(found[0]) == 0 || found[0][0].CreateRevision != c.created) {
			lost(c.ticketGone(ctx))
			return
		}
	}
}

// ticketGone tells why the ticket was lost: with the session, or by somebody's hand. It does not ask for long.
func (c *candidate) ticketGone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ticketLook)
	defer cancel()
	lease, err := c.r.client.TimeToLive(ctx, c.etcd.Lease())
	if err == nil && lease.TTL < 0 {
		c.r.keeper.leaseGone([]*registry.Session{c.session}, rpctypes.ErrLeaseNotFound)
		return c.session.Err()
	}
	return fmt.Errorf("%w: ticket %s was removed", registry.ErrConflict, c.ticket)
}

// release lets the next one have the latch. It waits for the store's answer until ctx ends; the
// candidacy goes on trying after that.
func (c *candidate) release(ctx context.Context) {
	c.giveUp()
	close(c.done)
	select {
	case <-c.gone:
	case <-ctx.Done():
	}
}

// campaign is the candidacy from beginning to end.
func (c *candidate) campaign() {
	defer close(c.gone)
	defer c.giveUp()
	c.won <- c.win()
	select {
	case <-c.done:
	case <-c.r.life.Done(): // the function may go on for as long as it likes: Close does not wait for it
	}
	c.withdraw()
}

// win stands for election until it is won, or cannot be. A watch that breaks is no reason to lose
// one's place in the line.
func (c *candidate) win() error {
	start, _ := c.r.ns.below(c.path)
	election := concurrency.NewElection(c.etcd, start[:len(start)-1])
	retry := retryPolicy{}
	for {
		err := election.Campaign(c.waitCtx, "")
		switch {
		case err == nil:
			c.created = election.Rev()
			return nil
		case c.over.Err() != nil:
			return c.session.Err()
		case c.waitCtx.Err() != nil:
			return c.waitCtx.Err() // nobody hears this: the caller has left
		case errors.Is(err, registry.ErrSessionLost):
			c.r.keeper.leaseGone([]*registry.Session{c.session}, err)
			return err
		case isFinal(err):
			return err
		}
		retry.noteFailure(err)
		c.r.log.Debug("latch is waited for again", slog.String("path", c.path), slog.Any("error", err))
		remote.Sleep(c.waitCtx, retry.backoff())
	}
}

// isFinal tells whether the store refused what was tried, or the handle is closed.
func isFinal(err error) bool {
	if errors.Is(err, rpctypes.ErrCompacted) { // by a watch that missed something; the next one begins later
		return false
	}
	if refusal(err) != nil {
		return true
	}
	for _, final := range []error{
		registry.ErrNoSpace, registry.ErrDenied, registry.ErrClosed,
		registry.ErrInvalid, registry.ErrTooLarge, registry.ErrUnsupported,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// withdraw deletes the candidate's key, and repeats that until the store answers: as long as the
// lease lives, a key left behind would hold up everybody. Only a key of before now is deleted, so
// that a try that arrives late cannot hit the next candidate on the same lease.
func (c *candidate) withdraw() {
	c.r.deleteTicket(c.path, c.ticket, "<", c.r.seen.Load()+1)
}

// deleteTicket deletes a ticket if its creation compares so, once or more often.
func (r *Registry) deleteTicket(path, ticket, compare string, created int64) {
	key := r.ns.key(ticket)
	_, err := r.do(context.Background(), clientv3.OpTxn(
		[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), compare, created)},
		[]clientv3.Op{clientv3.OpDelete(key)}, nil,
	))
	if err != nil && !errors.Is(err, registry.ErrClosed) {
		r.log.Warn("latch is held until the session ends", slog.String("path", path), slog.Any("error", err))
	}
}
