package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// commit commits what a room proposes; see [room.Commit].
func (r *runner) commit(batch room.Batch) { room.Commit(committing{r}, r.attached, batch) }

// committing is how this runner's decisions are committed. What is refused is decided again; see [runner.refused].
type committing struct{ *runner }

var _ room.Committing = committing{}

func (c committing) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := c.s.registry.Commit(ctx, c.onBehalf(txn))
	c.doubt(ctx, txn, err)
	return revision, err
}

func (c committing) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	shared := make([]registry.Txn, len(txns))
	for i, txn := range txns {
		shared[i] = c.onBehalf(txn)
	}
	outcomes := c.s.registry.CommitAll(ctx, shared)
	for i, o := range outcomes {
		c.doubt(ctx, txns[i], o.Err)
	}
	return outcomes
}

// onBehalf names the job, on whose behalf a transaction is sent: where many wait, no job waits for all that another one has
// asked for.
func (c committing) onBehalf(txn registry.Txn) registry.Txn {
	txn.Turn.Share = c.name
	return txn
}

func (c committing) Together(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := c.together(ctx, txn)
	c.doubt(ctx, txn, err)
	return revision, err
}

func (c committing) Denials() *room.Denials { return c.denied() }

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
	default:
		r.scope.stale = true
		r.s.repeated(slog.LevelWarn, commitRefused, r.name, err, "step", what)
		r.alarm.Set(room.RetryIn(err))
	}
}

// denied are what the registry denies this job. Nothing is held back of an instance that leaves: it has no time to wait.
func (r *runner) denied() *room.Denials {
	if r.departure.leaving {
		return nil
	}
	return &r.denials
}

// doubt notes a transaction that was given up with its session, if it may be carried out yet and nothing that follows excludes
// that. What compares that this instance is registered can have no effect once that has left, and until then the tree shows
// the instance. So begins, claims and elections are settled by then; a join is not, as it takes that the instance is not there.
func (r *runner) doubt(ctx context.Context, txn registry.Txn, err error) {
	if !errors.Is(err, registry.ErrUnknownOutcome) || ctx.Err() == nil && !errors.Is(err, registry.ErrSessionLost) {
		return
	}
	mine := r.tree.Instance(r.s.instance)
	if slices.ContainsFunc(txn.If, func(c registry.Condition) bool { return c.Kind == registry.CondCreatedAt && c.Path == mine }) {
		return
	}
	for _, w := range txn.Then {
		if w.Session != nil {
			r.departure.note(unsettled{session: w.Session.ID(), kind: lateCommit})
		}
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
