package leadership

import (
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// static is what a leader keeps of an assignment that stays while members change: the setting staticSharding of ElasticJob
// 3.x. A Java leader assigns the items when the first fire comes after their number has changed, to those that are there
// by then, and afterwards leaves them even to who is gone. A leader of ours assigns them at once, and lets members
// count until that fire. It forgets that with the leadership: the next leader leaves them where they are.
type static struct {
	open  bool      // members still count
	held  bool      // items are not yet where members want them
	until time.Time // the first fire; zero = none comes, and members count until something runs
}

// stays tells whether all items are to stay where they are.
func (s *static) stays(v room.View) bool {
	if !v.State.StaticSharding() {
		*s = static{}
		return false
	}
	if v.State.Necessary != 0 || v.State.Incomplete() { // the number has changed, or somebody asks
		*s = static{open: true, until: v.Rules.Schedule.Next(v.Clock.Now())}
	}
	return !s.open
}

// planned takes in whether items are to be moved, now or when they have ended: a move may be refused, as they began just then.
func (s *static) planned(held bool) { s.held = held }

// look takes in whether the first fire has come, or something runs.
func (s *static) look(v room.View) {
	switch {
	case !s.open || s.held || v.State.Necessary != 0 || v.State.Incomplete():
	case !s.until.IsZero() && !v.Clock.Now().Before(s.until), runs(v):
		s.open = false
	}
}

func runs(v room.View) bool {
	for item := range v.State.Total() {
		if v.State.Runs(item) {
			return true
		}
	}
	return false
}
