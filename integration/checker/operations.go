package checker

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// operation is what an operator wrote down of himself in one commit.
type operation struct {
	jobtree.Operation
	at time.Time
}

// String tells the operation in one line.
func (o operation) String() string {
	return fmt.Sprintf("%s operation %s by %s: %s %s", clock(o.at), o.ID, o.Who, o.Verb, o.Target)
}

// operationOf returns the operation that a step did; nil if it was none.
func (j *judge) operationOf(at time.Time, step registry.Step) *operation {
	path := jobtree.For(j.Job).Operated()
	for _, c := range step.Changes {
		if c.Path() != path || !c.New.Exists() {
			continue
		}
		operated, err := jobtree.DecodeOperated(c.New)
		if err != nil || len(operated.Operations) == 0 {
			return nil
		}
		return &operation{operated.Operations[len(operated.Operations)-1], at}
	}
	return nil
}

// judgeOperation judges whether what an operator wrote down was done, in the same commit, and not before, and that
// nothing it is about had changed since he decided. One may be asked for as often as one likes; a backfill alone goes on
// under its id.
func (j *judge) judgeOperation(o *operation) {
	if o == nil {
		return
	}
	if first := j.operations[o.ID]; first != nil && operate.Verb(o.Verb) != operate.VerbBackfill {
		j.find(Intent, o.at, NoItem, "an operation was done twice", first, o)
	}
	j.operations[o.ID] = o
	if !j.wasDone(o) {
		j.find(Intent, o.at, NoItem, "an operation was written down that was not done", o)
	}
	for _, path := range j.about(o) {
		if decided := o.When.Add(j.rules.Skew + j.jitter()); !o.When.IsZero() && j.changed[path].After(decided) {
			j.find(Intent, o.at, NoItem, fmt.Sprintf("an operation was decided at %s, before %s changed at %s", clock(o.When), path, clock(j.changed[path])), o)
		}
	}
}

// about returns the nodes that an operation goes by, of those that it names.
func (j *judge) about(o *operation) []string {
	tree := jobtree.For(j.Job)
	paths := []string{tree.Config(), tree.Operated()}
	switch on := targetOf(o); operate.Verb(o.Verb) {
	case operate.VerbTrigger, operate.VerbBackfill:
		return append(paths, tree.Triggered())
	case operate.VerbDisableItem, operate.VerbEnableItem:
		return append(paths, tree.ItemDisabled(on.item))
	case operate.VerbDisableServer, operate.VerbEnableServer:
		return append(paths, tree.Server(on.server))
	case operate.VerbGiveUp:
		return append(paths, tree.ItemRecord(on.item))
	case operate.VerbShutDown:
		return append(paths, tree.Instance(on.instance))
	default:
		return paths
	}
}

// noteChanges notes when nodes changed that operations are about. Of an instance it counts that it came. A node that is
// gone counts for nothing: an operator who goes by its absence need not know that it was there for a moment.
func (j *judge) noteChanges(at time.Time, step registry.Step) {
	for _, c := range step.Changes {
		name, ok := jobtree.Parse(c.Path())
		if !ok || name.Job != j.Job {
			continue
		}
		switch name.Kind {
		case jobtree.KindConfig, jobtree.KindOperated, jobtree.KindTriggered, jobtree.KindItemDisabled, jobtree.KindServer, jobtree.KindItemRecord, jobtree.KindInstance:
			switch {
			case !c.New.Exists():
				delete(j.changed, c.Path())
			case name.Kind != jobtree.KindInstance || c.New.Created != c.Old.Created:
				j.changed[c.Path()] = at
			}
		}
	}
}

// target is what an operation was done to, of which it names one at most.
type target struct {
	item             int
	server, instance string
}

func targetOf(o *operation) target {
	on := target{item: NoItem}
	_, _ = fmt.Sscanf(o.Target, "item %d", &on.item)
	_, _ = fmt.Sscanf(o.Target, "server %s", &on.server)
	_, _ = fmt.Sscanf(o.Target, "instance %s", &on.instance)
	return on
}

