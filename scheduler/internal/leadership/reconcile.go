package leadership

import (
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	// mostAtOnce is about how much a leader removes in one go. A job that has got far fewer items leaves very much, and while
	// it is removed the runner does nothing else, and the store has that much less time for others.
	mostAtOnce = 1000
	// goOnAfter is how long it leaves all that to others until it goes on with what is left.
	goOnAfter = time.Second
	// removeWithin is how long what is to be removed may wait for its turn.
	removeWithin = 200 * time.Millisecond
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
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer, c.every = nil, every
	if every > 0 {
		c.timer = time.AfterFunc(every, ring)
	}
}

func (c *reconciler) stop() {
	c.set(0, nil)
}

// KeepReconciling starts the interval of a leader, and ends that of one who is not.
func (l *Leadership) KeepReconciling(v room.View) {
	if !v.Usable || !v.Leads() {
		l.reconciler.stop()
		l.removal = nil
		return
	}
	every := inforce.ReconcileInterval(*v.Config)
	if l.removal != nil && l.removal.goOn {
		every = min(every, goOnAfter)
	}
	if every != l.reconciler.every {
		l.reconciler.set(every, l.ports.Reconcile)
	}
}

// Reconcile proposes to remove what is there for no reason, when its time has come. due tells that everything
// is to be looked at again as well. What comes of it is told by [Leadership.Reconciled].
func (l *Leadership) Reconcile(v room.View) (batch room.Batch, due bool) {
	// What there is to remove may last for as long as others keep the store busy, and that is no reason not to look.
	looked := time.Now()
	due = true
	if r := l.removal; r != nil && r.goOn && looked.Sub(r.looked) < inforce.ReconcileInterval(*v.Config) {
		looked, due = r.looked, false
	}
	l.reconciler.stop()
	l.removal = nil
	if !v.Attached.Connected() || !v.Leads() {
		return nil, false
	}
	if due {
		l.LookAgain()
	}
	found := resharding.GarbageOf(v.State, v.State.Leader.Created, v.Clock.Now().Add(-fires.ClockTolerance), mostAtOnce)
	if len(found.Txns) == 0 {
		return nil, due
	}
	r := &removal{looked: looked, found: len(found.Txns), more: len(found.Txns) >= mostAtOnce}
	l.removal = r
	turn := registry.Turn{Rank: registry.RankLast, Share: v.Job(), Until: time.Now().Add(removeWithin)}
	for _, txn := range found.Txns {
		txn.Turn = turn
		batch = append(batch, room.Proposal{Step: "reconcile", Txn: txn, Insist: true, Done: func(registry.Outcome) {
			r.note(txn.Then[0].Path)
		}})
	}
	return batch, due
}

// removal is what became of what a leader proposed to remove.
type removal struct {
	looked  time.Time // when everything was looked at last
	found   int
	more    bool // there is more than was proposed
	removed int
	first   string // of what was removed
	goOn    bool   // some of what was found is left, and can be removed
}

func (r *removal) note(path string) {
	if r.removed++; r.removed == 1 {
		r.first = path
	}
}

// Reconciled hears that what [Leadership.Reconcile] has proposed has been committed, or refused. If some was removed and some
// is left, it goes on with that soon.
func (l *Leadership) Reconciled() {
	r := l.removal
	if r == nil || r.removed == 0 {
		return
	}
	if r.goOn = r.more || r.removed < r.found; !r.goOn {
		l.removal = nil
	}
	l.ports.Log().WarnContext(l.ports.Life(), "removed what was left over", "node", r.first, "nodes", r.removed)
}
