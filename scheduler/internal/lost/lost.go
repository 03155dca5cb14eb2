// Package lost is the room that decides which executions are lost: those whose instance is gone. Package failover
// says what that means in the job's tree; this room says when it is certain, and proposes to record it.
package lost

import (
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Executions are what an instance knows of executions that seem lost.
//
// A process that lost its own session waits a little before it declares executions lost that seem to be: what
// took its session may have taken those of all others, who are coming back as well, and what they have finished
// meanwhile is not lost once they have said so.
type Executions struct {
	Ports room.Ports

	noted       actor.Lookout // items whose executions may have been lost since the last look
	lostSession bool          // and has not joined again
	until       time.Time     // nothing is declared before
	seen        map[int]sight // by item: when an execution was first seen to be lost, where that is to be confirmed
}

// sight is when the execution of a token was first seen to be lost.
type sight struct {
	token registry.Revision
	at    time.Time
}

// confirmLoss is how long an instance must have been gone before its executions are lost, beside ElasticJob 3.x: its
// console shuts an instance down by taking the node away, and what runs there may be about to end.
const confirmLoss = time.Second

// Observe takes in what a step of the view has changed, whoever leads: the next leader may be this instance.
func (x *Executions) Observe(t jobtree.Touched) { x.noted.Note(t.Items, t.Instances || t.Leader) }

// LookAgain marks items to be looked at once more: their executions may have been lost.
func (x *Executions) LookAgain(items ...int) { x.noted.Add(items...) }

// LookAgainAtAll is LookAgain of all items.
func (x *Executions) LookAgainAtAll() { x.noted.AddAll() }

// SessionLost takes in that the process has lost its session.
func (x *Executions) SessionLost() { x.lostSession = true }

// Joined takes in that the instance takes part under a session of this TTL.
func (x *Executions) Joined(ttl time.Duration) {
	if x.lostSession {
		x.lostSession, x.until = false, time.Now().Add(ttl/3)
	}
}

// Is tells whether an item's execution may be declared lost now. One whose code has not returned to
// this process, or whose end is still to be recorded, is not: it ends when that has happened. here is the token
// of such a one; 0 = there is none. wait tells that the answer may be another one in a moment;
// the runner decides again then.
func (x *Executions) Is(v room.View, item int, here registry.Revision) (lost, wait bool) {
	if !failover.Lost(v.State, item) {
		delete(x.seen, item)
		return false, false
	}
	record := v.State.Record(item)
	if here != 0 && here == record.Value.Token(record.Revision) {
		return false, false
	}
	if left := max(time.Until(x.until), x.unconfirmed(v, item)); left > 0 {
		x.Ports.Wake(left)
		return false, true
	}
	return true, false
}

// unconfirmed returns how long it takes until the loss of an item's execution is certain.
func (x *Executions) unconfirmed(v room.View, item int) time.Duration {
	if v.State.Layout() != jobtree.ElasticJob3 {
		return 0
	}
	record := v.State.Record(item)
	token := record.Value.Token(record.Revision)
	if x.seen[item].token != token {
		if x.seen == nil {
			x.seen = make(map[int]sight)
		}
		x.seen[item] = sight{token, time.Now()}
	}
	return confirmLoss - time.Since(x.seen[item].at)
}

// Decide proposes to record what was running when its instance was lost, all of it in one request. It is
// looked for after every change and not on the event that somebody went, so it does not matter who
// was there to see that. here is as for Is, of every item.
func (x *Executions) Decide(v room.View, here func(item int) registry.Revision) room.Batch {
	var batch room.Batch
	for _, n := range x.noted.Take(v.State.Items()) {
		lost, wait := x.Is(v, n, here(n))
		switch {
		case wait:
			x.noted.Add(n)
		case lost:
			batch = append(batch, x.Declare(v, n)...)
		case v.Leads() && failover.Crashed(v.State, n): // only a leader gives the item a new owner, which ends it
			batch = append(batch, x.requeue(v, n)...)
		}
	}
	return batch
}

// Declare proposes to record an item's execution as lost (T6).
func (x *Executions) Declare(v room.View, item int) room.Batch {
	txn, err := failover.Declare(v.State, item, v.Clock.Now(), v.FailoverLimit())
	if err != nil {
		x.Ports.Log().ErrorContext(x.Ports.Life(), "cannot record a lost execution", room.KeyItem, item, room.KeyError, err)
		return nil
	}
	lost := v.State.Record(item).Value.Current
	return room.Batch{{Step: "declare lost", Txn: txn, Done: func(registry.Outcome) {
		x.Ports.Log().WarnContext(x.Ports.Life(), "execution lost: its instance is gone",
			room.KeyItem, item, "lost_instance", lost.Instance, room.KeyFire, room.FireOf(lost.Fire))
	}}}
}

// requeue proposes to run an item of a crashed instance again that was not running.
func (x *Executions) requeue(v room.View, item int) room.Batch {
	txn, err := failover.Requeue(v.State, item)
	if err != nil {
		x.Ports.Log().ErrorContext(x.Ports.Life(), "cannot have an item run again", room.KeyItem, item, room.KeyError, err)
		return nil
	}
	return room.Batch{{Step: "requeue", Txn: txn, Done: func(registry.Outcome) {
		x.Ports.Log().InfoContext(x.Ports.Life(), "item of a crashed instance is run again", room.KeyItem, item)
	}}}
}
