package scheduler

import (
	"context"
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// commitAll commits the proposals. What is refused is decided again; see [runner.refused]. What the
// registry will never take is reported once and left alone, until something happens to the item or the
// leader reconciles.
func (r *runner) commitAll(ctx context.Context, step string, batch room.Batch) {
	if len(batch) == 0 {
		return
	}
	for i, outcome := range r.s.registry.CommitAll(ctx, batch.Txns()) {
		p := batch[i]
		switch {
		case outcome.Err == nil:
			p.Done(outcome)
		case errors.Is(outcome.Err, registry.ErrNotSent):
			if p.Dropped != nil {
				p.Dropped()
			}
		case p.Optional:
		case room.Hopeless(outcome.Err):
			r.s.repeated(slog.LevelError, "the registry does not take this", r.name, outcome.Err, "step", step)
		default:
			r.refused(step, outcome.Err)
		}
	}
}
