package operate

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// TriggerState says how far an item has come with a trigger.
type TriggerState string

// The states of an item of a trigger. The first three are on the way, the others final.
const (
	ItemAsked       TriggerState = "asked"       // it has not begun
	ItemRuns        TriggerState = "running"     // it runs for the trigger
	ItemRerun       TriggerState = "waiting"     // it was lost or cut short, and is to run again
	ItemSucceeded   TriggerState = "ok"          // it ran, and returned no error
	ItemFailed      TriggerState = "failed"      // it returned an error
	ItemInterrupted TriggerState = "interrupted" // it was cut short, and does not run again
	ItemLost        TriggerState = "lost"        // its process died, and it does not run again
	ItemRan         TriggerState = "ran"         // it ran, and ran again since: how it ended is not recorded any more
	ItemDisabled    TriggerState = "disabled"    // it does not begin, unless it is enabled within the trigger's time
	ItemSurplus     TriggerState = "surplus"     // it does not begin, as there is no such item any more, or the job got another number of them before it had ever run
	ItemReplaced    TriggerState = "replaced"    // it does not begin, as another trigger took the place of this one
	ItemLate        TriggerState = "late"        // it did not begin in time
	ItemTaken       TriggerState = "taken"       // a Java instance took the trigger; Java records no executions
)

// final tells whether nothing follows.
func (s TriggerState) final() bool { return s != ItemAsked && s != ItemRuns && s != ItemRerun }

// ItemProgress says how far one item has come with a trigger.
type ItemProgress struct {
	Item     int           `json:"item"`
	State    TriggerState  `json:"state"`
	Instance string        `json:"instance,omitempty"` // that ran it, or is to
	Began    time.Time     `json:"began,omitzero"`
	Took     time.Duration `json:"took,omitempty"`  // in nanoseconds
	Token    int64         `json:"token,omitempty"` // fencing token
	Error    string        `json:"error,omitempty"`
}

// triggeredBy returns the number of the trigger that an operation made, if no other took its place; else 0. Others are also
// those that no operator made: a process asks for runs of its own job by a handle, or somebody puts the node by hand.
func (w *world) triggeredBy(id, target string) registry.Revision {
	trigger := w.state.Triggered()
	if op, _ := w.operated.Value.Find(id); op.Target == target && trigger.Value.Operation == id {
		return trigger.Revision
	}
	return 0
}

// becameOf tells how far an item has come with a trigger.
func (w *world) becameOf(item int, trigger registry.Revision) ItemProgress {
	it := w.state.Item(item)
	p := ItemProgress{Item: item, Instance: w.state.Owner(item)}
	answer, e := it.Record.Value.AnswerTo(trigger)
	if e != nil {
		p.Instance, p.Began, p.Took, p.Token, p.Error = e.Instance, e.Begin, e.Duration(), it.Record.Value.GivenToken(e, it.Record.Revision), e.Error
	}
	asked := w.state.Triggered()
	switch {
	case answer == jobtree.Answering && it.Record.Value.State == jobtree.ItemWaiting:
		p.State = ItemRerun
	case answer == jobtree.Answering:
		p.State = ItemRuns
	case answer == jobtree.Answered && e != nil:
		p.State = map[jobtree.Outcome]TriggerState{
			jobtree.Success: ItemSucceeded, jobtree.Failure: ItemFailed, jobtree.Interrupted: ItemInterrupted, jobtree.Lost: ItemLost,
		}[e.Outcome]
	case answer == jobtree.Answered:
		p.State = ItemRan
	case answer == jobtree.Passed, asked.Revision != trigger:
		p.State = ItemReplaced
	case item >= w.total(), !w.java && !w.state.Reachable(item, trigger):
		p.State = ItemSurplus
	case it.Disabled:
		p.State = ItemDisabled
	case asked.Err == nil && !asked.Value.Asks(item): // it had begun before the job moved, which left the others to be asked
		p.State = ItemRan
	case w.java && jobtree.JavaInstance(p.Instance):
		p.State = w.byJava(it, p.Instance)
	case asked.Value.Over(w.now.Add(-inforce.ClockTolerance)):
		p.State = ItemLate
	default:
		p.State = ItemAsked
	}
	return p
}

// byJava tells by its marks how far an item has come that a Java instance owns.
func (w *world) byJava(it jobtree.Item, owner string) TriggerState {
	switch {
	case w.state.Instance(owner).Triggered:
		return ItemAsked
	case it.Running.Exists():
		return ItemRuns
	default:
		return ItemTaken
	}
}

// unrecorded says of a trigger that nobody will see whether its items have run.
const unrecorded = "executions are not recorded"

