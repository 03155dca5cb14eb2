package memory

import (
	"context"
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// takeTurn waits until a request with the open transactions may be sent, and there is a connection to
// send it on. It returns those whose turns are not over by then, and what is to be called when they are
// done. The others were never sent.
func (r *Registry) takeTurn(ctx context.Context, txns []registry.Txn, outcomes []registry.Outcome, open []int) (sendable []int, leave func()) {
	turn, leave := turnOf(txns), func() {}
	if r.gate != nil {
		if err := r.gate.Enter(ctx, turn); err != nil {
			if ctx.Err() != nil {
				err = unavailable(err)
			}
			fill(outcomes, open, err)
			return nil, leave
		}
		leave = r.gate.Leave
	}
	if !turn.Until.IsZero() {
		waiting, cancel := context.WithDeadline(ctx, turn.Until)
		_ = r.link.await(waiting) // its result shows below, or when it is sent
		cancel()
	}
	now := time.Now()
	return slices.DeleteFunc(open, func(i int) bool {
		over := txns[i].Turn.Over(now) && ctx.Err() == nil
		if over {
			outcomes[i].Err = registry.ErrNotSent
		}
		return over
	}), leave
}

// turnOf returns the turn of a request: that of its most urgent transaction, for as long as one of them
// makes sense.
func turnOf(txns []registry.Txn) registry.Turn {
	turn := txns[0].Turn
	for _, txn := range txns[1:] {
		turn.Rank = min(turn.Rank, txn.Turn.Rank)
		switch until := txn.Turn.Until; {
		case turn.Until.IsZero():
		case until.IsZero() || until.After(turn.Until):
			turn.Until = until
		}
	}
	return turn
}
