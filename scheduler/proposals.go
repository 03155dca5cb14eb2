package scheduler

import (
	"context"
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/registry"
)

// proposals are transactions that are decided together and travel in one request, each with its own
// outcome.
type proposals struct {
	txns []registry.Txn
	done []func(registry.Outcome) // called if the transaction of the same index was done

	dropped map[int]func() // called if it was not sent in time

	optional int // how many, from the first, may be refused without consequence
}

func (p *proposals) add(txn registry.Txn, done func(registry.Outcome)) {
	p.txns = append(p.txns, txn)
	p.done = append(p.done, done)
}

// addUntil is add for what may be dropped.
func (p *proposals) addUntil(txn registry.Txn, done func(registry.Outcome), dropped func()) {
	if p.dropped == nil {
		p.dropped = make(map[int]func())
	}
	p.dropped[len(p.txns)] = dropped
	p.add(txn, done)
}

// commitAll commits the proposals. What is refused is decided again; see [runner.refused]. What the
// registry will never take is reported once and left alone, until something happens to the item or the
// leader reconciles.
func (r *runner) commitAll(ctx context.Context, step string, p proposals) {
	if len(p.txns) == 0 {
		return
	}
	for i, outcome := range r.s.registry.CommitAll(ctx, p.txns) {
		switch {
		case outcome.Err == nil:
			p.done[i](outcome)
		case errors.Is(outcome.Err, registry.ErrNotSent):
			if dropped := p.dropped[i]; dropped != nil {
				dropped()
			}
		case i < p.optional:
		case hopeless(outcome.Err):
			r.s.repeated(slog.LevelError, "the registry does not take this", r.name, outcome.Err, "step", step)
		default:
			r.refused(step, outcome.Err)
		}
	}
}

// hopeless tells whether the transaction itself is what the registry refuses: the same one will never
// be done.
func hopeless(err error) bool {
	for _, reason := range []error{registry.ErrInvalid, registry.ErrTooLarge, registry.ErrOwned, registry.ErrUnsupported} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
