package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// lastTick is the newest fire that this process's clock ticked, and what was true then. An item that
// comes to this instance later may have missed it.
type lastTick struct {
	fire    time.Time
	config  registry.Revision // under which it ticked
	settled bool              // every item had its owner
	blocked bool              // a Java leader was resharding: no Java instance began anything
}

// tick notes a fire for every item that is mine. What can begin does so in the decision that
// follows. A fire that comes while this server is disabled has not happened here, now or later.
func (r *runner) tick(t tick) {
	if !r.settings.ok || !r.serverEnabled() {
		return
	}
	r.refreshOwned()
	r.last = lastTick{fire: t.fire, config: r.state.Config.Revision, settled: r.settled(), blocked: r.s.java && r.state.JavaReshards()}
	m := r.settings.misfires
	var passed []time.Time
	if m.all && t.first.Before(t.fire) {
		passed = r.fires(t.first.Add(-1), t.fire.Add(-1))
	}
	for _, n := range r.owned {
		if r.state.Item(n).Disabled {
			continue
		}
		it := r.item(n)
		r.toConsider.note([]int{n}, false)
		it.due = m.tick(it.due, t.fire, passed)
		it.seen = t.fire
	}
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

// refreshOwned brings the list of my items up to the state, greets those that are new and forgets
// those that are gone. A former owner starts no catch-up of what it no longer owns.
func (r *runner) refreshOwned() {
	if !r.stale {
		return
	}
	r.stale = false
	before := r.owned
	r.owned = nil
	for n := range r.state.Total() {
		if r.owns(n) {
			r.owned = append(r.owned, n)
		}
	}
	// One text for all items: of ten thousand, each names them all.
	r.task = job.TaskID{Job: r.name, Items: r.owned, Instance: r.s.instance}.String()
	for _, n := range r.owned {
		if _, had := slices.BinarySearch(before, n); !had {
			r.toConsider.note([]int{n}, false)
			r.receive(r.item(n), r.state.Item(n))
		}
	}
	for _, n := range before {
		if _, has := slices.BinarySearch(r.owned, n); !has {
			r.release(n)
		}
	}
}

// receive looks for fires that an item missed on its way here. A fire that came while another owned it,
// who then was lost, is a missed one. One that came while nobody was clearly responsible is simply
// late; so is the first of an item that has never run, which otherwise misses nothing.
func (r *runner) receive(it *item, node jobtree.Item) {
	m, ran := r.settings.misfires, node.Record.Value.LastFire
	byJava := r.s.java && node.Misfire.Exists() && node.Misfire.Value.Newest.IsZero()
	if (node.Record.Exists() || byJava) && !node.Disabled {
		it.due = m.add(it.due, r.missedBefore(node)...)
	}
	if r.s.java && !r.shared.formerRecorded(node) {
		return // a former owner that is Java ran for the fire, or not: there is no record of that
	}
	last := r.last
	if !last.fire.After(it.seen) || !last.fire.After(ran) || last.config != r.state.Config.Revision || node.Disabled {
		return
	}
	it.seen = last.fire
	if !last.fire.After(it.due.newest()) {
		return
	}
	it.due.onTime = last.fire
	if last.settled && node.Record.Exists() {
		it.due = m.miss(it.due)
	}
	if !node.Record.Exists() && m.tooLate(last.fire, r.s.now()) {
		it.due = due{}
	}
}

// missedBefore lists the fires, later than the last one that the item ran for, which its former
// owners noted as missed, or which came within the window while perhaps nobody lived to tick them.
func (r *runner) missedBefore(node jobtree.Item) []time.Time {
	m, ran := r.settings.misfires, node.Record.Value.LastFire
	if !m.on {
		return nil
	}
	if m.window > 0 && !ran.IsZero() {
		now := r.s.now()
		from := now.Add(-m.window)
		if ran.After(from) {
			from = ran
		}
		return r.fires(from, now)
	}
	missed := node.Misfire.Value
	if r.s.java && node.Misfire.Exists() && missed.Newest.IsZero() {
		return r.missedByJava(ran)
	}
	if !node.Misfire.Exists() || !missed.Newest.After(ran) {
		return nil
	}
	if !m.all {
		return r.fires(missed.Newest.Add(-1), missed.Newest) // none, if another cron had it
	}
	from := missed.Oldest.Add(-1)
	if ran.After(from) {
		from = ran
	}
	return r.fires(from, missed.Newest)
}

// fires lists the job's fires after from and up to until, the newest ones if there are more than are
// kept.
func (r *runner) fires(from, until time.Time) []time.Time {
	keep := 1
	if r.settings.misfires.all {
		keep = r.settings.misfires.most
	}
	var fires []time.Time
	for len(fires) < keep {
		fire := cronexpr.Last(r.settings.schedule, from, until)
		if fire.IsZero() {
			break
		}
		fires = append(fires, fire)
		until = fire.Add(-1)
	}
	slices.Reverse(fires)
	return fires
}

// release forgets what was due of an item that now belongs to another instance. What still runs
// here goes on.
func (r *runner) release(n int) {
	it := r.items[n]
	if it == nil {
		return
	}
	it.due = due{}
	if it.running == nil {
		delete(r.items, n)
	}
}
