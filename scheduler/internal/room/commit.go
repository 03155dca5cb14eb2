package room

import (
	"context"
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/registry"
)

// Commits commits what was decided, and does what follows from each outcome.
type Commits struct {
	*Ports
	Registry interface {
		CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome
	}
	Committed func(revision registry.Revision) // the next decision has to see this
	Refused   func(step string, err error)     // what was refused is to be decided again
}

// All commits the proposals under a session, in one request. What the registry will never take is reported once and
// left alone, until something happens to the item or the leader reconciles.
func (c *Commits) All(under *Attachment, batch Batch) {
	if len(batch) == 0 {
		return
	}
	for i, outcome := range c.Registry.CommitAll(under.Ctx, batch.Txns()) {
		p := batch[i]
		switch {
		case outcome.Err == nil:
			c.CarriedOut(p, outcome)
		case errors.Is(outcome.Err, registry.ErrNotSent):
			if p.Dropped != nil {
				p.Dropped()
			}
		case p.Optional:
		case !p.Insist && Hopeless(outcome.Err):
			c.Tell(slog.LevelError, "the registry does not take this", outcome.Err, "step", p.Step)
		default:
			c.Refused(p.Step, outcome.Err)
		}
	}
}

// CarriedOut does what follows from a proposal that was committed.
func (c *Commits) CarriedOut(p Proposal, o registry.Outcome) {
	if !p.Noted {
		c.Committed(o.Revision)
	}
	if p.Done != nil {
		p.Done(o)
	}
}
