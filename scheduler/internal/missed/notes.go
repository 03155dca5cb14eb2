package missed

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// handoverWait is how long the new owner of an item waits for what others may have to say, if there are
// fires that it has not ticked itself, and somebody lives who may have. It is enough for a few commits, and
// less than what makes a fire late.
const handoverWait = 2 * time.Second

// mostTries is how often an instance that leaves tries to note what was missed.
const mostTries = 3

// Release drops what is due of an item that now belongs to another instance and that nobody would run.
func (f *Fires) Release(v room.View, n int, it *Item) {
	it.ForgetFormer()
	switch {
	case v.State.Surplus(n):
		it.Due = it.Due.DropSurplus()
	case !f.records:
		it.Due = it.Due.DropUnrecorded()
	}
}

// LetGo marks an item that does not run here and is not to run here: what is due of it must be noted.
func (f *Fires) LetGo(n int) {
	if f.letGo == nil {
		f.letGo = make(map[int]struct{})
	}
	f.letGo[n] = struct{}{}
}

// Leftover tells what a process has of an item that may have to be noted.
type Leftover interface {
	// Leftover returns what is due of an item that is not to run here. ok is false if there is nothing to be
	// known of it, or it runs here or is to.
	Leftover(item int) (due policy.Due, ok bool)
	// Noted hears that all of that is noted.
	Noted(item int)
}

// Decide proposes to note what is due of items that are not to run here: they moved, this instance leaves, or
// nothing may begin here; and then what was missed of items of others. left tells that this instance has left, tells that one
// that leaves has time yet to speak of others' items.
func (f *Fires) Decide(v room.View, executors peers.Executors, traits peers.Traits, items Leftover, left, tells bool) room.Batch {
	if !v.State.Config.Exists() { // the job was removed: nothing is made again
		f.StopNoting()
		return nil
	}
	return append(f.noteLetGo(v, executors, items), f.vouched(v, traits, left, tells)...)
}

// noteLetGo proposes to note what is due of items that are not to run here, once it is settled who gets them.
func (f *Fires) noteLetGo(v room.View, executors peers.Executors, items Leftover) (batch room.Batch) {
	if len(f.letGo) == 0 { // as a rule, and this is asked after every change
		return nil
	}
	for _, n := range slices.Sorted(maps.Keys(f.letGo)) {
		due, ok := items.Leftover(n)
		if !ok {
			delete(f.letGo, n)
			continue
		}
		due, settled := f.toNote(v, executors, n, due)
		if !settled {
			continue
		}
		batch = append(batch, f.note(v, n, due, func() {
			delete(f.letGo, n)
			items.Noted(n)
		})...)
	}
	return batch
}

// toNote returns what of the due fires of an item is to be noted: all that whoever gets the item does not run without being
// told. While it is not settled who does, it is what came before the newest.
func (f *Fires) toNote(v room.View, executors peers.Executors, item int, due policy.Due) (_ policy.Due, settled bool) {
	unsettled, runsNewest := executors.Successor(v, item)
	unsettled = unsettled && !v.Leaving
	if unsettled || runsNewest {
		due = due.Without(f.last.fire)
	}
	return due, !unsettled
}

// NoteAtEnd returns what notes the missed fires of an item with the end of an execution. What is not to be noted yet then,
// is noted when the item moves.
func (f *Fires) NoteAtEnd(v room.View, executors peers.Executors, item int, due policy.Due, stored jobtree.Stored[jobtree.Misfire], ran time.Time) ([]registry.Condition, []registry.Write) {
	due, _ = f.toNote(v, executors, item, due)
	return f.noting(v, item, due, stored, ran)
}

// Exhausted tells that an instance that leaves has tried often enough.
func (f *Fires) Exhausted() bool { return f.tries > mostTries }

// ResetTries counts the tries anew.
func (f *Fires) ResetTries() { f.tries = 0 }

// TryNoting counts the tries of an instance that leaves, and tells whether they are too many: it is to leave in any
// case. What is lost then is lost as by a crash.
func (f *Fires) TryNoting() (tooMany bool) {
	if f.tries++; f.tries <= mostTries {
		return false
	}
	f.ports.Log().WarnContext(f.ports.Life(), "leaving without having noted all missed fires", "items", len(f.letGo)+len(f.vouching.toTell))
	f.StopNoting()
	return true
}

// StopNoting forgets what is to be noted.
func (f *Fires) StopNoting() { f.letGo, f.vouching.toTell = nil, nil }

// StopTelling forgets what there is to tell of items of others.
func (f *Fires) StopTelling() { f.vouching.toTell = nil }

// ToNote is of how many items there are fires to be noted.
func (f *Fires) ToNote() int { return len(f.letGo) + len(f.vouching.toTell) }

