package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// join registers this process as an instance of the job under the present session, and asks for a
// resharding in the same transaction (T1). It tells whether the state shows the instance.
func (r *runner) join() bool {
	mine := r.state.Instance(r.s.instance)
	switch {
	case mine.Created != 0 && mine.Session == r.attached.Session.ID():
		r.waitingID = time.Time{}
		r.peers.Joined(r.look())
		r.lost.Joined(r.attached.Session.TTL())
		r.tellJoinedAgain(mine)
		r.announceJoined()
		return true
	case mine.Created != 0 && slices.Contains(r.sessions, mine.Session):
		r.removeFormer(mine)
	case mine.Created != 0:
		r.awaitID(mine)
	case r.wasShutDown():
	case r.refusedByPeers():
	case r.settings.ok || r.state.Config.Revision != 0:
		r.commitJoin()
	}
	return false
}

// removeFormer takes this process's own instance away that it registered under a session that it has lost or
// given up since, and that the registry has not ended yet.
func (r *runner) removeFormer(mine jobtree.Instance) {
	if r.remove(r.tree.Instance(r.s.instance), mine.Revision) {
		r.log.InfoContext(r.life, "removed what a former session of this process left: it registers anew", logSession, mine.Session.String())
	}
}

func (r *runner) commitJoin() {
	then := []registry.Write{
		registry.PutOwned(r.tree.Instance(r.s.instance), jobtree.InstanceIdle, r.attached.Session),
		registry.Put(r.tree.Necessary(), ""),
	}
	conditions := []registry.Condition{registry.Present(r.tree.Config())}
	guards, writes := r.peers.Joining(r.look())
	conditions, then = append(conditions, guards...), append(then, writes...)
	revision, err := r.s.registry.Commit(r.attached.Ctx, registry.Txn{
		If: conditions, Then: then, Repeat: registry.RepeatOwned,
	})
	if err != nil {
		r.refused("join", err)
		return
	}
	r.committed(revision)
}

// awaitID waits for a node of our id that another session owns: that of our own predecessor, which
// goes with its session, or of a process that was given the same id, which does not.
func (r *runner) awaitID(other jobtree.Instance) {
	if r.waitingID.IsZero() {
		r.waitingID = time.Now()
		r.log.InfoContext(r.life, "waiting for the former session of this instance id to end",
			logSession, other.Session.String())
	}
	patience := r.attached.Session.TTL()*3/2 + time.Second
	if left := patience - time.Since(r.waitingID); left > 0 {
		r.alarm.Set(left)
		return
	}
	if !r.stillHeld(other) {
		r.waitingID = time.Now()
		r.alarm.Set(patience)
		return
	}
	err := fmt.Errorf("%w: %s holds %q in job %q and did not let go for %s; give each process an id of its own",
		ErrDuplicateInstance, "session "+other.Session.String(), r.s.instance, r.name, patience)
	r.waitingID = time.Now()
	if !r.hasJoined() {
		r.s.fail(err)
		return
	}
	r.log.ErrorContext(r.life, "cannot register again, will go on trying", logError, err)
	r.alarm.Set(patience)
}

// stillHeld asks the registry itself whether another session holds our id: the state may lag behind. Who gets
// no answer knows of nobody.
func (r *runner) stillHeld(other jobtree.Instance) bool {
	node, err := r.s.registry.Get(r.attached.Ctx, r.tree.Instance(r.s.instance))
	return err == nil && node.Session == other.Session
}

func (r *runner) announceJoined() {
	if r.hasJoined() {
		return
	}
	close(r.joined)
	r.log.InfoContext(r.life, "joined")
	r.s.observer.observe(JoinEvent{Job: r.name})
}

func (r *runner) hasJoined() bool {
	select {
	case <-r.joined:
		return true
	default:
		return false
	}
}

// server returns the node of this instance's server; the zero Server if there is none.
func (r *runner) server() jobtree.Server {
	return r.state.Server(jobtree.ServerOf(r.s.instance))
}

func (r *runner) serverPath() string { return r.tree.Server(jobtree.ServerOf(r.s.instance)) }

// serverEnabled tells whether this server may take part.
func (r *runner) serverEnabled() bool { return r.state.Enabled(r.s.instance) }

// mine returns the guard that this instance is still registered as the state shows it.
func (r *runner) mine() registry.Condition {
	return registry.CreatedAt(r.tree.Instance(r.s.instance), r.state.Instance(r.s.instance).Created)
}

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
			r.unsettled = r.attached.Session
		}
	default:
		r.s.repeated(slog.LevelWarn, commitRefused, r.name, err, "step", what)
		r.alarm.Set(retryAfter)
	}
}

// lookAgain has all be looked at once more that was already ticked off when it was refused.
func (r *runner) lookAgain() {
	r.leadership.LookAgain()
	r.lost.Note(nil, true)
	r.unexplained.Note(nil, true)
	r.toConsider.Note(nil, true)
	r.peers.LookAgain()
}

// sessionsKept is how many former sessions a process knows as its own: older ones have run out.
const sessionsKept = 3

// hold notes the session that is the process's from now on.
func (r *runner) hold(id registry.SessionID) {
	if slices.Contains(r.sessions, id) {
		return // taken up again
	}
	r.sessions = append(r.sessions, id)
	if len(r.sessions) > sessionsKept {
		r.sessions = slices.Delete(r.sessions, 0, 1)
	}
}

// retryAfter is how long a runner waits after a refusal that no event will end, such as a full
// registry.
const retryAfter = time.Second
