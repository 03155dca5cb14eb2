package scheduler

import (
	"context"

	"github.com/elasticron/elasticron/registry"
)

// proposals are transactions that are decided together and travel in one request, each with its own
// outcome.
type proposals struct {
	txns []registry.Txn
	done []func(registry.Outcome) // called if the transaction of the same index was done
}

func (p *proposals) add(txn registry.Txn, done func(registry.Outcome)) {
	p.txns = append(p.txns, txn)
	p.done = append(p.done, done)
}

// commitAll commits the proposals. What is refused is decided again; see [runner.refused].
func (r *runner) commitAll(ctx context.Context, step string, p proposals) {
	if len(p.txns) == 0 {
		return
	}
	for i, outcome := range r.s.registry.CommitAll(ctx, p.txns) {
		if outcome.Err != nil {
			r.refused(step, outcome.Err)
			continue
		}
		p.done[i](outcome)
	}
}
