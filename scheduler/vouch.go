package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/misfires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// vouching is what an instance does for items of others. An owner that started after a fire does not know
// that its item missed it, and whoever had the item then may be dead, so somebody who has ticked the fire
// tells the new owner. The instance that has been there for the longest does: it has ticked the most. It
// goes by the items' records, not by what became of their owners.
type vouching struct {
	told     map[int]time.Time // items to note fires of, and up to which one
	newest   registry.Revision // creation of the youngest instance that was seen
	arrivals []arrival         // ascending
}

// arrival says that instances created at a revision or later tick what is later than a fire, and perhaps
// not what is earlier.
type arrival struct {
	created registry.Revision
	since   time.Time
}

const (
	// arrivalsKept is how many arrivals are remembered, the newest; those between two fires are one.
	arrivalsKept = 16
	// farewellAge is how old a fire must be for an instance that leaves to speak of it. Before that its
	// item's owner may just begin.
	farewellAge = 200 * time.Millisecond
)

// followOwners finds items of which their owners need to be told something.
func (r *runner) followOwners(t jobtree.Touched) {
	v := &r.vouching
	if t.Instances {
		r.noteMembers()
	}
	if len(v.arrivals) == 0 {
		return
	}
	if !t.Instances {
		for _, n := range t.Items {
			r.vouch(n)
		}
		return
	}
	for n := range r.state.Total() {
		r.vouch(n)
	}
}

// vouch has the owner of an item told what that item missed before its owner ticked.
func (r *runner) vouch(n int) {
	owner := r.state.Instance(r.state.Owner(n))
	since := r.vouching.ticksSince(owner.Created)
	if !since.IsZero() && since.After(r.state.Item(n).Record.Value.LastFire) && r.vouchesTo(owner) {
		r.vouching.tell(n, since)
	}
}

// noteMembers notes which instances are new.
func (r *runner) noteMembers() {
	v := &r.vouching
	oldest, newest := registry.Revision(0), v.newest
	for _, i := range r.state.Instances {
		if i.Created > v.newest && (oldest == 0 || i.Created < oldest) {
			oldest = i.Created
		}
		newest = max(newest, i.Created)
	}
	v.newest = newest
	since := r.witness.Newest()
	if last := len(v.arrivals) - 1; oldest != 0 && !since.IsZero() && (last < 0 || since.After(v.arrivals[last].since)) {
		v.arrivals = append(v.arrivals[max(0, len(v.arrivals)+1-arrivalsKept):], arrival{created: oldest, since: since})
	}
}

// ticksSince returns the fire after which an instance certainly ticked all; zero if it was there before
// this one ticked any, or does not live.
func (v *vouching) ticksSince(created registry.Revision) time.Time {
	for _, a := range slices.Backward(v.arrivals) {
		if a.created <= created {
			return a.since
		}
	}
	return time.Time{}
}

// vouchesTo tells whether it is this instance that tells an owner what its items missed.
func (r *runner) vouchesTo(owner jobtree.Instance) bool {
	mine := r.state.Instance(r.s.instance)
	return mine.Created != 0 && owner.ID != mine.ID && !slices.ContainsFunc(r.state.Instances, func(i jobtree.Instance) bool {
		return i.Created < mine.Created
	})
}

func (v *vouching) tell(n int, until time.Time) {
	if v.told == nil {
		v.told = make(map[int]time.Time)
	}
	v.told[n] = until
}

// farewell has all told that nobody who stays may have ticked, before this instance leaves.
func (r *runner) farewell() {
	if r.left || !r.vouchesTo(jobtree.Instance{}) {
		return
	}
	until := r.s.now().Add(-farewellAge)
	for n := range r.state.Total() {
		if newest := r.witness.Newest(); newest.After(r.state.Item(n).Record.Value.LastFire) && !r.owns(n) {
			r.vouching.tell(n, until)
		}
	}
}

// proposeVouched proposes to note what was missed of items of others.
func (r *runner) proposeVouched(batch *room.Batch) {
	if r.leaving {
		r.farewell()
	}
	for n, until := range r.vouching.told {
		r.proposeVouch(batch, n, until)
	}
}

func (r *runner) proposeVouch(batch *room.Batch, n int, until time.Time) {
	node := r.state.Item(n)
	done := func() { delete(r.vouching.told, n) }
	if !r.records || !r.settings.ok || !r.settings.rules.On || r.s.traits.Unrecorded || node.Disabled || n >= r.state.Total() || r.owns(n) {
		done()
		return
	}
	if _, parting := r.parting[n]; parting {
		return // first what is known of it as its former owner
	}
	missed := misfires.Due{Missed: r.settings.rules.Ticked(&r.witness, n, node.Record.Value.LastFire, until)}
	r.proposeMissed(batch, &item{number: n, due: missed}, done)
}
