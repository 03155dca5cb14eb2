package leadership

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/sharding"
)

// gatherFor is how long a leader collects events before it reshards: a deployment changes many
// members within moments, and one resharding serves them all. The items of one that has gone do not wait for that,
// unless others went just before.
const gatherFor = 20 * time.Millisecond

// Ports are what the room may ask of the process.
type Ports interface {
	room.Ports
	// Traits are those of others that may share the job.
	Traits() peers.Traits
	Peers() peers.Peers
	// Lookup returns a strategy of those that this process has.
	Lookup(strategy string) (sharding.Strategy, error)
	// Campaign starts an election; see [Leadership.Elected].
	Campaign(c *Candidacy)
	// Answered hears that a strategy that was asked has answered, or hangs.
	Answered()
	// Reconcile hears that it is time to; see [Leadership.Reconcile].
	Reconcile()
	// Resharded hears that items have moved.
	Resharded(plan resharding.Plan)
}

// Leadership is what a leader still has to look at, and whether this instance is it.
type Leadership struct {
	ports Ports

	plan  bool      // members, settings or assignment changed since the last look
	since time.Time // when the first of the changes not yet looked at came; zero = none waits
	// hurried is when the assignment was looked at last without gathering, as an owner had gone.
	hurried time.Time
	// noPlan is why the strategy gave no assignment, as it was reported; empty if it gives one.
	noPlan string

	bequests   int32             // tries to leave with a resharding
	electing   bool              // an election is under way
	unspread   bool              // another leader's assignment was seen not to be the one wanted, and has not become that since
	term       registry.Revision // that was last told of; 0 = this instance did not lead
	static     static
	strategist *strategist // nil until an application's strategy is asked
	spread     spread
	probation  probation
	reconciler reconciler
	removal    *removal // nil = what is there for no reason is not being removed
}

// New makes the room of a job.
func New(ports Ports) *Leadership { return &Leadership{ports: ports} }

// Observe takes in what of a step a leader has to look at, whoever leads: the next one may be this
// instance.
func (l *Leadership) Observe(v room.View, t jobtree.Touched) {
	l.plan = l.plan || t.Config || t.Servers || t.Instances || t.Leader || t.Necessary || t.Epoch || t.Owners
	l.probation.observe(v, t)
	l.noteSpread(v, t)
}

// Decide proposes a leader's next step: to clear up, then to reshard, or to give the leadership up where it cannot
// do its work. One who does not lead stands for election if there is no leader.
func (l *Leadership) Decide(v room.View) room.Batch {
	if in := l.probation.letGo(v); in > 0 {
		l.ports.Wake(in)
	}
	switch {
	case !v.Leads():
		l.static = static{}
		l.stand(v)
		return nil
	case !l.mayLead(v):
		return l.resign(v)
	}
	l.static.look(v)
	if !l.due(v) {
		return nil
	}
	if tidy := l.tidy(v); tidy != nil {
		return tidy
	}
	return l.reshard(v)
}

// DeclaresLost tells whether it is for this instance to look for what was running when its instance was lost.
func (l *Leadership) DeclaresLost(v room.View) bool {
	if v.Leads() {
		return l.mayLead(v)
	}
	return l.ports.Peers().LeaderDeclaresNone(v) // nobody else would
}

// LookAgain marks the assignment to be looked at once more.
func (l *Leadership) LookAgain() { l.plan = true }

// NoPlan tells why the sharding strategy gives no assignment; empty if it gives one.
func (l *Leadership) NoPlan() string { return l.noPlan }

// Stop stops the timers. It is for the end, when the runner does nothing any more.
func (l *Leadership) Stop() {
	if l.strategist != nil {
		l.strategist.Stop()
	}
	l.reconciler.stop()
}
