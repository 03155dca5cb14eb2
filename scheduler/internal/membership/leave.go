package membership

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Parting is what an instance needs that leaves its job: the others must be able to go on without it.
type Parting struct {
	// Ready: what was missed of its items is noted, and what still runs here has its mark.
	Ready bool
	// Stays: the instance has to stay until something that runs here has ended. It leads no more meanwhile.
	Stays bool
	// Marks are the conditions that what still runs here is marked: without mark and instance, it would be lost.
	Marks []registry.Condition
}

// LeaveTxn is the transaction of a leave: it deletes the instance, and the leader if that is this one, and asks for a
// resharding, unless the items stay where they are. It writes nothing if there is nothing to leave. marks are those of a
// [Parting].
func (m *Membership) LeaveTxn(v room.View, marks []registry.Condition) registry.Txn {
	var txn registry.Txn
	if v.Registered() {
		txn.If = append(append(txn.If, v.Mine()), marks...)
		m.giveUp(v, &txn)
		txn.Then = append(txn.Then, registry.Delete(v.Tree.Instance(v.Instance)))
		leaves(v, &txn)
	}
	if v.Leads() {
		v.Resign(&txn) // whoever took the instance out, if somebody did, has not asked
	}
	return txn
}

// mostGivenUp bounds what a leave gives up. Only a registry takes so much in which peers take part that mistake leaves.
const mostGivenUp = 1000

// giveUp adds to a transaction, before it deletes this instance, what takes the items from it, where others would take the
// leave for a crash and run them again: they see one after the other. What another instance runs is left as it is, since
// nobody claims that, and without an owner the item would be none until it has ended.
func (m *Membership) giveUp(v room.View, txn *registry.Txn) {
	if v.Blind || !m.ports.Peers().MistakesLeave(v) { // what it has is not known while it is blind
		return
	}
	given := 0
	for item := range v.State.Total() {
		if given == mostGivenUp {
			return
		}
		mark := v.State.Item(item).Running
		elsewhere := mark.Exists() && mark.Session != v.Attached.Session.ID()
		if v.State.Owner(item) == v.Instance && !elsewhere {
			txn.If = append(txn.If, v.State.OwnerGuards(item)...)
			txn.Then = append(txn.Then, registry.Delete(v.Tree.ItemInstance(item)))
			given++
		}
	}
}

// leaves adds to a transaction that deletes this instance what tells others that it leaves by its own will: that matters
// for what it owns. A leader takes the mark away, and of a job that nobody leads there is none for each instance that came and
// went; who leaves it without one compares that nobody has given it items meanwhile.
func leaves(v room.View, txn *registry.Txn) {
	v.AskForResharding(txn)
	cfg := v.Config
	if !v.Usable {
		cfg = &v.State.Config.Value // which others may be able to use
	}
	if !cfg.Failover || cfg.FailoverScope != job.FailoverAssigned {
		return
	}
	if mayOwn(v) {
		txn.Then = append(txn.Then, registry.Put(v.Tree.FailoverLeft(v.Instance), ""))
		return
	}
	txn.If = append(txn.If, registry.Unchanged(v.Tree.Epoch(), v.State.Epoch.Revision))
}

// mayOwn tells whether this instance owns an item, or may have been given one.
func mayOwn(v room.View) bool {
	if v.Blind || v.State.Leader.Created != 0 || v.State.Outdated() {
		return true
	}
	for item := range v.State.Total() {
		if v.State.Owner(item) == v.Instance {
			return true
		}
	}
	return false
}

// resign proposes to give up the leadership alone, for an instance that is to leave and has to stay for a while;
// nothing if it does not lead.
func (m *Membership) resign(v room.View) room.Batch {
	if !v.Leads() {
		return nil
	}
	var txn registry.Txn
	v.Resign(&txn)
	return room.Batch{{Step: "resign before leaving", Alone: true, Txn: txn}}
}

// Leave proposes to leave the job, also what this process holds of it under a former session, which it may have given up
// before it was to leave; nothing if there is nothing to leave.
func (m *Membership) Leave(v room.View, marks []registry.Condition) room.Batch {
	txn := m.LeaveTxn(v, marks)
	if m.Standing(v) == Former {
		m.removeFormerInstance(v, &txn)
		leaves(v, &txn)
	}
	if m.formerLeads(v) {
		v.Resign(&txn)
	}
	if len(txn.Then) == 0 {
		return nil
	}
	return room.Batch{{Step: "leave", Alone: true, Txn: txn, Done: func(registry.Outcome) { m.NoteLeft(v.Clock.Now()) }}}
}

// AnnounceLeave proposes to hand over all that others may have of an instance that leaves and must stay registered for as
// long as something runs there: its items, by asking for a resharding, in which one that leaves gets none, and the
// leadership. Of a job that was removed or has moved to another registry, and beside ElasticJob 3.x, whose layout has no word
// for the former, it is the leadership alone. It proposes nothing if that was done.
func (m *Membership) AnnounceLeave(v room.View) room.Batch {
	mine := v.State.Instance(v.Instance)
	switch {
	case !v.Registered(), !v.State.Config.Exists(), v.State.Elsewhere(), v.State.Layout() == jobtree.ElasticJob3: // whose instances read something else in the node
		return m.resign(v)
	case mine.Shutdown && !v.Leads():
		return nil
	}
	path := v.Tree.Instance(v.Instance)
	txn := registry.Txn{
		If: []registry.Condition{registry.Unchanged(path, mine.Revision), registry.Present(v.Tree.Config())},
		Then: []registry.Write{
			registry.Update(path, jobtree.InstanceShutdown),
			registry.Put(v.Tree.Necessary(), ""),
		},
	}
	if v.Leads() {
		v.Resign(&txn)
	}
	return room.Batch{{Step: "hand over", Alone: true, Txn: txn, Done: func(registry.Outcome) {
		if m.ports.Peers().MistakesLeave(v) {
			m.ports.Log().InfoContext(m.ports.Life(), "the instance stays registered until what runs here has ended, as Java would run it again: all else is handed over")
			return
		}
		m.ports.Log().WarnContext(m.ports.Life(), "the instance stays registered until what runs here has ended, as somebody took a mark of it away: all else is handed over")
	}}}
}

// leaveToOthers proposes to leave for as long as this instance could run nothing, while there is another one.
func (m *Membership) leaveToOthers(v room.View, p Parting) room.Batch {
	if p.Stays {
		return m.resign(v)
	}
	if !p.Ready {
		return nil
	}
	m.parting = true
	txn, stays := m.LeaveTxn(v, p.Marks), other(v)
	txn.If = append(txn.If, registry.CreatedAt(v.Tree.Instance(stays.ID), stays.Created))
	return room.Batch{{Step: "leave the job to others", Alone: true, Txn: txn, Done: func(registry.Outcome) { m.hasLeft(v.Clock.Now()) }}}
}

// hasLeft notes that this instance is not registered any more because it left by itself, and may come back.
func (m *Membership) hasLeft(now time.Time) {
	m.LeftBlind()
	m.NoteLeft(now)
}

// LeftBlind notes that this instance may have left while it could not see the tree: if it is gone now, that is nobody
// else's doing.
func (m *Membership) LeftBlind() { m.ports.Peers().Left() }

// NoteLeft notes that this instance is not registered any more. Fires that come from now on are for others
// to tick.
func (m *Membership) NoteLeft(now time.Time) {
	if m.leftAt.IsZero() {
		m.leftAt = now
	}
}

// LeftAt returns when this instance was not registered any more because it left; zero = it has not left.
func (m *Membership) LeftAt() time.Time { return m.leftAt }
