package wholeround

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Gate keeps an execution's code from being called until the started hook of its round has run.
type Gate struct {
	Open chan struct{} // closed when the code may be called
	held Held
	key  jobtree.RoundKey
	free bool // it need not wait, whatever the state shows: it has waited as long as it may, or the hook has run here
	wait *wait
}

// Held is an execution that waits at a gate.
type Held struct {
	Record jobtree.Record
	Item   int
	Opened func()      // is called just before the gate opens
	Late   func()      // is called when it has waited as long as it may
	Back   func() bool // gives the execution back, for it is not to run, or not here, if somebody runs it later
}

// wait bounds how long the gates of one round are closed.
type wait struct {
	timer *time.Timer
	gates int // that are closed
}

// Any tells whether the job has hooks here.
func (r *Rounds) Any() bool { return r != nil }

// Holds tells whether executions wait for a started hook.
func (r *Rounds) Holds() bool {
	return r != nil && r.listener.AllStarted != nil && r.listener.StartedWithin != 0
}

// Gate returns the gate at which an execution waits for the started hook, of which there is one; nil if it need not.
func (r *Rounds) Gate(held Held) *Gate {
	g := &Gate{held: held, key: keyOf(held.Record), Open: make(chan struct{})}
	if g.key.IsZero() { // what a Java instance ran, for a fire that nobody knows
		return nil
	}
	r.gates[g] = struct{}{}
	return g
}

// Bound bounds how long the executions of one round wait. Those that still wait then hear of it in a message.
func (r *Rounds) Bound(gates []*Gate) {
	if len(gates) == 0 {
		return
	}
	bound := &wait{gates: len(gates)}
	for _, g := range gates {
		g.wait = bound
	}
	bound.timer = time.AfterFunc(r.listener.StartedWithin, func() {
		r.ports.Post(func() {
			for _, g := range gates {
				if _, waits := r.gates[g]; waits {
					g.free = true
					g.held.Late()
				}
			}
		})
	})
}

// Release opens the gates of executions whose round's started barrier is settled, or is not theirs any more, and those of all
// if the job has come to have no rounds together: no hook comes then, unless it runs already. Code starts only under a session
// that is in order.
func (r *Rounds) Release(v room.View) {
	if r == nil || len(r.gates) == 0 {
		return
	}
	b := v.State.Barrier(jobtree.PhaseStarted).Round.Value
	apart := v.Usable && !Together(v.Config, v.Rules)
	for g := range r.gates {
		passed := b.Covers(g.key) && (!same(b.Key(), g.key) || b.Outcome != "")
		hooked := b.Underway() && same(b.Key(), g.key)
		if passed || g.free || apart && !hooked {
			g.held.Opened()
			close(g.Open)
			r.Forget(g)
		}
	}
}

// GiveBack gives back the executions that wait for a hook although they must not begin any more, or although nobody is
// left to wait for: this instance leaves, and no hook is to come, or none that it could see. It stands behind
// [Rounds.Release].
func (r *Rounds) GiveBack(v room.View) {
	if r == nil || len(r.gates) == 0 || r.Busy() {
		return
	}
	b := v.State.Barrier(jobtree.PhaseStarted).Round.Value
	others := slices.ContainsFunc(v.State.Instances, func(i jobtree.Instance) bool {
		return i.ID != v.Instance && !i.Shutdown && v.State.Enabled(i.ID)
	})
	back := false
	for g := range r.gates {
		stands := !v.Usable || !v.ServerEnabled() || v.State.Disabled(g.held.Item)
		hooked := b.Underway() && same(b.Key(), g.key)
		needless := !hooked && (stands || v.Leaving && !others)
		if (needless || v.Blind) && g.held.Back() {
			r.Forget(g)
			back = true
		}
	}
	if back {
		r.ports.DecideAgain() // so that the ends are recorded
	}
}

// freed notes that the hook for which executions wait at the gates of a round has run.
func (r *Rounds) freed(key jobtree.RoundKey) {
	for g := range r.gates {
		g.free = g.free || same(g.key, key)
	}
}

// Forget takes a gate off the list when its execution has ended, in whatever way, and with the last of a round what bounds
// their wait. A nil gate is none.
func (r *Rounds) Forget(g *Gate) {
	if g == nil {
		return
	}
	if _, closed := r.gates[g]; !closed {
		return
	}
	delete(r.gates, g)
	if g.wait == nil {
		return
	}
	if g.wait.gates--; g.wait.gates == 0 {
		g.wait.timer.Stop()
	}
}