// wasDone tells whether the step that wrote an operation down is what it is called.
func (j *judge) wasDone(o *operation) bool {
	was, is, on := j.before, j.now, targetOf(o)
	item, server, instance := on.item, on.server, on.instance
	changed := was.Config.Revision != is.Config.Revision
	switch operate.Verb(o.Verb) {
	case operate.VerbTrigger, operate.VerbBackfill:
		return was.Triggered().Revision != is.Triggered().Revision && is.Triggered().Exists()
	case operate.VerbDisableJob, operate.VerbRemove:
		return changed && is.Config.Value.Disabled || is.Config.Err != nil || !is.Config.Exists()
	case operate.VerbEnableJob:
		return changed && !is.Config.Value.Disabled
	case operate.VerbDisableItem, operate.VerbEnableItem:
		return was.Disabled(item) != is.Disabled(item) && is.Disabled(item) == (operate.Verb(o.Verb) == operate.VerbDisableItem)
	case operate.VerbDisableServer, operate.VerbEnableServer:
		return was.Server(server).Disabled != is.Server(server).Disabled && is.Server(server).Disabled == (operate.Verb(o.Verb) == operate.VerbDisableServer)
	case operate.VerbSettings, operate.VerbRollBack:
		return changed && is.Config.Err == nil && (was.Config.Err != nil || was.Config.Value.Disabled == is.Config.Value.Disabled)
	case operate.VerbCreate:
		return !was.Config.Exists() && is.Config.Exists()
	case operate.VerbGiveUp:
		return was.Item(item).Record.Value.State == jobtree.ItemWaiting && is.Item(item).Record.Value.State == jobtree.ItemInterrupted
	case operate.VerbReshard:
		return is.Necessary != 0 && is.Necessary != was.Necessary
	case operate.VerbShutDown:
		return is.Instance(instance).Shutdown && !was.Instance(instance).Shutdown
	case operate.VerbTidy:
		return len(is.Servers) < len(was.Servers)
	default: // a declaration in code
		return changed
	}
}

// gaveUp tells whether a step is that an operator gave an item up.
func (j *judge) gaveUp(n int) bool {
	return j.operation != nil && operate.Verb(j.operation.Verb) == operate.VerbGiveUp && j.operation.Target == fmt.Sprintf("item %d", n)
}

// isRemoval tells whether a step is that an operator removed the job, with all that is known of it, or a part of that.
// Before, he must have had it disabled and have seen that nothing runs.
func (j *judge) isRemoval(step registry.Step) bool {
	path := jobtree.For(j.Job).Operated()
	removing, stored, only := j.removing, false, true
	for _, c := range step.Changes {
		if c.Path() == path {
			operated, err := jobtree.DecodeOperated(c.New)
			j.removing = c.New.Exists() && err == nil && operated.Removing != ""
		}
		only = only && !c.New.Exists()
		// What sessions own goes with them, too, and without its configuration the job is only paused.
		stored = stored || !c.Old.Ephemeral() && c.Path() != jobtree.For(j.Job).Config()
	}
	return removing && only && stored && !j.now.Config.Exists()
}

// removed judges the removal of a job, and takes its executions for over: nobody owes them any more.
func (j *judge) removed(at time.Time) {
	for n := range j.before.Items() {
		if running := j.before.Item(n).Running; running.Exists() {
			j.find(Intent, at, n, fmt.Sprintf("the job was removed while session %s ran the item", running.Session), maybe(j.open[n])...)
		}
		delete(j.untold, n)
	}
	for n, e := range j.open {
		e.closed = at
		delete(j.open, n)
	}
	clear(j.operations)
	j.removals = append(j.removals, at)
}

// life returns how often the job had been removed before a time. What was known of its items went with it.
func (j *judge) life(at time.Time) int {
	n := 0
	for n < len(j.removals) && !j.removals[n].After(at) {
		n++
	}
	return n
}

// away returns the times for which an instance stays out of the job because an operator told it to leave: until its
// process starts anew, or at all if its session ended before it heard.
func (j *judge) away(instance string) spans {
	var all spans
	for _, at := range j.told[instance] {
		until := j.End
		for _, i := range j.Incidents {
			if i.Kind == Started && i.Instance == instance && i.From.After(at) && i.From.Before(until) {
				until = i.From
			}
		}
		all = append(all, span{at, until})
	}
	return all
}
