package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// newCommits makes what commits this runner's decisions. What is refused is decided again; see [runner.refused].
func (r *runner) newCommits() *room.Commits {
	return &room.Commits{Ports: r.ports, Registry: r.s.registry, Together: r.together, Committed: r.committed, Refused: r.refused, Overtaken: r.overtaken}
}

// together commits what may travel with what other jobs commit.
func (r *runner) together(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	return r.s.together.commit(ctx, r.name, txn)
}

// newPorts makes what the rooms may ask of the runner: the same for all, as there may be thousands of jobs.
func (r *runner) newPorts() *room.Ports {
	return &room.Ports{
		Life: func() context.Context { return r.life }, Post: r.box.Post, Work: r.s.work.Go, Wake: r.alarm.Set, Log: r.log,
		AskClock: func(age time.Duration, told func()) {
			if told != nil {
				r.s.clock.WhenAsked(told)
			}
			r.s.clock.Check(r.life, age)
		},
		Tell: func(level slog.Level, message string, err error, attrs ...any) {
			r.s.repeated(level, message, r.name, err, attrs...)
		},
	}
}

// commit commits what a room proposes; see [room.Commits.All].
func (r *runner) commit(batch room.Batch) { r.commits.All(r.attached, batch) }

// refused deals with a transaction that was not done: after a conflict the decision is made again
// on the state that it conflicted with, after a lost session by its successor, and otherwise later.
func (r *runner) refused(what string, err error) {
	r.lookAgain()
	if r.blind.since != nil {
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
			r.departure.unsettle(r.attached.Session)
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
	r.lost.Note(nil, true)
	r.mending.Unexplained(nil, true)
	r.rounds.Consider(nil, true)
	r.peers.LookAgain()
}
