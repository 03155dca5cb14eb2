package scheduler

import (
	"context"
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// commit commits what a room proposes; see [room.Commit].
func (r *runner) commit(batch room.Batch) { room.Commit(committing{r}, r.attached, batch) }

// committing is how this runner's decisions are committed. What is refused is decided again; see [runner.refused].
type committing struct{ *runner }

var _ room.Committing = committing{}

func (c committing) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	return c.s.registry.Commit(ctx, c.onBehalf(txn))
}

func (c committing) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	shared := make([]registry.Txn, len(txns))
	for i, txn := range txns {
		shared[i] = c.onBehalf(txn)
	}
	return c.s.registry.CommitAll(ctx, shared)
}

// onBehalf names the job, on whose behalf a transaction is sent: where many wait, no job waits for all that another one has
// asked for.
func (c committing) onBehalf(txn registry.Txn) registry.Txn {
	txn.Turn.Share = c.name
	return txn
}

func (c committing) Together(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	return c.together(ctx, txn)
}

func (c committing) Committed(revision registry.Revision) { c.committed(revision) }

func (c committing) Refused(step string, err error) { c.refused(step, err) }

func (c committing) Overtaken(conflict *registry.ConflictError) { c.overtaken(conflict) }

func (c committing) Tell(level slog.Level, message string, err error, attrs ...any) {
	c.s.repeated(level, message, c.name, err, attrs...)
}

// together commits what may travel with what other jobs commit.
func (r *runner) together(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	return r.s.together.Commit(ctx, r.name, committing{r}.onBehalf(txn))
}

// refused deals with a transaction that was not done: after a conflict the decision is made again
// on the state that it conflicted with, after a lost session by its successor, and otherwise later.
func (r *runner) refused(what string, err error) {
	r.lookAgain()
	if r.blind != nil {
		r.refusedBlind(err)
	}
	var conflict *registry.ConflictError
	switch {
	case errors.As(err, &conflict):
		r.log.DebugContext(r.life, "decided on an old state, deciding again", "step", what, logReason, err.Error())
		r.overtaken(conflict)
	case r.attached.Ctx.Err() != nil || errors.Is(err, registry.ErrSessionLost):
		r.log.DebugContext(r.life, "session ended under a commit", "step", what, logReason, err.Error())
		if errors.Is(err, registry.ErrUnknownOutcome) {
			r.departure.unsettled = r.attached.Session
		}
	default:
		r.scope.stale = true
		r.s.repeated(slog.LevelWarn, commitRefused, r.name, err, "step", what)
		r.alarm.Set(room.RetryAfter)
	}
}

// lookAgain marks everything to be looked at once more: what was refused had already been ticked off.
func (r *runner) lookAgain() {
	r.leadership.LookAgain()
	r.lost.LookAgainAtAll()
	r.mending.LookAgainAtAll()
	r.rounds.LookAgainAtAll()
	r.peers.LookAgainAtAll()
}
