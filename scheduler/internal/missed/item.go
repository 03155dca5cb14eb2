package missed

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Item is what a process knows of one item's fires. The zero Item is that of an item about which nothing is known.
type Item struct {
	Due    policy.Due // fires that want to be run
	seen   time.Time  // the newest fire that was considered for it
	former string     // the instance that it came from, for which somebody may have to note what it missed; empty = none
	came   time.Time  // when it came from that one, by the monotonic clock
}

// Blank tells whether nothing is known of the item's fires.
func (i *Item) Blank() bool {
	return i.Due.None() && i.seen.IsZero() && i.former == "" && i.came.IsZero()
}

// Tick makes a fire due that has come, and those that passed unseen before it.
func (i *Item) Tick(m policy.Policy, fire time.Time, passed []time.Time) {
	i.Due = m.Tick(i.Due, fire, passed)
	i.seen = fire
}

// CatchUp is Tick for those of some fires, ascending, that are later than the last one that was considered for it.
func (i *Item) CatchUp(m policy.Policy, fires []time.Time) {
	first, _ := slices.BinarySearchFunc(fires, i.seen.Add(1), time.Time.Compare)
	if fires = fires[first:]; len(fires) > 0 {
		last := len(fires) - 1
		i.Tick(m, fires[last], fires[:last])
	}
}

// ForgetFormer notes that the former owner is expected to tell nothing more of the item: it has begun here, or is
// not to run here.
func (i *Item) ForgetFormer() { i.former, i.came = "", time.Time{} }

// ExpectOn restarts the time in which the former owner may note something, as the item still runs elsewhere.
func (i *Item) ExpectOn() {
	if i.former != "" {
		i.came = time.Now()
	}
}

// MayBeTold tells whether the former owner may still note fires; a begin must then compare the note.
func (i *Item) MayBeTold() bool { return i.former != "" }

// Receive looks for fires that an item missed on its way here: those that this clock ticked too and that
// nobody ran for. What others noted of it comes in each decision, see [Fires.Recall].
//
// A fire that came while another owned the item is a missed one. One that came while nobody was clearly
// responsible, and one of an item that has never run, is on time as long as it is not late.
func (f *Fires) Receive(v room.View, executors peers.Executors, it *Item, node jobtree.Item) {
	m, n := v.Rules, node.Number
	former := f.formers[n]
	delete(f.formers, n)
	if node.Disabled {
		return
	}
	if former == "" && node.Record.Exists() {
		former = v.Instance // had it in an earlier life: what came between the two, others have ticked
	}
	if former != "" && m.All && f.records {
		it.former, it.came = former, time.Now()
	}
	now := v.Clock.Passed() // not a moment that comes again, whose fire is told of once
	it.Due = m.Merge(it.Due, f.unseen(v, executors, node, now)...)
	if !executors.PastKnown(node) {
		return // its former owner ran for the fire, or not: there is no record of that
	}
	last := f.last
	fires := f.ticked(v, it, node, now)
	if len(fires) == 0 {
		return
	}
	newest := fires[len(fires)-1]
	it.seen = newest
	if newest.Equal(last.fire) && !m.TooLate(newest, now) && newest.After(it.Due.Newest()) && (!last.settled || !node.Record.Exists()) {
		it.Due = m.Merge(it.Due, fires[:len(fires)-1]...)
		it.Due = m.Tick(it.Due, newest, nil)
		return
	}
	it.Due = m.Merge(it.Due, fires...)
}

// ticked lists the fires that this clock ticked and that are later than the last one that the item
// ran for.
func (f *Fires) ticked(v room.View, it *Item, node jobtree.Item, now time.Time) []time.Time {
	if !f.records {
		return v.Rules.TickedLately(&f.witness, node.Number, it.seen, now)
	}
	return v.Rules.Ticked(&f.witness, node.Number, node.Record.Value.LastFire, now)
}

// unseen lists the fires that came within the window while perhaps nobody lived to tick them, if it is known for which the
// item ran, and those that a note stands for which does not name them.
func (f *Fires) unseen(v room.View, executors peers.Executors, node jobtree.Item, now time.Time) []time.Time {
	if !v.Rules.On {
		return nil
	}
	if f.records && executors.PastKnown(node) { // else what is recorded is what ran while something was
		if unseen, known := v.Rules.Unseen(&f.witness, node.Number, node.Record.Value, now); known {
			return unseen
		}
	}
	return executors.Unnamed(v, node)
}
