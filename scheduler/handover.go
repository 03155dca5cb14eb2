package scheduler

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Missed fires belong to their item, not to who missed them. Whoever has to leave some of an item to
// others notes them in the item's misfire node: with the end of an execution, whoever owns the item by
// then; when an item that does not run moves; when this instance leaves; and while it must not begin
// anything. A new owner runs what is noted and what its own clock ticked too, each fire once. So it takes
// no more than one who lives and has ticked a fire; see [vouching] for those who are not the item's owner.

// handoverWait is how long the new owner of an item waits for what others may have to say, if there are
// fires that it has not ticked itself, and somebody lives who may have. It is enough for a few commits, and
// less than what makes a fire late.
const handoverWait = 2 * time.Second

// noteTries is how often an instance that leaves tries to note what was missed.
const noteTries = 3

// release has it noted what is due of an item that now belongs to another instance. What still runs here
// goes on, and its end notes it.
func (r *runner) release(n int) {
	it := r.items[n]
	if it == nil {
		return
	}
	it.former, it.came = "", time.Time{}
	switch {
	case n >= r.state.Total():
		it.due = it.due.DropSurplus()
	case !r.records:
		it.due = it.due.DropUnrecorded()
	}
	if it.running == nil {
		r.part(it)
	}
}

// part has an item forgotten that does not run here and is not to run here, once it is noted what is due
// of it.
func (r *runner) part(it *item) {
	if it.due.None() {
		if !r.owns(it.number) {
			delete(r.items, it.number)
		}
		return
	}
	if r.parting == nil {
		r.parting = make(map[int]struct{})
	}
	r.parting[it.number] = struct{}{}
}

// noteMissed notes what is due of items that are not to run here: they moved, this instance leaves, or
// nothing may begin here. It tells whether nothing is left to be noted.
func (r *runner) noteMissed() bool {
	if r.noteTries > noteTries {
		return true
	}
	r.refreshOwned()
	if r.leaving || !r.mayBegin() {
		for _, n := range r.owned {
			if it := r.items[n]; it != nil && it.running == nil {
				r.part(it)
			}
		}
	}
	if !r.state.Config.Exists() { // the job was removed: nothing is made again
		r.parting, r.vouching.told = nil, nil
		return true
	}
	var batch room.Batch
	for _, n := range slices.Sorted(maps.Keys(r.parting)) {
		r.proposeNote(&batch, n)
	}
	r.proposeVouched(&batch)
	r.commitAll(batch)
	return !r.hasToNote()
}

// hasToNote tells whether there are fires to be noted.
func (r *runner) hasToNote() bool { return len(r.parting)+len(r.vouching.told) > 0 }

// giveUpNotes counts the tries of an instance that leaves, and gives up after a few: it is to leave in any
// case. What is lost then is lost as by a crash.
func (r *runner) giveUpNotes() bool {
	if r.noteTries++; r.noteTries <= noteTries {
		return false
	}
	r.log.WarnContext(r.life, "leaving without having noted all missed fires", "items", len(r.parting)+len(r.vouching.told))
	r.parting, r.vouching.told = nil, nil
	return true
}

// proposeNote proposes to note what is due of an item.
func (r *runner) proposeNote(batch *room.Batch, n int) {
	it := r.items[n]
	if it == nil || it.running != nil || r.owns(n) && !r.leaving && r.mayBegin() {
		delete(r.parting, n)
		return
	}
	r.proposeMissed(batch, it, func() {
		delete(r.parting, n)
		if !r.owns(n) && it.running == nil {
			delete(r.items, n)
		}
	})
}

// proposeMissed proposes to note what is due of an item, unless the registry knows. As the record is as it
// was read, nobody has run for a fire meanwhile, and nobody runs for a later one without having seen the
// note.
func (r *runner) proposeMissed(batch *room.Batch, it *item, noted func()) {
	node := r.state.Item(it.number)
	conditions, writes := r.missedNote(it, node.Misfire, node.Record.Value.LastFire)
	if writes == nil {
		noted()
		return
	}
	conditions = append(conditions,
		registry.Unchanged(r.tree.ItemRecord(it.number), node.Record.Revision),
		registry.Unchanged(r.tree.Config(), r.state.Config.Revision))
	// Whoever deletes a note has run for its fires, or the item is none any more by another configuration.
	txn := registry.Txn{If: conditions, Then: writes, Repeat: registry.RepeatCreation}
	batch.Add("note missed fires", txn, func(registry.Outcome) { noted() })
}

