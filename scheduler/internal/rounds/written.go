package rounds

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// soon is how long before a fire the state is to show what this process wrote of the items that fire.
const soon = 200 * time.Millisecond

// awaitWritten has the state show what this process wrote of an item if something of it is to begin now or soon. A state
// of all items shows everything as soon as it can; one of some items alone costs a question for each commit that is to be
// shown at once, and is otherwise a little behind with those of this process, about which nobody else has to be told.
func (r *Rounds) awaitWritten(v room.View, round *Round, it *item, node jobtree.Item) {
	if v.State.KnowsAll() || v.Applied >= it.wrote {
		return
	}
	_, asked := round.request.For(it.number, max(node.Record.Value.Trigger, it.triggered))
	if asked || !it.Due.None() || v.Rules.Delay != 0 || round.firesSoon(v) {
		r.ports.Await(it.wrote)
	}
}

// firesSoon tells whether the job fires soon after a decision.
func (ro *Round) firesSoon(v room.View) bool {
	if ro.nextFire.IsZero() {
		ro.nextFire = v.Rules.Schedule.Next(ro.now)
	}
	return !ro.nextFire.IsZero() && ro.nextFire.Sub(ro.now) < soon
}
