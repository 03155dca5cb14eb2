package javapeers

import (
	"cmp"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// away is what is known of the time in which this process had no session. Others get its items then, and Java leaves no
// record of what it runs for. So when the process is back, the fires of that time are no missed ones of items that Java may
// have had.
type away struct {
	under  *room.Attachment             // the last one
	began  time.Time                    // when its session did, which may have been taken up again
	is     bool                         // its session is over, or the state has yet to show this instance under the next one
	since  time.Time                    // when the session was over, by the wall clock; zero = none was
	sure   time.Time                    // up to when the state showed all by then
	joined registry.Revision            // that registered this instance after that
	there  map[string]registry.Revision // the instances of then, and what created them
	theirs map[int]span                 // fires of items that others had meanwhile
}

// span is the time after one moment and up to another.
type span struct{ after, to time.Time }

// Theirs implements [peers.Executors].
func (a *away) Theirs(item int, fire time.Time) bool {
	s, had := a.theirs[item]
	return had && fire.After(s.after) && !fire.After(s.to)
}

// noteTheirs takes in that others may have had an item for a while.
func (a *away) noteTheirs(item int, while span) {
	if a.theirs == nil {
		a.theirs = make(map[int]span)
	}
	a.theirs[item] = while
}

// noteSession takes in whether this process has a session: one that was taken up again was never over. The state is known to
// show all up to a moment.
func (a *away) noteSession(v room.View, shown func() time.Time) {
	if a.under != nil && !a.is {
		if over := a.under.Session.Over(); over > 0 || v.Attached != nil && v.Attached.Session.ID() != a.under.Session.ID() {
			a.is, a.since, a.sure, a.joined, a.theirs = true, v.Clock.Now().Add(-over), shown(), 0, nil
			a.there = instances(v)
		}
	}
	if v.Attached == nil {
		return
	}
	if a.under == nil || v.Attached.Session.ID() != a.under.Session.ID() {
		a.began = v.Attached.Since
	}
	a.under = v.Attached
}

// instances returns what created the instances that take part.
func instances(v room.View) map[string]registry.Revision {
	there := make(map[string]registry.Revision)
	for _, i := range v.State.Instances {
		there[i.ID] = i.Created
	}
	return there
}

// noteBack takes in whether a step shows this instance under its new session.
func (a *away) noteBack(v room.View, step registry.Step) {
	if !a.is || v.Attached == nil || v.Attached != a.under || v.Attached.Session.Over() > 0 {
		return
	}
	if mine := step.Snapshot.Get(v.Tree.Instance(v.Instance)); mine.Exists() && mine.Session == v.Attached.Session.ID() {
		a.is, a.joined = false, mine.Created
	}
}

// during tells whether a change may have been made while this process was away.
func (a *away) during(change registry.Change) bool {
	made := cmp.Or(change.New.Revision, change.Removed)
	return a.is || made != 0 && made < a.joined
}

// noteMove takes in that an item was given to another owner, or to the same one anew, while this process was away, and tells
// whether a Java instance may have had it. One that was there all the time may have. After an outage in which all sessions have
// ended, none was: then it is one only if it has the item now.
//
// Others get an item of this instance when its session is over, unless somebody has come meanwhile, for whom it may have been
// moved before. mine tells that it was one.
func (a *away) noteMove(v room.View, step registry.Step, item int, mine bool, change registry.Change) bool {
	if !jobtree.JavaInstance(change.New.Value) && !a.anyThrough(v, step) {
		return false
	}
	after := a.since
	if mine && a.sure.Before(after) && a.anyCame(v, step) {
		after = a.sure
	}
	a.noteTheirs(item, span{after: after, to: v.Clock.Passed()})
	return true
}

// anyThrough tells whether a Java instance was there all the time.
func (a *away) anyThrough(v room.View, step registry.Step) bool {
	for id, created := range a.there {
		if jobtree.JavaInstance(id) && step.Snapshot.Get(v.Tree.Instance(id)).Created == created {
			return true
		}
	}
	return false
}

// anyCame tells whether an instance is there that was not.
func (a *away) anyCame(v room.View, step registry.Step) bool {
	for node := range step.Snapshot.Below(v.Tree.Instances()) {
		name, ok := jobtree.Parse(node.Path)
		if !ok || name.Kind != jobtree.KindInstance || name.Key == v.Instance {
			continue
		}
		if _, was := a.there[name.Key]; !was {
			return true
		}
	}
	return false
}
