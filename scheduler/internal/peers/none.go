package peers

import (
	"context"
	"iter"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// None is the dialect of a cluster in which there are no others. It is also [Peers], and so what other dialects
// begin with.
type None struct{}

var (
	_ Dialect = None{}
	_ Peers   = None{}
)

// Traits implements [Dialect].
func (None) Traits() Traits { return Traits{} }

// Faults implements [Dialect].
func (None) Faults(job.Config) []error { return nil }

// Admit implements [Dialect].
func (None) Admit(context.Context, string) error { return nil }

// Layout implements [Dialect].
func (None) Layout() jobtree.Layout { return jobtree.Lite }

// NewState implements [Dialect].
func (None) NewState(job string) *jobtree.State { return jobtree.NewState(job) }

// StateOf implements [Dialect].
func (None) StateOf(job string, s registry.Snapshot) *jobtree.State { return jobtree.StateOf(job, s) }

// New implements [Dialect].
func (None) New(Ports) Peers { return None{} }

// Before implements [Watcher].
func (None) Before(room.View, registry.Step) {}

// After implements [Watcher].
func (None) After(room.View, jobtree.Touched) bool { return false }

// Ticked implements [Watcher].
func (None) Ticked(room.View) {}

// LookAgainAtAll implements [Watcher].
func (None) LookAgainAtAll() {}

// LookAtAssignment implements [Watcher].
func (None) LookAtAssignment() {}

// Refuses implements [Members].
func (None) Refuses(room.View) error { return nil }

// Joining implements [Members].
func (None) Joining(room.View) ([]registry.Condition, []registry.Write) { return nil, nil }

// Joined implements [Members].
func (None) Joined(room.View) {}

// Left implements [Members].
func (None) Left() {}

// MistakesLeave implements [Members].
func (None) MistakesLeave(room.View) bool { return false }

// Gone implements [Members].
func (None) Gone(room.View) (gone, shutDown bool) { return false, false }

// LeaderDeclaresNone implements [Leaders].
func (None) LeaderDeclaresNone(room.View) bool { return false }

// HoldBackMoves implements [Leaders].
func (None) HoldBackMoves(room.View) func(from, to string) bool { return nil }

// MovesDue implements [Leaders].
func (None) MovesDue() bool { return false }

// Planned implements [Leaders].
func (None) Planned([]int) {}

// Urge implements [Leaders].
func (None) Urge(room.View) room.Batch { return nil }

// InForce implements [Leaders].
func (None) InForce(_ room.View, stored *job.Config) *job.Config { return stored }

// MayBegin implements [Executors].
func (None) MayBegin(room.View) bool { return true }

// Beginning implements [Executors].
func (None) Beginning(room.View) []registry.Condition { return nil }

// MaybeLost implements [Executors].
func (None) MaybeLost(int) bool { return false }

// TakenOff implements [Executors].
func (None) TakenOff(room.View, jobtree.Item) bool { return false }

// MakesRoom implements [Executors].
func (None) MakesRoom(room.View, int) bool { return false }

// RoomsChange implements [Executors].
func (None) RoomsChange() bool { return false }

// Taken implements [Executors].
func (None) Taken(room.View, int) bool { return false }

// PastKnown implements [Executors].
func (None) PastKnown(jobtree.Item) bool { return true }

// StillDue implements [Executors].
func (None) StillDue(room.View, func() bool) {}

// Theirs implements [Executors].
func (None) Theirs(int, time.Time) bool { return false }

// Successor implements [Executors].
func (None) Successor(room.View, int) (unsettled, runsNewest bool) { return false, false }

// Unnamed implements [Executors].
func (None) Unnamed(room.View, jobtree.Item) []time.Time { return nil }

// Claims implements [Executors].
func (None) Claims(room.View, func(int) bool) iter.Seq[int] { return func(func(int) bool) {} }

// Claiming implements [Executors].
func (None) Claiming(room.View) (latch string, guards []registry.Condition) { return "", nil }

// Decide implements [Peers].
func (None) Decide(room.View) []room.Batch { return nil }

// TheirsUntil implements [Reporter].
func (None) TheirsUntil(int, string) (until time.Time, always bool) { return time.Time{}, false }

// Statistics implements [Reporter].
func (None) Statistics(int, string) *Statistics { return nil }
