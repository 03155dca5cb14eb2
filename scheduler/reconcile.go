package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/internal/resharding"
)

// reconciler has a leader look at everything again at intervals, whether or not anything happened.
// All that it finds should have been dealt with on the event; it is there for what nobody foresaw,
// such as nodes that were written by hand.
type reconciler struct {
	ring  func()
	timer *time.Timer
	every time.Duration // as the timer is set; 0 = not at all
}

// set has ring called in the interval, and only once: whoever is called sets it again. It does
// nothing if it is set to that already.
func (c *reconciler) set(every time.Duration) {
	if c.every == every {
		return
	}
	c.stop()
	c.every = every
	if every > 0 {
		c.timer = time.AfterFunc(every, c.ring)
	}
}

func (c *reconciler) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer, c.every = nil, 0
}

// keepReconciling starts the interval of a leader, and ends that of one who is not.
func (r *runner) keepReconciling() {
	if !r.settings.ok || !r.leads() {
		r.reconciler.stop()
		return
	}
	r.reconciler.set(r.settings.config.ReconcileIntervalInForce())
}

// reconcile notes that everything is to be looked at, and removes what is there for no reason.
func (r *runner) reconcile() {
	r.reconciler.stop()
	if !r.attached.connected() || !r.leads() {
		return
	}
	r.lookAgain()
	found := resharding.GarbageOf(r.state, r.state.Leader.Created, r.s.now().Add(-clockTolerance))
	for i, outcome := range r.s.registry.CommitAll(r.attached.ctx, found.Txns) {
		if outcome.Err != nil {
			r.refused("reconcile", outcome.Err)
			continue
		}
		r.committed(outcome.Revision)
		r.log.WarnContext(r.life, "removed what was left over", "node", found.Txns[i].Then[0].Path)
	}
}