// note proposes to note what is due of an item, unless the registry knows. As the record is as it
// was read, nobody has run for a fire meanwhile, and nobody runs for a later one without having seen the
// note. A begin that stands may be taken back: what it passed over is noted, and stays so, until it has run.
func (f *Fires) note(v room.View, n int, due policy.Due, noted func()) room.Batch {
	node := v.State.Item(n)
	ran := node.Record.Value.LastFire
	if node.Record.Value.State == jobtree.ItemRunning {
		ran = node.Record.Value.Before.LastFire
	}
	conditions, writes := f.noting(v, n, due, node.Misfire, ran)
	if writes == nil {
		noted()
		return nil
	}
	conditions = append(conditions,
		registry.Unchanged(v.Tree.ItemRecord(n), node.Record.Revision),
		registry.Unchanged(v.Tree.Config(), v.State.Config.Revision))
	// Whoever deletes a note has run for its fires, or the item is none any more by another configuration.
	txn := registry.Txn{If: conditions, Then: writes, Repeat: registry.RepeatCreation}
	return room.Batch{{Step: "note missed fires", Txn: txn, Done: func(registry.Outcome) { noted() }}}
}

// noting returns what notes that the fires that are due of an item were missed, beside those that are
// noted already, and the condition for it; nothing if the registry knows all of them. ran is the last fire
// that the item ran for.
func (f *Fires) noting(v room.View, n int, due policy.Due, stored jobtree.Stored[jobtree.Misfire], ran time.Time) ([]registry.Condition, []registry.Write) {
	if !f.records || n >= v.State.Total() || v.Usable && n >= v.Config.ShardingTotalCount {
		return nil, nil // see DropUnrecorded and DropSurplus; a resharding to fewer items deletes what is noted of the others
	}
	owed := v.Rules.Owed(due, v.Rules.Noted(stored.Value, ran, f.times), ran)
	if owed == nil {
		return nil, nil
	}
	text := jobtree.EncodeMisfire(jobtree.Misfire{Fires: owed, Times: f.times})
	return []registry.Condition{registry.Unchanged(v.Tree.ItemMisfire(n), stored.Revision)},
		[]registry.Write{registry.Put(v.Tree.ItemMisfire(n), text)}
}

// Recall makes the fires due again for which an execution was begun and not run, those before them that it passed over,
// and those that are noted in the item as missed.
func (f *Fires) Recall(v room.View, it *Item, node jobtree.Item, now time.Time) {
	it.Due = v.Rules.Recall(it.Due, &f.witness, node.Number, node.Record.Value, now)
	if !v.Rules.On || !f.records || !node.Misfire.Exists() {
		return
	}
	noted := v.Rules.Noted(node.Misfire.Value, node.Record.Value.LastFire, f.times)
	it.Due = v.Rules.RecallNoted(it.Due, noted, now)
}

// Forget proposes to delete what is noted of an item if it counts for nothing by the settings in force: they may be changed
// back. It came under other times, or missed fires are not made up, or what ran since is in no record. What Java notes names no
// fire, and is left to Java.
func (f *Fires) Forget(v room.View, node jobtree.Item) room.Batch {
	note, path := node.Misfire, v.Tree.ItemMisfire(node.Number)
	counts := f.records && v.Rules.On && (note.Value.Times == "" || note.Value.Times == f.times)
	if counts || len(note.Value.Fires) == 0 {
		return nil
	}
	return room.Batch{{Step: "forget missed fires", Txn: registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, note.Revision), registry.Unchanged(v.Tree.Config(), v.State.Config.Revision)},
		Then: []registry.Write{registry.Delete(path)},
	}}}
}

// Awaits tells whether the fires of an item wait for what its former owner may have missed: a run for
// a later one would bury that.
func (f *Fires) Awaits(v room.View, it *Item, node jobtree.Item, now time.Time) bool {
	if it.former == "" || it.Due.None() {
		return false
	}
	since, ran := it.came, node.Record.Value.LastFire
	if f.hears.After(since) {
		since = f.hears
	}
	remaining := handoverWait - time.Since(since)
	silent := ""
	if remaining <= 0 {
		silent = knower(v, node)
	}
	switch {
	case remaining <= 0 && silent == "", !mayBeTold(v), v.Rules.Accounted(&f.witness, node.Number, it.Due, ran, now):
		return false
	case remaining <= 0:
		f.ports.Tell(slog.LevelWarn, unheard, nil, room.KeyItem, node.Number, "after", ran, "before", it.Due.Newest(), "knows", silent)
		return false
	}
	f.rounds.LookAgain(node.Number)
	f.ports.Wake(remaining)
	return true
}

// unheard is said when what an item may have missed is given up, though somebody is registered who ought to know.
const unheard = "fires that an item may have missed are given up: who would know of them has told nothing"

// knower returns somebody else who has been registered since before the item's record was written, and so has ticked all that
// the item has missed since; empty if there is none. It may have nothing to tell, or stand still, or be far away: nobody can
// tell these apart. Java tells nothing, and within a window nobody needs to be told. Were the settings changed since, there
// may be nothing that anybody has missed: the job had other times, or was disabled. Nor is there before an item's first fire.
func knower(v room.View, node jobtree.Item) string {
	record := node.Record
	if v.State.SharedWithJava() || v.Rules.Window > 0 || v.State.Config.Revision > record.Revision || record.Value.LastFire.IsZero() {
		return ""
	}
	for _, i := range v.State.Instances {
		if i.ID != v.Instance && i.Created < record.Revision {
			return i.ID
		}
	}
	return ""
}

// mayBeTold tells whether somebody lives who may have ticked what this instance has not. That may be one that registered later:
// after an outage in which its session ended.
func mayBeTold(v room.View) bool {
	return slices.ContainsFunc(v.State.Instances, func(i jobtree.Instance) bool { return i.ID != v.Instance })
}