// triggerFollowed tells how far each item has come with a trigger.
func triggerFollowed(w *world, t Trigger, r Result) Progress {
	cfg := w.state.Config
	op, _ := w.operated.Value.Find(r.ID)
	switch {
	case !cfg.Exists():
		return Progress{Overtaken: true, Text: jobRemoved}
	case r.Revision == 0 && op.Begun:
		return begunElsewhere(w, t)
	case r.Revision == 0:
		return Progress{Overtaken: true, Text: "it was triggered before this call, under a number that is not known here"}
	case !w.java && w.state.Triggered().Revision == r.Revision && w.state.Triggered().Value.Each:
		return done(unrecorded)
	case cfg.Err == nil && !cfg.Value.Monitored() && r.Verb == VerbBackfill: // the next fire is not to take its place
		return Progress{Overtaken: true, Text: "executions are not recorded any more, so whether its items have run cannot be seen"}
	case cfg.Err == nil && !cfg.Value.Monitored():
		return done(unrecorded)
	}
	items := w.asked(t)
	p := Progress{Of: len(items), Text: "items have run, or will not"}
	for _, item := range items {
		became := w.becameOf(item, r.Revision)
		if became.State.final() {
			p.Ready++
		}
		p.Items = append(p.Items, became)
	}
	if p.Done = p.Ready == p.Of; !p.Done && w.state.Triggered().Revision == r.Revision {
		end := w.state.Triggered().Value.Until.Add(inforce.ClockTolerance)
		if !end.Before(w.now) {
			p.again = end
		}
	}
	return p
}

// desertedFor is how long somebody waits for a trigger while nobody lives who would run it: longer than a process takes to
// start anew.
const desertedFor = time.Minute

// followsTrigger is [triggerFollowed], and says at once why nothing begins for the trigger. It is overtaken when somebody has
// brought that about, or nobody has lived for long.
func followsTrigger(t Trigger) func(w *world, r Result) Progress {
	var since time.Time // when nobody lived any more
	return func(w *world, r Result) Progress {
		p := triggerFollowed(w, t, r)
		why, byIntent := w.heldUp(p.Items)
		if p.Done || p.Overtaken || why == "" {
			since = time.Time{}
			return p
		}
		p.Text, p.Overtaken = "nothing begins for it, as "+why, byIntent
		switch {
		case len(w.state.Instances) > 0:
			since = time.Time{}
			return p
		case since.IsZero():
			since = w.now
		}
		end := since.Add(desertedFor)
		p.Overtaken = p.Overtaken || !w.now.Before(end)
		if p.again.IsZero() || end.Before(p.again) {
			p.again = end
		}
		return p
	}
}

// heldUp says why none of the items that a trigger waits for begins soon, if none runs for it; empty if some may. byIntent
// tells that somebody has brought it about: then it is not over by itself.
func (w *world) heldUp(items []ItemProgress) (why string, byIntent bool) {
	if slices.ContainsFunc(items, func(it ItemProgress) bool { return it.State == ItemRuns }) {
		return "", false
	}
	operated := w.operated.Value
	switch moving := operated.Moving; {
	case operated.Removing != "":
		return "the job is being removed" + w.since(VerbRemove, ""), true
	case moving != nil && !w.staysDisabled(): // it arrives with what was asked of it
		return fmt.Sprintf("the job was stopped to be moved to registry %q", moving.To), false
	case w.state.JobDisabled(), operated.DisabledServers != nil:
		return "the job was disabled" + w.since(VerbDisableJob, ""), true
	case len(w.state.Instances) == 0:
		return "no instance of the job lives any more", false
	case leaderless(w.state):
		return nobodyLeads, false
	case len(w.enabled(nil)) > 0:
		return "", false
	}
	for _, op := range slices.Backward(operated.Operations) {
		if op.Verb == string(VerbDisableServer) {
			return "the servers of all instances are disabled (" + credit(op) + ")", true
		}
	}
	return "no instance of the job lives any more that is enabled and stays", false
}

// begunElsewhere is how far a trigger is that the job has left behind in another registry: it moves when nothing of it runs,
// and all items had run for it, and well. Their records here do not tell for which request they ran.
func begunElsewhere(w *world, t Trigger) Progress {
	items := w.asked(t)
	p := Progress{
		Done: true, Of: len(items), Ready: len(items),
		Text: "items had run for it when the job came from another registry",
	}
	for _, item := range items {
		became := ItemProgress{Item: item, Instance: w.state.Owner(item), State: ItemRan}
		if w.state.Item(item).Disabled {
			became.State = ItemDisabled
		}
		p.Items = append(p.Items, became)
	}
	return p
}

// Failed returns the items of a trigger that have not run to a good end, and never will for it. Items that are
// disabled, or are none any more, have not failed.
func (p Progress) Failed() (items []ItemProgress) {
	for _, it := range p.Items {
		switch it.State {
		case ItemFailed, ItemInterrupted, ItemLost, ItemReplaced, ItemLate:
			items = append(items, it)
		}
	}
	return items
}
