package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/elasticron/elasticron/registry"
)

// Latch implements [registry.Latcher]. A contender is an ephemeral node below the path, a ticket;
// the one created first holds the latch, and hears of it at once when the ticket is removed.
func (r *Registry) Latch(ctx context.Context, path string, fn func(ctx context.Context) error) error {
	if err := registry.CheckPath(path); err != nil {
		return latchError(path, err)
	}
	session, err := r.Session(ctx)
	if err != nil {
		return latchError(path, errors.Unwrap(err))
	}
	held, cancel := r.whileValid(ctx, session)
	defer cancel(nil)
	ticket := r.newTicket(path, session)
	defer r.discard(ticket) //nolint:contextcheck // the ticket must go also when the caller's context is over
	if err := r.queue(held, cancel, path, ticket, session); err != nil {
		return latchError(path, err)
	}
	return fn(held)
}

// whileValid returns a context that ends with the caller's, the session or the handle.
func (r *Registry) whileValid(ctx context.Context, session *registry.Session) (context.Context, context.CancelCauseFunc) {
	held, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-session.Done():
			cancel(session.Err())
		case <-r.life.Done():
			cancel(registry.ErrClosed)
		case <-held.Done():
		}
	})
	return held, func(cause error) {
		cancel(cause)
		if cause == nil {
			watching.Wait()
		}
	}
}

func (r *Registry) newTicket(path string, session *registry.Session) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tickets++
	ticket := fmt.Sprintf("%s/%s-%d", path, session.ID(), r.tickets)
	r.standing[ticket] = struct{}{}
	return ticket
}

// queue puts the ticket and waits until it is the oldest. From then on the latch is lost when the
// ticket is.
func (r *Registry) queue(ctx context.Context, lost context.CancelCauseFunc, path, ticket string, session *registry.Session) error {
	revision, err := r.Commit(ctx, registry.Txn{
		Then:   []registry.Write{registry.PutOwned(ticket, "", session)},
		Repeat: registry.RepeatOwned,
	})
	if err != nil {
		return latchReason(ctx, err)
	}
	view, err := r.View(ctx, path)
	if err != nil {
		return latchReason(ctx, err)
	}
	if err := view.WaitRevision(ctx, revision); err != nil {
		return latchReason(ctx, err)
	}
	view.Subscribe(func(step registry.Step) {
		if step.Snapshot.Revision() >= revision && !step.Snapshot.Get(ticket).Exists() {
			lost(r.ticketGone(ticket, session))
		}
	})
	if _, err := view.WaitFor(ctx, func(s registry.Snapshot) bool { return oldest(s, path, ticket) }); err != nil {
		return latchReason(ctx, err)
	}
	return nil
}

// ticketGone tells why a ticket was lost: with the session, or by somebody's hand.
func (r *Registry) ticketGone(ticket string, session *registry.Session) error {
	reason := registry.ErrConflict
	if !r.server.holds(session.ID()) {
		reason = registry.ErrSessionLost
	}
	return fmt.Errorf("%w: ticket %s was removed", reason, ticket)
}

// oldest tells whether the ticket is there and no other was created before it.
func oldest(s registry.Snapshot, path, ticket string) bool {
	mine := s.Get(ticket)
	if !mine.Exists() {
		return false
	}
	for n := range s.Below(path) {
		if n.Ephemeral() && n.Path != path && n.Created < mine.Created {
			return false
		}
	}
	return true
}

// latchReason tells why the latch was not had: what ended the waiting, if something did.
func latchReason(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, registry.ErrSessionLost), errors.Is(cause, registry.ErrClosed):
		return cause
	case cause != nil:
		return fmt.Errorf("%w: %w", registry.ErrUnavailable, cause)
	default:
		return err
	}
}

func latchError(path string, err error) error {
	return &registry.OpError{Op: registry.OpLatch, Path: path, Err: err}
}

// discard removes a ticket, or leaves that to the keep-alive when the store cannot be reached now: a
// ticket that stayed would block everybody for as long as this process lives.
func (r *Registry) discard(ticket string) {
	r.mu.Lock()
	r.litter[ticket] = 0
	delete(r.standing, ticket)
	r.mu.Unlock()
	if r.link.through() {
		r.clearLitter()
	}
}

// noticeTicket has a ticket of this handle's removed that nobody stands in the line with any more: its put
// was carried out late, for the second time.
func (r *Registry) noticeTicket(n registry.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == nil || n.Session == 0 || n.Session != r.session.ID() {
		return
	}
	if _, stands := r.standing[n.Path]; stands || !r.isTicket(n.Path) || n.Created <= r.swept[n.Path] {
		return // in the last case the news of the put come after the ticket was removed again
	}
	r.litter[n.Path] = n.Created
	r.littered.wake()
}

// isTicket tells whether a path is one that was given to a ticket in the session. The caller holds mu.
func (r *Registry) isTicket(path string) bool {
	number, ours := strings.CutPrefix(path[strings.LastIndexByte(path, '/')+1:], r.session.ID().String()+"-")
	n, err := strconv.Atoi(number)
	return ours && err == nil && n <= r.tickets
}

// sweep is the goroutine that removes such tickets at once.
func (r *Registry) sweep() {
	for {
		select {
		case <-r.littered:
			r.clearLitter()
		case <-r.life.Done():
			return
		}
	}
}

// clearLitter removes tickets that are needed no more. What it cannot do within the time between two
// keep-alives is left to the next one.
func (r *Registry) clearLitter() {
	r.mu.Lock()
	tickets := slices.Sorted(maps.Keys(r.litter))
	r.mu.Unlock()
	if len(tickets) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(r.life, r.settings.ttl/3)
	defer cancel()
	for _, ticket := range tickets {
		revision, err := r.Commit(ctx, registry.Txn{
			Then:   []registry.Write{registry.Delete(ticket)},
			Repeat: registry.RepeatHarmless,
		})
		if err != nil {
			return
		}
		r.mu.Lock()
		if r.litter[ticket] <= revision {
			delete(r.litter, ticket)
		} else { // it has come once more since
			r.littered.wake()
		}
		if r.session != nil && r.isTicket(ticket) { // no other has late copies that count
			r.swept[ticket] = revision
		}
		r.mu.Unlock()
	}
}
