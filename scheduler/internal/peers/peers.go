// Package peers separates the scheduler from instances of another kind that share a job, such as Java's: what
// they expect, and what is to be expected of them. A [Dialect] describes one kind, for a process; [Peers] are
// those of one job. [None] is the dialect of a cluster that has no others.
//
// A runner asks its peers wherever others make a difference, and nowhere asks which kind they are.
package peers

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/sharding"
)

// Dialect is one kind of instances that may take part in the jobs of a process. It is safe for concurrent use.
type Dialect interface {
	// Traits says what the others do that instances of ours do not.
	Traits() Traits
	// Faults lists what the others could not read or run of a configuration.
	Faults(cfg job.Config) []error
	// Admit tells why a job must not be declared, for what the registry shows of the others in it.
	Admit(ctx context.Context, job string) error
	// Layout says in which words the others read and write nodes.
	Layout() jobtree.Layout
	// NewState and StateOf make a state that reads the job's tree as the others do.
	NewState(job string) *jobtree.State
	StateOf(job string, s registry.Snapshot) *jobtree.State
	// New makes what is known of the others in one job.
	New(ports Ports) Peers
}

// Traits are what others do that instances of ours do not. The zero Traits are those of nobody.
type Traits struct {
	// Unrecorded: they do not record for which fires and requests an item ran.
	Unrecorded bool
	// StartDisabled: that a job is disabled says how its new servers start, and nothing of those that are there.
	StartDisabled bool
	// OwnRules: their leaders assign by rules and strategies that this process may not know.
	OwnRules bool
	// Unsteady: their leaders take all items away for a moment when they assign.
	Unsteady bool
	// AloneAnswered: each instance answers a request by hand for itself alone.
	AloneAnswered bool
	// CountOnNotes: they go by what is noted as missed of an item with the end of every execution.
	CountOnNotes bool
	// Borrow: a lost execution is run again by whoever claims it, also where its item is not.
	Borrow bool
	// OwnWishes: they wish for claimants of items that do not wait by their records.
	OwnWishes bool
	// ElectInLatch: only a latch keeps them from replacing a leader who is elected at the same moment.
	ElectInLatch bool
}

// Ports are what peers may ask of the process.
type Ports struct {
	room.Ports
	// LookAgain marks items to be looked at once more: something of them may begin.
	LookAgain func(items ...int)
	// WhenShown asks the registry, and calls done in a message once the state shows all that was committed before the call.
	// shown is false if nobody can tell.
	WhenShown func(done func(shown bool))
	// Strategy returns what gives the assignments of the job. Its error, or that of the strategy, is ErrAsked
	// while the answer is to come.
	Strategy func() (sharding.Strategy, error)
}

// ErrAsked says that a sharding strategy has been asked, and what it answers is to come.
var ErrAsked = errors.New("the sharding strategy has been asked")

// Peers are the others of one job, as a runner sees them. Methods are for the runner alone, unless they say
// otherwise.
type Peers interface {
	Watcher
	Members
	Leaders
	Executors
	Reporter

	// Decide proposes what only the others make necessary, each batch in a request of its own.
	Decide(v room.View) []room.Batch
}

// Watcher takes in what happens.
type Watcher interface {
	// Before takes in a step of the view that the state does not show yet.
	Before(v room.View, step registry.Step)
	// After takes in what the step changed in the state. plan tells that a leader has to look at the assignment.
	After(v room.View, t jobtree.Touched) (plan bool)
	// Ticked takes in that a fire has come.
	Ticked(v room.View)
	// LookAgainAtAll marks everything to be looked at once more, after a refusal.
	LookAgainAtAll()
	// LookAtAssignment marks the assignment to be looked at once more.
	LookAtAssignment()
}