// missedNote returns what notes that the fires that are due of an item were missed, beside those that are
// noted already, and the condition for it; nothing if the registry knows all of them. ran is the last fire
// that the item ran for.
func (r *runner) missedNote(it *item, stored jobtree.Stored[jobtree.Misfire], ran time.Time) ([]registry.Condition, []registry.Write) {
	if !r.records || it.number >= r.state.Total() || r.settings.ok && it.number >= r.settings.config.ShardingTotalCount {
		return nil, nil // see DropUnrecorded and DropSurplus; a resharding to fewer items deletes what is noted of the others
	}
	rules := r.settings.rules
	owed := rules.Owed(it.due, rules.Noted(stored.Value, ran, r.times.Name()), ran)
	if owed == nil {
		return nil, nil
	}
	text := jobtree.EncodeMisfire(jobtree.Misfire{Fires: owed, Times: r.times.Name()})
	return []registry.Condition{registry.Unchanged(r.tree.ItemMisfire(it.number), stored.Revision)},
		[]registry.Write{registry.Put(r.tree.ItemMisfire(it.number), text)}
}

// recallNoted makes the fires due that are noted in an item as missed. One that is still to come by this
// clock was not missed.
func (r *runner) recallNoted(it *item, node jobtree.Item, now time.Time) {
	rules := r.settings.rules
	if !rules.On || !r.records || !node.Misfire.Exists() {
		return
	}
	it.due = rules.RecallNoted(it.due, rules.Noted(node.Misfire.Value, node.Record.Value.LastFire, r.times.Name()), now)
}

// noteFormers notes which items a step gives to this instance that another one owned, before the state
// shows it.
func (r *runner) noteFormers(step registry.Step) {
	if !r.settings.rules.All {
		return // a later run stands for what comes to be known late
	}
	for _, change := range step.Changes {
		if !change.New.Exists() {
			continue
		}
		name, ok := jobtree.Parse(change.Path())
		if !ok || name.Job != r.name {
			continue
		}
		owner := change.New.Value
		if name.Kind == jobtree.KindItemNext {
			next, _ := jobtree.DecodeNext(change.New) // of what cannot be read, nobody is the owner
			owner = next.Owner
		} else if name.Kind != jobtree.KindItemInstance {
			continue
		}
		if former := r.state.Owner(name.Item); owner == r.s.instance && former != "" && former != owner {
			if r.formers == nil {
				r.formers = make(map[int]string)
			}
			r.formers[name.Item] = former
		}
	}
}

// expectNote notes that others may have to say what an item missed that came here from another instance.
func (r *runner) expectNote(it *item, former string) {
	if former != "" && r.settings.rules.All && r.records {
		it.former, it.came = former, time.Now()
	}
}

// expectOn has the time for that begin anew, as the item still runs where it was.
func (it *item) expectOn() {
	if it.former != "" {
		it.came = time.Now()
	}
}

// awaitsNote tells whether the fires of an item wait for what its former owner may have missed: a run for
// a later one would bury that.
func (r *runner) awaitsNote(it *item, node jobtree.Item, now time.Time) bool {
	if it.former == "" || it.due.None() {
		return false
	}
	left := handoverWait - time.Since(it.came)
	if left <= 0 || !r.mayBeTold(it) || r.settings.rules.Accounted(&r.witness, it.number, it.due, node.Record.Value.LastFire, now) {
		return false
	}
	r.toConsider.Note([]int{it.number}, false)
	r.alarm.Set(left)
	return true
}

// mayBeTold tells whether somebody lives who may have ticked what this instance has not: the former owner,
// or who was here before it.
func (r *runner) mayBeTold(it *item) bool {
	mine := r.state.Instance(r.s.instance)
	return slices.ContainsFunc(r.state.Instances, func(i jobtree.Instance) bool {
		return i.ID == it.former || i.Created < mine.Created
	})
}
