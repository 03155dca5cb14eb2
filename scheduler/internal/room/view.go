package room

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
)

// View is what a runner knows when it asks a room what to do. It is of that moment, and not to be kept; nothing
// in it is to be changed. To pass it on costs no more than a pointer.
type View struct{ *Facts }

// Facts are what a [View] shows. Those of one moment never change, only what State and Attached point to goes on.
type Facts struct {
	*Process
	Tree     jobtree.Tree
	State    *jobtree.State    // as the registry's view shows it
	Applied  registry.Revision // the state is at least as new as this
	Attached *Attachment       // nil while there is no session
	Leaving  bool              // this instance hands over, and starts nothing
	LeftAt   time.Time         // when this instance was not registered any more because it left; zero = it has not left

	Blind        bool // the registry's view has ended, and the state is what it showed last
	BlindTooLong bool // for longer than others are to wait: this instance hands over as if it left
	Out          bool // this instance leaves the job to others: its clock is wrong, or its process refuses the configuration
	ClockRefused bool // the job's policy does not let this process's clock run fires

	Usable bool // the configuration can be used
	// Refused tells that this process, as it is set up or by its code, refuses a configuration that others may be able to use.
	// It stays while the code has not said yet what it makes of another one.
	Refused bool
	Config  *job.Config   // in force; the zero one if none is
	Rules   *policy.Rules // likewise; they never change

	HeadStart time.Duration // how long before they come fires are told here

	Tokens      jobtree.Tokens // where the fencing tokens start, if that is known
	TokensKnown bool
}

// Job returns the name of the job.
func (f *Facts) Job() string { return f.Tree.Job() }

// Process is what is the same for all jobs.
type Process struct {
	Instance string // the id of this process
	Clock    Clock
}

// Clock is what is known of the time. To ask the registry for its own is not for a decision; see [Ports].
type Clock interface {
	// Now returns the time by this process's wall clock.
	Now() time.Time
	// Passed returns the time by which every fire has come that is not told of again: now, or shortly after, if the clock was
	// set back by little.
	Passed() time.Time
	// Horizon returns the latest fire that a clock in order can have ticked, for whoever doubts what others wrote; zero if the
	// registry has not told its time under the present session.
	Horizon() time.Time
	// Limit returns the latest fire that may begin by this process's clock; zero if nothing is known of the registry's.
	Limit() time.Time
	// Off returns by how much this process's wall clock is ahead of the registry's; negative if it is behind.
	Off() (off time.Duration, known bool)
	// Fresh tells whether the registry told its time within age, under the present session.
	Fresh(age time.Duration) bool
	// Mute tells whether the registry was found unable to tell its time.
	Mute() bool
}

// ToCome returns how long it is until a fire comes by this process's clock; not positive if it has come.
func (v View) ToCome(fire time.Time) time.Duration { return v.Rules.Told(fire).Sub(v.Clock.Now()) }

// Leads tells whether the leader node is this instance's, under the present session.
func (v View) Leads() bool {
	leader := v.State.Leader
	return v.Attached != nil && leader.Created != 0 && leader.Session == v.Attached.Session.ID() && leader.Instance == v.Instance
}

// Registered tells whether the tree has this instance under the present session. After it has left it may be
// there again: the registry carried a join out late.
func (v View) Registered() bool {
	return v.State.Instance(v.Instance).Session == v.Attached.Session.ID()
}

// LeftBefore tells whether this instance was not registered any more at a time because it had left.
func (v View) LeftBefore(at time.Time) bool { return !v.LeftAt.IsZero() && at.After(v.LeftAt) }

// Owns tells whether an item is assigned to this instance, and followed here: one that is not yet is not to be
// dealt with.
func (v View) Owns(item int) bool { return v.State.Owner(item) == v.Instance && v.State.Knows(item) }

// Mine returns the guard that this instance is still registered as the state shows it.
func (v View) Mine() registry.Condition {
	return registry.CreatedAt(v.Tree.Instance(v.Instance), v.State.Instance(v.Instance).Created)
}

// Term returns the guard that this instance still leads as the state shows it.
func (v View) Term() registry.Condition {
	return registry.CreatedAt(v.Tree.Leader(), v.State.Leader.Created)
}

// Resign adds to a transaction what gives up the leadership that the state shows, and asks for the next leader's
// resharding where only leaders ask when members change: what this one has not seen yet, nobody else asks for.
func (v View) Resign(txn *registry.Txn) {
	txn.If = append(txn.If, v.Term())
	txn.Then = append(txn.Then, registry.Delete(v.Tree.Leader()))
	if v.State.OnlyLeadersAsk() {
		v.AskForResharding(txn)
	}
}

// AskForResharding adds to a transaction the request for a resharding, unless it has it, or the items stay where they are
// whoever comes and goes. Of a job that was removed, or has moved to another registry, nothing may be made again.
func (v View) AskForResharding(txn *registry.Txn) {
	path := v.Tree.Necessary()
	asks := slices.ContainsFunc(txn.Then, func(w registry.Write) bool { return w.Path == path })
	if !asks && v.State.Config.Exists() && !v.State.Elsewhere() && v.State.MembersMatter() {
		txn.If = append(txn.If, registry.Present(v.Tree.Config()))
		txn.Then = append(txn.Then, registry.Put(path, ""))
	}
}

// ServerEnabled tells whether this server may take part.
func (v View) ServerEnabled() bool { return v.State.Enabled(v.Instance) }

const (
	// candidateStep sets those apart who would all write the same, so that as a rule only the first one does.
	candidateStep = 25 * time.Millisecond
	// candidateSteps bounds how long the last of many holds back.
	candidateSteps = 20
)

// HoldBack returns how long this instance leaves to those before it what any one of them may do. The oldest comes first:
// it follows all items of a job anyway (package following), so if it leads, nobody else has to.
func (v View) HoldBack() time.Duration {
	mine, rank := v.State.Instance(v.Instance).Created, 0
	for _, i := range v.State.Instances {
		if i.Created < mine {
			rank++
		}
	}
	return time.Duration(min(rank, candidateSteps)) * candidateStep
}

// Settled tells whether the assignment is the one that the members and the settings want, as far as
// anybody can see who is not the leader. With static sharding, items of owners that are gone are where they are wanted. Of
// items that are not followed, the owners are as they were when all moves were over, so after another one it is not known.
func (v View) Settled() bool {
	s := v.State
	if s.Necessary != 0 || s.Outdated() || s.Total() != v.Config.ShardingTotalCount {
		return false
	}
	if s.StaticSharding() {
		return !s.Incomplete()
	}
	for n := range s.Total() {
		if s.Instance(s.Owner(n)).Created == 0 {
			return false
		}
	}
	return true
}

// FailoverLimit is how often in a row a lost execution is run again: by the stored settings while the job pauses, which others
// may be able to use.
func (v View) FailoverLimit() int {
	cfg := v.Config
	if !v.Usable {
		cfg = &v.State.Config.Value
	}
	return inforce.FailoverLimit(*cfg)
}
