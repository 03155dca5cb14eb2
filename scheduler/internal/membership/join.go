package membership

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// ErrDuplicate says that another live process uses the same instance id.
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
	case slices.Contains(m.sessions, mine.Session):
		return Former
	default:
		return Taken
	}
}

// Joined takes in that this instance is registered. first tells that it is for the first time; later ones are
// logged: its session was lost, or somebody deleted its node.
func (m *Membership) Joined(v room.View) (first bool) {
	m.waitingID = time.Time{}
	mine := v.State.Instance(v.Instance)
	first = m.joinedAs == 0
	if mine.Created != m.joinedAs && !first {
		m.ports.Log.InfoContext(m.ports.Life(), "joined again", room.KeySession, mine.Session.String())
	}
	m.joinedAs = mine.Created
	return first
}

// RemoveFormer proposes to delete the instance that this process registered under a former session.
func (m *Membership) RemoveFormer(v room.View) room.Batch {
	mine := v.State.Instance(v.Instance)
	path := v.Tree.Instance(v.Instance)
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, mine.Revision)},
		Then: []registry.Write{registry.Delete(path)},
	}
	return room.Batch{{Step: "remove a stray node", Alone: true, Txn: txn, Done: func(registry.Outcome) {
		m.ports.Log.InfoContext(m.ports.Life(), "removed what a former session of this process left: it registers anew", room.KeySession, mine.Session.String())
	}}}
}

// Join proposes to register this process as an instance of the job under the present session, and to ask for a
// resharding in the same transaction (T1).
func (m *Membership) Join(v room.View, others peers.Members) room.Batch {
	conditions, writes := others.Joining(v)
	return room.Batch{{Step: "join", Alone: true, Txn: registry.Txn{
		If: append([]registry.Condition{registry.Present(v.Tree.Config())}, conditions...),
		Then: append([]registry.Write{
			registry.PutOwned(v.Tree.Instance(v.Instance), jobtree.InstanceIdle, v.Attached.Session),
			registry.Put(v.Tree.Necessary(), ""),
		}, writes...),
		Repeat: registry.RepeatOwned,
	}}}
}

// patience is how long a process waits for its id. It is more than the time of a session.
func patience(v room.View) time.Duration { return v.Attached.Session.TTL()*3/2 + time.Second }

// AwaitID waits for a node of our id that another session owns: that of our own predecessor, which
// goes with its session, or of a process that was given the same id, which does not. over tells that the wait ended,
// and that the registry itself is to be asked who holds it: the state may lag behind.
func (m *Membership) AwaitID(v room.View) (over bool) {
	if m.waitingID.IsZero() {
		m.waitingID = time.Now()
		m.ports.Log.InfoContext(m.ports.Life(), "waiting for the former session of this instance id to end",
			room.KeySession, v.State.Instance(v.Instance).Session.String())
	}
	if left := patience(v) - time.Since(m.waitingID); left > 0 {
		m.ports.Wake(left)
		return false
	}
	return true
}

// Held takes in whether our id is still held after the wait, and begins another wait. If it is held, the error is
// [ErrDuplicate]; a process that has never joined has no more to do.
func (m *Membership) Held(v room.View, held bool) error {
	m.waitingID = time.Now()
	if !held {
		m.ports.Wake(patience(v))
		return nil
	}
	err := fmt.Errorf("%w: %s holds %q in job %q and did not let go for %s; give each process an id of its own",
		ErrDuplicate, "session "+v.State.Instance(v.Instance).Session.String(), v.Instance, v.Job, patience(v))
	if m.joinedAs != 0 {
		m.ports.Log.ErrorContext(m.ports.Life(), "cannot register again, will go on trying", room.KeyError, err)
		m.ports.Wake(patience(v))
	}
	return err
}

// LeaveTxn is the transaction of a leave: it deletes the instance, and the leader if that is this one, and asks for a
// resharding. It writes nothing if there is nothing to leave. marks are the conditions that what still runs here is
// marked: without mark and instance, it would be lost.
func (m *Membership) LeaveTxn(v room.View, marks []registry.Condition) registry.Txn {
	var txn registry.Txn
	if v.Registered() {
		txn.If = append(append(txn.If, v.Mine()), marks...)
		txn.Then = append(txn.Then, registry.Delete(v.Tree.Instance(v.Instance)))
		if v.State.Config.Exists() { // of a job that was removed, nothing may be made again
			txn.If = append(txn.If, registry.Present(v.Tree.Config()))
			txn.Then = append(txn.Then, registry.Put(v.Tree.Necessary(), ""))
		}
		if v.Config.Failover && v.Config.FailoverScope == job.FailoverAssigned {
			txn.Then = append(txn.Then, registry.Put(v.Tree.FailoverLeft(v.Instance), ""))
		}
	}
	if v.Leads() {
		txn.If = append(txn.If, v.Term())
		txn.Then = append(txn.Then, registry.Delete(v.Tree.Leader()))
	}
	return txn
}
