package rounds

import (
	"errors"
	"iter"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/load"
	"github.com/elasticron/elasticron/scheduler/internal/missed"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Ports are what the room may ask of the process.
type Ports interface {
	executions.Ports
	Hooks() Hooks
	Admission() *admission.Admission
	Load() *load.Load
	// Look returns what the runner knows when a message comes.
	Look() room.View

	// ToldEarly tells whether the job was told of a fire early, and is told of it again when it comes.
	ToldEarly() bool
	// SetHeadStart has the job told of its fires so long before they come, as far as the process lets it.
	SetHeadStart(d time.Duration)

	// Await has the state show soon what was committed at a revision, however little of the job it follows.
	Await(revision registry.Revision)
	// FireAhead hears of a fire that does not begin yet, as it lies ahead of the registry's clock.
	FireAhead(fire time.Time)
	SetAside(v room.View, node jobtree.Item, now time.Time) room.Batch
	Lost(v room.View, item int, here registry.Revision) (lost, wait bool)
	DeclareLost(v room.View, item int) room.Batch
	// InLatch commits a transaction in a latch, and calls settled in a message.
	InLatch(latch string, under *room.Attachment, txn registry.Txn, settled func(registry.Revision, error))
	// Held is that of [room.Denials].
	Held(step, path string) time.Duration
	// ClaimOver hears how a claim in a latch ended, that writes a path first.
	ClaimOver(item int, path string, err error)
	// EndRefused hears that the end of an execution was refused for good, before that is reported; Overtaken hears
	// after it of a conflict.
	EndRefused(e *executions.Execution, why error)
	Overtaken(conflict *registry.ConflictError)
}

// Rounds are what an instance runs of a job.
type Rounds struct {
	ports      Ports
	settings   *configuration.Settings // in force
	missed     *missed.Fires
	executions *executions.Executions

	items      map[int]*item     // those that are mine, or still run here
	owned      []int             // the items assigned to this instance, ascending
	task       string            // names them; empty until something begins
	turns      *turns            // of items that wait until they may begin; nil while there are none
	place      admission.Place   // among the jobs whose items wait
	dozing     dozing            // those of them for which nothing but their turn can come
	ahead      *policy.Ahead     // fires that may not begin yet, as this process's clock is ahead; nil = none
	held       *held             // rounds whose fires are still to come; nil while there are none
	toConsider actor.Lookout     // items of which something may begin
	claiming   int               // the item of which a claim in a latch is under way; noItem = none
	answered   registry.Revision // the newest triggered node for which nothing more is to run here

	settled, settledKnown bool // the assignment was, after the last step that might matter to it; see isSettled

	stale  bool  // owned must be computed anew
	lacked bool  // an item has missed the newest fire for want of its turn
	lead   int32 // the first of those that did, of the last fire that any did: items take their turns from there on

	stride *stride // how many may begin together
}

// noItem is the number of none.
const noItem = -1

// New makes the room of a job.
func New(ports Ports) *Rounds {
	r := &Rounds{ports: ports, settings: configuration.None(), stale: true, claiming: noItem}
	r.missed = missed.New(ports, r)
	r.executions = executions.New(ports, forExecutions{r})
	return r
}

// forExecutions is what the part that runs items may ask of all.
type forExecutions struct{ *Rounds }

// All implements [executions.Rounds].
func (x forExecutions) All() iter.Seq[*executions.Execution] { return x.Running() }

// Of implements [executions.Rounds].
func (x forExecutions) Of(item int) *executions.Execution { return x.running(item) }

// NoteAtEnd implements [executions.Rounds].
func (x forExecutions) NoteAtEnd(v room.View, item int, due policy.Due, noted jobtree.Stored[jobtree.Misfire], ran time.Time) ([]registry.Condition, []registry.Write) {
	return x.missed.NoteAtEnd(v, x.ports.Peers(), item, due, noted, ran)
}

// Closed implements [executions.Rounds].
func (x forExecutions) Closed(e *executions.Execution, o registry.Outcome) { x.closed(e, o) }

// Over implements [executions.Rounds].
func (x forExecutions) Over(o registry.Outcome) {
	var conflict *registry.ConflictError
	if errors.As(o.Err, &conflict) {
		x.ports.Overtaken(conflict)
	}
}

// Before takes in a step of the view that the state does not show yet.
func (r *Rounds) Before(v room.View, step registry.Step) {
	r.dropFormerLife(v, step)
	r.dropFormerLives(v, step)
	r.dropTheirs(v, step)
	r.missed.Before(v, step)
}

// Observe takes in what a step of the view has changed.
func (r *Rounds) Observe(t jobtree.Touched) {
	r.stale = r.stale || t.Config || t.Epoch || t.Owners // to find out who owns what takes a look at all items
	if t.Config || t.Epoch || t.Instances || t.Necessary || t.Owners {
		r.settledKnown = false
	}
	r.rouseTouched(t.Items)
	r.toConsider.Note(t.Items, t.Config || t.Epoch || t.Servers || t.Instances || t.Triggered)
	r.executions.Observe(t)
}

// LookAgain marks items to be looked at once more: something of them may begin.
func (r *Rounds) LookAgain(items ...int) { r.toConsider.Add(items...) }

// LookAgainAtAll is LookAgain of all items.
func (r *Rounds) LookAgainAtAll() { r.toConsider.AddAll() }

// Stale takes in that more items are followed: the list of my items is to be made anew, and with what comes to be known of
// others' the assignment may be settled.
func (r *Rounds) Stale() { r.stale, r.settledKnown = true, false }

// Adopt takes in the settings by which the job goes on, or pauses.
func (r *Rounds) Adopt(v room.View, next *configuration.Settings) {
	r.rouseAll()
	paused := !r.settings.OK
	r.settings, r.settledKnown = next, false
	for _, it := range r.items {
		it.early = time.Time{} // by other settings it may be no fire
	}
	if !next.OK {
		r.executions.Pause() // what waits and goes on does so under the bound that it had
		return
	}
	r.executions.Bound(next.MaxRunning)
	r.missed.Adopt(v, paused)
	for _, it := range r.items {
		it.Due.Missed = next.Rules.Keep(it.Due.Missed)
	}
}

// TakenUp takes in that the job goes on by new settings.
func (r *Rounds) TakenUp(v room.View) {
	r.missed.Observe(v, r.ports.Traits(), jobtree.Touched{})
	r.toConsider.AddAll()
}

// Missed are the fires that items miss. When the job fires by other times, or the clock was wrong, all of this room has to
// know: see [Rounds.FireBy], [Rounds.Overhear] and [Rounds.ClockWrong].
func (r *Rounds) Missed() *missed.Fires { return r.missed }

// Executions are those of this process.
func (r *Rounds) Executions() *executions.Executions { return r.executions }

// Running yields the executions of this process that have not ended.
func (r *Rounds) Running() iter.Seq[*executions.Execution] {
	return func(yield func(*executions.Execution) bool) {
		for _, it := range r.items {
			if it.running != nil && !yield(it.running) {
				return
			}
		}
	}
}

func (r *Rounds) running(n int) *executions.Execution {
	if it := r.items[n]; it != nil {
		return it.running
	}
	return nil
}

// RunningHere returns the token of the execution of an item that has not ended in this process; 0 = none.
func (r *Rounds) RunningHere(n int) registry.Revision {
	if e := r.running(n); e != nil {
		return e.Token
	}
	return 0
}

// Busy tells whether an execution of this process has not ended yet, or listeners are still told of it.
func (r *Rounds) Busy() bool {
	if r.executions.Listening() || r.claiming != noItem {
		return true
	}
	for range r.Running() {
		return true
	}
	return false
}

// Owned is how many items are assigned to this instance.
func (r *Rounds) Owned() int { return len(r.owned) }

// Has tells whether anything is known of an item beyond the registry: what runs here, or what is due of it.
func (r *Rounds) Has(n int) bool { return r.items[n] != nil || r.claiming == n }

// Idle tells whether nothing of an item runs here, and the state shows all that this process wrote of it.
func (r *Rounds) Idle(v room.View, n int) bool {
	if r.claiming == n {
		return false // what a claim brought about may be shown before its answer is
	}
	it := r.items[n]
	return it == nil || it.running == nil && it.wrote <= v.Applied
}

// closed forgets an execution whose end was recorded or refused for good.
func (r *Rounds) closed(e *executions.Execution, o registry.Outcome) {
	it := r.items[e.Item]
	it.running = nil
	r.toConsider.Add(e.Item)
	it.wrote = max(it.wrote, o.Revision)
	if !r.ports.Look().Owns(e.Item) {
		delete(r.items, e.Item)
	}
	if o.Err != nil {
		r.ports.EndRefused(e, o.Err)
	}
}
