package leadership

import (
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// reconciler makes a leader look at everything again at intervals, whether or not anything happened.
// All that it finds should have been dealt with on the event; it is there for what nobody foresaw,
// such as nodes that were written by hand.
type reconciler struct {
	timer *time.Timer
	every time.Duration // as the timer is set; 0 = not at all
}

// set makes the timer call ring after the interval, and only once: whoever is called sets it again.
func (c *reconciler) set(every time.Duration, ring func()) {
	c.stop()
	c.every = every
	if every > 0 {
		c.timer = time.AfterFunc(every, ring)
	}
}

func (c *reconciler) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer, c.every = nil, 0
}

// KeepReconciling starts the interval of a leader, and ends that of one who is not.
func (l *Leadership) KeepReconciling(v room.View) {
	if !v.Usable || !v.Leads() {
		l.reconciler.stop()
		return
	}
	if every := inforce.ReconcileInterval(*v.Config); every != l.reconciler.every {
		l.reconciler.set(every, l.ports.Reconcile)
	}
}

// Reconcile proposes to remove what is there for no reason, when its time has come. due tells that everything
// is to be looked at again as well.
func (l *Leadership) Reconcile(v room.View) (batch room.Batch, due bool) {
	l.reconciler.stop()
	if !v.Attached.Connected() || !v.Leads() {
		return nil, false
	}
	l.LookAgain()
	found := resharding.GarbageOf(v.State, v.State.Leader.Created, v.Clock.Now().Add(-fires.ClockTolerance))
	for _, txn := range found.Txns {
		batch = append(batch, room.Proposal{Step: "reconcile", Txn: txn, Insist: true, Done: func(registry.Outcome) {
			l.ports.Log().WarnContext(l.ports.Life(), "removed what was left over", "node", txn.Then[0].Path)
		}})
	}
	return batch, true
}
