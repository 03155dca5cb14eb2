package room

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// Committing is what commits the decisions of a runner, and hears of their outcomes.
type Committing interface {
	// Commit and CommitAll are the registry's.
	Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error)
	CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome
	// Together commits what may travel with what other jobs commit.
	Together(ctx context.Context, txn registry.Txn) (registry.Revision, error)
	// Denials are what was denied before, and is held back; nil = nothing is.
	Denials() *Denials
	// Committed hears of a revision that the next decision has to see.
	Committed(revision registry.Revision)
	// Refused hears what is to be decided again.
	Refused(step string, err error)
	// Overtaken hears likewise, where nothing else is to be decided again.
	Overtaken(conflict *registry.ConflictError)
	// Tell is that of [Ports].
	Tell(level slog.Level, message string, err error, attrs ...any)
}

// Commit commits the proposals under a session, in one request but for those that stand alone. What the registry will
// never take is reported once and left alone, until something happens to the item or the leader reconciles. What it denies is
// tried more and more seldom; see [Denials].
func Commit(c Committing, present *Attachment, batch Batch) {
	for len(batch) > 0 {
		n := slices.IndexFunc(batch, func(p Proposal) bool { return p.Alone })
		switch n {
		case 0:
			n = 1
			send(c, batch[:n], func(sent Batch) []registry.Outcome {
				return []registry.Outcome{alone(cmp.Or(sent[0].Under, present).Ctx, c, sent[0])}
			})
		case -1:
			n = len(batch)
			fallthrough
		default:
			send(c, batch[:n], func(sent Batch) []registry.Outcome { return c.CommitAll(present.Ctx, sent.txns()) })
		}
		batch = batch[n:]
	}
}

// send commits proposals, without those that are held back, and does what follows. What those that were tried let through goes
// after them at once: nobody has denied it.
func send(c Committing, batch Batch, commit func(Batch) []registry.Outcome) {
	for len(batch) > 0 {
		denials := c.Denials() // what follows of one may have it that nothing else is held back
		sent, held := denials.screen(batch)
		if len(sent) > 0 {
			for i, outcome := range commit(sent) {
				denials.Answered(sent[i].Step, sent[i].first(), outcome.Err)
				follow(c, sent[i], outcome)
			}
		}
		batch = nil
		for _, p := range held {
			if denials.holds(&p) {
				follow(c, p, denials.answer(&p))
			} else {
				batch = append(batch, p)
			}
		}
	}
}

// alone commits a proposal by itself, with what goes before it.
func alone(ctx context.Context, c Committing, p Proposal) registry.Outcome {
	if len(p.Parts) > 0 {
		for _, outcome := range c.CommitAll(ctx, p.Parts) {
			if outcome.Err != nil {
				return outcome
			}
			c.Committed(outcome.Revision)
		}
	}
	commit := c.Commit
	if p.Crowds {
		commit = c.Together
	}
	revision, err := commit(ctx, p.Txn)
	return registry.Outcome{Revision: revision, Err: err}
}

// follow does what follows from the outcome of a proposal.
func follow(c Committing, p Proposal, o registry.Outcome) {
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
