package room

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// Commits commits what was decided, and does what follows from each outcome.
type Commits struct {
	*Ports
	Registry interface {
		Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error)
		CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome
	}
	// Together commits what may travel with what other jobs commit.
	Together  func(ctx context.Context, txn registry.Txn) (registry.Revision, error)
	Committed func(revision registry.Revision)       // the next decision has to see this
	Refused   func(step string, err error)           // what was refused is to be decided again
	Overtaken func(conflict *registry.ConflictError) // likewise, and nothing else is
}

// All commits the proposals under a session, in one request but for those that stand alone. What the registry will
// never take is reported once and left alone, until something happens to the item or the leader reconciles.
func (c *Commits) All(present *Attachment, batch Batch) {
	for len(batch) > 0 {
		n := slices.IndexFunc(batch, func(p Proposal) bool { return p.Alone })
		switch n {
		case 0:
			n = 1
			c.follow(batch[0], c.alone(cmp.Or(batch[0].Under, present).Ctx, batch[0]))
		case -1:
			n = len(batch)
			fallthrough
		default:
			for i, outcome := range c.Registry.CommitAll(present.Ctx, batch[:n].Txns()) {
				c.follow(batch[i], outcome)
			}
		}
		batch = batch[n:]
	}
}

// alone commits a proposal by itself, with what goes before it.
func (c *Commits) alone(ctx context.Context, p Proposal) registry.Outcome {
	if len(p.Parts) > 0 {
		for _, outcome := range c.Registry.CommitAll(ctx, p.Parts) {
			if outcome.Err != nil {
				return outcome
			}
			c.Committed(outcome.Revision)
		}
	}
	commit := c.Registry.Commit
	if p.Crowds {
		commit = c.Together
	}
	revision, err := commit(ctx, p.Txn)
	return registry.Outcome{Revision: revision, Err: err}
}

// follow does what follows from the outcome of a proposal.
func (c *Commits) follow(p Proposal, o registry.Outcome) {
	if o.Err == nil {
		if !p.Noted {
			c.Committed(o.Revision)
		}
		if p.Done != nil {
			p.Done(o)
		}
		return
	}
	var conflict *registry.ConflictError
	switch {
	case p.Refused != nil && p.Refused(o.Err):
	case errors.Is(o.Err, registry.ErrNotSent):
		if p.Dropped != nil {
			p.Dropped()
		}
	case p.Optional:
	case p.Apart && errors.As(o.Err, &conflict):
		c.Overtaken(conflict)
	case !p.Insist && !p.Alone && Hopeless(o.Err):
		c.Tell(slog.LevelError, "the registry does not take this", o.Err, "step", p.Step)
	default:
		c.Refused(p.Step, o.Err)
	}
}
