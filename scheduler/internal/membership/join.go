package membership

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// ErrDuplicate says that another live process, or another scheduler of this one, uses the same instance id.
var ErrDuplicate = errors.New("instance id is in use")

// Standing is how a process stands with its job.
type Standing int

// The standings.
const (
	Absent     Standing = iota // the tree does not have the instance
	Registered                 // it has it, under the present session
	Former                     // under a session that this process has lost or given up, and that the registry has not ended yet
	Taken                      // under another session
)

// Standing returns how this process stands with its job, as the state shows it.
func (m *Membership) Standing(v room.View) Standing {
	mine := v.State.Instance(v.Instance)
	switch {
	case mine.Created == 0:
		return Absent
	case mine.Session == v.Attached.Session.ID():
		return Registered
	case m.former(v, mine.Session):
		return Former
	default:
		return Taken
	}
}

// joined takes in that this instance is registered. Not the first time, but later ones are logged: its session was
// lost, or somebody deleted its node.
func (m *Membership) joined(v room.View) {
	m.ports.Peers().Joined(v)
	m.waitingID = time.Time{}
	mine := v.State.Instance(v.Instance)
	if mine.Created != m.joinedAs && m.joinedAs != 0 {
		m.ports.Log().InfoContext(m.ports.Life(), "joined again", room.KeySession, mine.Session.String())
	}
	m.joinedAs = mine.Created
}

// RemoveFormer proposes to delete what this process holds of the job under a former session: its instance, and the leader
// if that is this one. The registry may keep that session for a whole TTL yet, and meanwhile nobody would lead. It
// proposes nothing if nothing is there. An election that the registry carries out late may leave the leader alone.
func (m *Membership) RemoveFormer(v room.View) room.Batch {
	var txn registry.Txn
	var former registry.SessionID
	if m.Standing(v) == Former {
		former = v.State.Instance(v.Instance).Session
		m.removeFormerInstance(v, &txn)
	}
	if m.formerLeads(v) {
		former = v.State.Leader.Session
		v.Resign(&txn)
	}
	if len(txn.Then) == 0 {
		return nil
	}
	return room.Batch{{Step: "remove a stray node", Alone: true, Txn: txn, Done: func(registry.Outcome) {
		m.ports.Log().InfoContext(m.ports.Life(), "removed what a former session of this process left", room.KeySession, former.String())
	}}}
}

// removeFormerInstance adds to a transaction that it deletes the instance that the state shows under a former session.
func (m *Membership) removeFormerInstance(v room.View, txn *registry.Txn) {
	path := v.Tree.Instance(v.Instance)
	txn.If = append(txn.If, registry.Unchanged(path, v.State.Instance(v.Instance).Revision))
	txn.Then = append(txn.Then, registry.Delete(path))
}

// formerLeads tells whether the leader is this instance under a former session.
func (m *Membership) formerLeads(v room.View) bool {
	leader := v.State.Leader
	return leader.Created != 0 && leader.Instance == v.Instance && m.former(v, leader.Session)
}

// former tells whether a session is one that this process has lost or given up.
func (m *Membership) former(v room.View, id registry.SessionID) bool {
	return id != v.Attached.Session.ID() && m.Held(id)
}

// join proposes to register this process as an instance of the job under the present session, and to ask for a resharding in
// the same transaction (T1), unless the items stay where they are. It proposes nothing while others are in the way, the job
// is not stored, or its home is another registry: nobody would read there who is registered, and nothing is to be sharded.
func (m *Membership) join(v room.View) room.Batch {
	if !v.Usable && v.State.Config.Revision == 0 || m.keptOut(v) || v.State.Elsewhere() { // no job, nobody shut down
		return nil
	}
	conditions, writes := m.ports.Peers().Joining(v)
	if v.State.MembersMatter() {
		writes = append(writes, registry.Put(v.Tree.Necessary(), ""))
	}
	return room.Batch{{Step: "join", Alone: true, Crowds: true, Txn: registry.Txn{
		If: append([]registry.Condition{registry.Present(v.Tree.Config())}, conditions...),
		Then: append([]registry.Write{
			registry.PutOwned(v.Tree.Instance(v.Instance), v.State.Layout().EncodeInstance(v.Instance), v.Attached.Session),
		}, writes...),
		Repeat: registry.RepeatOwned,
	}}}
}

// keptOut tells whether others keep this instance out: they took it out of the tree, or take part although this
// process was not configured for them. Before the first join, the second ends Run; a job that is data, and one whose
// session was lost, wait until they are gone.
func (m *Membership) keptOut(v room.View) bool {
	gone, shutDown := m.ports.Peers().Gone(v)
	if shutDown {
		m.ports.ShutDown()
	}
	if gone {
		return true
	}
	err := m.ports.Peers().Refuses(v)
	if err != nil && m.joinedAs == 0 && !m.ports.Data() {
		m.ports.Fail(fmt.Errorf("job %q: %w", v.Job(), err))
	}
	return err != nil
}

// patience is how long a process waits for its id. It is more than the time of a session.
func patience(v room.View) time.Duration { return v.Attached.Session.TTL()*3/2 + time.Second }

// awaitID waits for a node of our id that another session owns: that of our own predecessor, which
// goes with its session, or of a process that was given the same id, which does not. When the wait is over, the
// registry itself is asked who holds it, as the state may lag behind, and another wait begins.
func (m *Membership) awaitID(v room.View) {
	holder := v.State.Instance(v.Instance).Session
	if m.waitingID.IsZero() {
		m.waitingID = time.Now()
		m.ports.Log().InfoContext(m.ports.Life(), "waiting for the former session of this instance id to end",
			room.KeySession, holder.String())
	}
	if left := patience(v) - time.Since(m.waitingID); left > 0 {
		m.ports.Wake(left)
		return
	}
	asked := time.Now()
	m.waitingID = asked
	m.ports.Wake(patience(v))
	ctx, path := v.Attached.Ctx, v.Tree.Instance(v.Instance)
	err := fmt.Errorf("%w: %s holds %q in job %q and did not let go for %s; give each process an id of its own",
		ErrDuplicate, "session "+holder.String(), v.Instance, v.Job(), patience(v))
	m.ports.Work(func() {
		node, failed := m.ports.Get(ctx, path)
		if failed == nil && node.Session == holder { // without an answer nobody knows
			m.ports.Post(func() { //nolint:contextcheck // the runner says it, whatever became of the question
				if m.waitingID.Equal(asked) { // it has neither joined nor lost touch meanwhile
					m.duplicate(err)
				}
			})
		}
	})
}

// duplicate takes in that our id is still held after the wait. A process that has never joined has no more to do.
func (m *Membership) duplicate(err error) {
	if m.joinedAs == 0 {
		m.ports.Fail(err)
		return
	}
	m.ports.Log().ErrorContext(m.ports.Life(), "cannot register again, will go on trying", room.KeyError, err)
}
