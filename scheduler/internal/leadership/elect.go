package leadership

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Candidacy is how this instance stands for election: it leaves it to those before it for a while, and then commits.
// What is safe is so by the transaction. Instances of ours need no latch beside it, which would take more requests
// than the transaction itself.
type Candidacy struct {
	HoldBack time.Duration
	Latch    string // in which it commits; empty for none
	Txn      registry.Txn
}

// stand stands for election, if the job has no leader and this instance may become one (T2). From then on an election
// is under way, until [Leadership.Elected].
func (l *Leadership) stand(v room.View) {
	if l.electing || v.State.Leader.Created != 0 || !l.mayLead(v) {
		return
	}
	l.electing = true
	server, latch := jobtree.ServerOf(v.Instance), ""
	if l.ports.Traits().ElectInLatch {
		latch = v.Tree.ElectionLatch()
	}
	l.ports.Campaign(&Candidacy{HoldBack: v.HoldBack(), Latch: latch, Txn: registry.Txn{
		If: []registry.Condition{
			v.Mine(), registry.Unchanged(v.Tree.Config(), v.State.Config.Revision), registry.Unchanged(v.Tree.Server(server), v.State.Server(server).Revision), registry.Absent(v.Tree.Leader()),
		},
		Then: []registry.Write{registry.PutOwned(v.Tree.Leader(), v.Instance, v.Attached.Session)},
		// Whoever finds itself the leader leads or resigns, whenever it was elected.
		Repeat: registry.RepeatOwned,
	}})
}

// Elected takes in that an election is over. The view shows what it brought about.
func (l *Leadership) Elected() { l.electing = false }

// Electing tells whether an election is under way. It may still bring something to take back.
func (l *Leadership) Electing() bool { return l.electing }

// mayLead tells whether this instance could do a leader's work.
func (l *Leadership) mayLead(v room.View) bool { return l.unfit(v) == "" }

// unfit tells why this instance could not do a leader's work; "" if it could.
func (l *Leadership) unfit(v room.View) string {
	c := v.State.Config
	switch {
	case !c.Exists():
		return "the job has no configuration"
	case !v.Usable:
		return "the job's settings cannot be used here"
	case v.State.JobDisabled():
		return "the job is disabled"
	case !v.ServerEnabled():
		return "the server is disabled"
	}
	if _, err := l.ports.Lookup(v.Config.ShardingStrategy); err != nil {
		return err.Error()
	}
	return ""
}

// resign proposes to give the leadership to somebody who can do its work.
func (l *Leadership) resign(v room.View) room.Batch {
	var txn registry.Txn
	v.Resign(&txn)
	why := l.unfit(v)
	return room.Batch{{Step: "resign", Alone: true, Txn: txn, Done: func(registry.Outcome) {
		l.ports.Log().InfoContext(l.ports.Life(), "resigned as leader", "reason", why)
	}}}
}

// Follow returns which terms this instance has lost and gained since the last time, given the present one; 0 = none.
func (l *Leadership) Follow(term registry.Revision) (lost, gained registry.Revision) {
	if term == l.term {
		return 0, 0
	}
	lost, l.term = l.term, term
	return lost, term
}