// Members are the others as instances beside this one.
type Members interface {
	// Refuses tells why this instance must not join; nil if it may.
	Refuses(v room.View) error
	// Joining returns what a join compares and writes beside what it always does.
	Joining(v room.View) ([]registry.Condition, []registry.Write)
	// Joined takes in that the state shows this instance under the present session, and Left that it is
	// taken out by itself.
	Joined(v room.View)
	Left()
	// MistakesLeave tells whether one of them takes it for a crash if this instance leaves now, in order, and runs again what it
	// has or runs: unless nothing runs here, and it gives its items up as it goes.
	MistakesLeave(v room.View) bool
	// Gone tells that this instance is not in the tree any more although it has not left, and, when that is
	// certain, that it was shut down so. Until then it must not join.
	Gone(v room.View) (gone, shutDown bool)
}

// Leaders are the others as leaders, and as those to whom a leader gives items.
type Leaders interface {
	// LeaderDeclaresNone tells that the job's leader declares no execution of ours lost.
	LeaderDeclaresNone(v room.View) bool
	// HoldBackMoves returns a function that tells whether a move has to wait now; nil if none has to.
	HoldBackMoves(v room.View) func(from, to string) bool
	// MovesDue tells, once, that moves that were held back may be made, and Planned takes in the items whose moves a plan
	// holds back.
	MovesDue() bool
	Planned(held []int)
	// Urge proposes to ask a leader for what it forgot.
	Urge(v room.View) room.Batch
	// InForce returns the configuration by which to go on, if the others do not go by the stored one.
	InForce(v room.View, stored *job.Config) *job.Config
}

// Executors are the others as those who run items.
type Executors interface {
	// MayBegin tells whether anything may begin now, and Beginning returns what a begin compares beside what
	// it always does.
	MayBegin(v room.View) bool
	Beginning(v room.View) []registry.Condition
	// MaybeLost tells whether an item waits until it is settled whether one of them lost it.
	MaybeLost(item int) bool
	// TakenOff tells whether one of them has claimed an item of ours, to run again what was lost, or an item is about to be
	// moved, and cannot be while it runs: until that is over, its owner begins nothing of it.
	TakenOff(v room.View, node jobtree.Item) bool
	// MakesRoom tells whether what runs of an item here keeps it from another instance that is to have it, and RoomsChange, once,
	// that this may be so of others by now.
	MakesRoom(v room.View, item int) bool
	RoomsChange() bool
	// Taken tells whether one of them has run a lost execution of ours again, which the item's record has yet to say.
	Taken(v room.View, item int) bool
	// PastKnown tells whether it is known what an item ran for before it came here.
	PastKnown(node jobtree.Item) bool
	// StillDue hears after each decision. due tells whether fires of items have come that have not begun here.
	StillDue(v room.View, due func() bool)
	// Theirs tells whether one of them may have run an item for a fire while this process was away, or heard nothing, and had lost
	// the item by that.
	Theirs(item int, fire time.Time) bool
	// Successor tells of an item that came off this instance, or that nothing runs of here any more, whether it is not settled yet
	// who gets it, and whether who has got it runs for the newest tick without being told.
	Successor(v room.View, item int) (unsettled, runsNewest bool)
	// Unnamed lists the fires that an item missed by a note that does not name them.
	Unnamed(v room.View, node jobtree.Item) []time.Time
	// Claims yields the items whose lost executions this instance is to claim although they may be another's.
	// busy tells whether something of an item runs here, or may.
	Claims(v room.View, busy func(item int) bool) iter.Seq[int]
	// Claiming returns in which latch claims are made, empty for none, and what they compare beside what they
	// always do.
	Claiming(v room.View) (latch string, guards []registry.Condition)
}

// Reporter tells of the others what nobody else knows. It is safe for concurrent use.
type Reporter interface {
	// TheirsUntil returns until when an item was the others' business: nobody here knows for what fires it ran
	// up to then. always means that it still is.
	TheirsUntil(item int, owner string) (until time.Time, always bool)
	// Statistics returns what was seen of an item's executions elsewhere; nil if nothing was and its owner is
	// none of them.
	Statistics(item int, owner string) *Statistics
}

// Statistics are what a process saw of executions of others.
type Statistics struct {
	Runs      int64
	Instance  string    // that ran it last
	LastBegin time.Time // of the last one
	LastEnd   time.Time // zero while it runs
}
