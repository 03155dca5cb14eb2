package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
)

// lastTick is the newest fire that this process's clock ticked, and what was true then. An item that
// comes to this instance later may have missed it.
type lastTick struct {
	fire    time.Time
	settled bool // every item had its owner
}

// tick notes a fire for every item that is mine, and for those that run here and are another's by now:
// their ends say what they missed. It tells whether there is anything to decide now: beyond its capacity,
// a process has many items that only wait for their turn.
func (r *runner) tick(t fires.Tick) (decide bool) {
	if !r.settings.ok || r.membership.Out() || !r.attended() {
		r.witness.Missing()
		return true
	}
	if !r.settings.rules.Schedule.Next(t.Fire.Add(-1)).Equal(t.Fire) {
		return true // ticked by a cron that was changed while the tick waited for its turn
	}
	decide = r.stale
	r.refreshOwned()
	left := r.membership.LeftBefore(t.Fire)
	if left { // what still runs here goes on
		r.witness.Missing()
	} else {
		r.last = lastTick{fire: t.Fire, settled: r.settled()}
		r.peers.Ticked(r.look())
		r.witness.Saw(t.First, t.Fire)
	}
	m := r.settings.rules
	var passed []time.Time
	if m.All && t.First.Before(t.Fire) {
		passed = r.settings.rules.Fires(t.First.Add(-1), t.Fire.Add(-1))
	}
	wanted, dropped := 0, 0
	note := func(n int) {
		if r.state.Disabled(n) {
			return
		}
		it := r.item(n)
		wanted++
		if !it.queued {
			r.toConsider.Note([]int{n}, false)
			decide = true
		} else if !it.due.OnTime.IsZero() {
			dropped++ // nothing but its turn kept it from beginning since the fire before
		}
		it.due = m.Tick(it.due, t.Fire, passed)
		it.seen = t.Fire
	}
	for _, n := range r.owned {
		if !left {
			note(n)
		}
	}
	for n, it := range r.items {
		if it.running != nil && (left || !r.owns(n)) {
			note(n)
		}
	}
	r.s.load.want(wanted)
	r.s.load.drop(dropped)
	return decide
}

// attended tells whether a fire that comes now has to be run, because somebody may run items. One that
// comes while all servers are disabled has not happened, now or later.
func (r *runner) attended() bool {
	return r.serverEnabled() || slices.ContainsFunc(r.state.Instances, func(i jobtree.Instance) bool {
		return r.state.Enabled(i.ID)
	})
}

// settled tells whether the assignment is the one that the members and the settings want, as far as
// anybody can see who is not the leader.
func (r *runner) settled() bool {
	st := r.state
	if st.Necessary != 0 || st.Total() != r.settings.config.ShardingTotalCount {
		return false
	}
	for n := range st.Total() {
		if st.Instance(st.Owner(n)).Created == 0 {
			return false
		}
	}
	return true
}

// item returns what is known of an item, from now on if nothing was.
func (r *runner) item(n int) *item {
	it := r.items[n]
	if it == nil {
		it = &item{number: n}
		if r.items == nil {
			r.items = make(map[int]*item)
		}
		r.items[n] = it
	}
	return it
}

// refreshOwned brings the list of my items up to the state, greets those that are new and hands over
// those that are gone. A former owner starts no catch-up of what it no longer owns.
func (r *runner) refreshOwned() {
	if !r.stale {
		return
	}
	r.stale = false
	before := r.owned
	r.owned = nil
	for n := range r.state.Total() {
		if !r.owns(n) {
			continue
		}
		// What an item missed is not to be told without settings, so it is greeted when the job goes on.
		if _, had := slices.BinarySearch(before, n); had || r.settings.ok {
			r.owned = append(r.owned, n)
		} else {
			r.stale = true
		}
	}
	// One text for all items: of ten thousand, each names them all.
	r.task = job.TaskID{Job: r.name, Items: r.owned, Instance: r.s.instance}.String()
	for _, n := range r.owned {
		if _, had := slices.BinarySearch(before, n); !had {
			r.toConsider.Note([]int{n}, false)
			r.receive(r.item(n), r.state.Item(n))
		}
	}
	r.formers = nil
	for _, n := range before {
		if _, has := slices.BinarySearch(r.owned, n); !has {
			r.release(n)
		}
	}
}

// receive looks for fires that an item missed on its way here: those that this clock ticked too and that
// nobody ran for. What others noted of it comes in each decision, see [runner.recallNoted].
//
// A fire that came while another owned the item is a missed one. One that came while nobody was clearly
// responsible, and one of an item that has never run, is on time as long as it is not late.
func (r *runner) receive(it *item, node jobtree.Item) {
	if node.Disabled {
		return
	}
	m := r.settings.rules
	r.expectNote(it, r.formers[it.number])
	it.due = m.Merge(it.due, r.missedUnseen(node)...)
	if !r.peers.PastKnown(node) {
		return // its former owner ran for the fire, or not: there is no record of that
	}
	now, last := r.s.now(), r.last
	fires := r.missedSeen(it, node, now)
	if len(fires) == 0 {
		return
	}
	newest := fires[len(fires)-1]
	it.seen = newest
	if newest.Equal(last.fire) && !m.TooLate(newest, now) && newest.After(it.due.Newest()) && (!last.settled || !node.Record.Exists()) {
		it.due = m.Merge(it.due, fires[:len(fires)-1]...)
		it.due = m.Tick(it.due, newest, nil)
		return
	}
	it.due = m.Merge(it.due, fires...)
}

// missedSeen lists the fires that this clock ticked and that are later than the last one that the item
// ran for.
func (r *runner) missedSeen(it *item, node jobtree.Item, now time.Time) []time.Time {
	if !r.records {
		return r.settings.rules.TickedLately(&r.witness, it.number, it.seen, now)
	}
	return r.settings.rules.Ticked(&r.witness, it.number, node.Record.Value.LastFire, now)
}

// missedUnseen lists the fires that came within the window while perhaps nobody lived to tick them, and
// those that a note stands for which does not name them.
func (r *runner) missedUnseen(node jobtree.Item) []time.Time {
	if !r.settings.rules.On {
		return nil
	}
	unseen, known := r.settings.rules.Unseen(&r.witness, node.Number, node.Record.Value, r.s.now())
	if !known {
		return r.peers.Unnamed(r.look(), node)
	}
	return unseen
}
