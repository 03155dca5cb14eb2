package leadership

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// spread is what an instance that does not lead knows of the leader's work. Every instance can tell from its own
// copy of the tree which assignment a leader should make of it. One that does not come says that the leader
// does not get on, or that it does not see what is seen here: ZooKeeper hides nodes from clients without the
// right to read them, and does not say so.
type spread struct {
	// since is when members, settings or the assignment were others last; zero = not seen yet. Members do not count
	// while the leadership is and stays unspread: else one that comes and goes would hide for ever what others wait for.
	since time.Time
}

// noteSpread notes what of a step changes the assignment that there should be, or the one that there is.
// Members that change may have made the assignment right again, and the time of what was wrong before is over then.
func (l *Leadership) noteSpread(v room.View, t jobtree.Touched) {
	switch {
	case t.Config || t.Leader || t.Epoch || t.Owners:
	case !t.Servers && !t.Instances, l.unspread && l.misplaced(v):
		return
	}
	l.spread.since, l.unspread = time.Now(), false
}

// misplaced tells whether members and settings want another assignment; it does not if that cannot be told here.
func (l *Leadership) misplaced(v room.View) bool {
	strategy, err := l.ports.Lookup(v.Config.ShardingStrategy)
	without, _ := l.probation.leftOut(v) // who sees the tree for as long as the leader does knows the same
	if err != nil || !immediate(strategy) {
		return ownerless(v, without)
	}
	plan, err := resharding.PlanHolding(v.State, strategy, v.State.Leader.Created, without, nil)
	return err == nil && plan.Moved > 0
}

// ownerless tells whether an item has no live owner although there is who may own it: no strategy wants that.
func ownerless(v room.View, without func(jobtree.Instance) bool) bool {
	if v.State.StaticSharding() || !slices.ContainsFunc(v.State.Instances, func(i jobtree.Instance) bool {
		return v.State.MayOwn(i) && (without == nil || !without(i))
	}) {
		return false
	}
	for item := range v.State.Total() {
		if v.State.Knows(item) && v.State.Instance(v.State.Owner(item)).Created == 0 {
			return true
		}
	}
	return false
}

// spreadLimit is how long a leader may take, with what it takes until the next one leads if it has died.
func spreadLimit(ttl time.Duration) time.Duration { return 2*ttl + 10*time.Second }

// Unspread tells why items stay where they are although another instance, which leads, should have moved them
// long since; empty if they are where they should be, or if that cannot be told here: a strategy of the application's is not
// asked for it, so with one only items count that have no live owner; and leaders of another kind go by rules of their own.
// It is for a runner that sees the tree.
func (l *Leadership) Unspread(v room.View, traits peers.Traits) string {
	if !v.Attached.Connected() || v.State.Leader.Created == 0 || v.Leads() || traits.OwnRules || !v.Usable {
		return ""
	}
	if l.unspread = l.misplaced(v); !l.unspread || time.Since(l.spread.since) <= spreadLimit(v.Attached.Session.TTL()) {
		return ""
	}
	return "the leader does not spread them over the instances that are seen here: it may not see them all, or its sharding strategy fails"
}
