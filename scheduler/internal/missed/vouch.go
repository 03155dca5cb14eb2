package missed

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// vouching is what an instance does for items of others. An owner that started after a fire does not know
// that its item missed it, and whoever had the item then may be dead, so somebody who has ticked the fire
// tells the new owner. The instance that has been there for the longest does: it has ticked the most. It
// goes by the items' records, not by what happened to their owners.
type vouching struct {
	toTell   map[int]time.Time // items to note fires of, and up to which one
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

// FollowOwners finds items whose owners need to be told something.
func (f *Fires) FollowOwners(v room.View, t jobtree.Touched) {
	if t.Instances {
		f.noteMembers(v)
	}
	if len(f.vouching.arrivals) == 0 {
		return
	}
	if !t.Instances && !t.Epoch { // which gives items to others without naming them, if the assignment was written in parts
		for _, n := range t.Items {
			f.vouch(v, n)
		}
		return
	}
	for n := range v.State.Total() {
		f.vouch(v, n)
	}
}

// vouch plans to tell the owner of an item what the item missed before that owner ticked.
func (f *Fires) vouch(v room.View, n int) {
	if !v.State.Knows(n) {
		return // when it is followed again, it is touched
	}
	owner := v.State.Instance(v.State.Owner(n))
	since := f.vouching.ticksSince(owner.Created)
	if !since.IsZero() && since.After(v.State.Record(n).Value.LastFire) && vouchesTo(v, owner) {
		f.vouching.tell(n, since)
	}
}

// noteMembers notes which instances are new.
func (f *Fires) noteMembers(v room.View) {
	if mine := v.State.Instance(v.Instance).Created; mine != f.member {
		f.member, f.joined = mine, time.Now()
	}
	vo := &f.vouching
	oldest, newest := registry.Revision(0), vo.newest
	for _, i := range v.State.Instances {
		if i.Created > vo.newest && (oldest == 0 || i.Created < oldest) {
			oldest = i.Created
		}
		newest = max(newest, i.Created)
	}
	vo.newest = newest
	since := f.witness.Newest()
	if last := len(vo.arrivals) - 1; oldest != 0 && !since.IsZero() && (last < 0 || since.After(vo.arrivals[last].since)) {
		vo.arrivals = append(vo.arrivals[max(0, len(vo.arrivals)+1-arrivalsKept):], arrival{created: oldest, since: since})
	}
}

// ticksSince returns the fire after which an instance certainly ticked all; zero if it was there before
// this one ticked any, or does not live.
func (vo *vouching) ticksSince(created registry.Revision) time.Time {
	for _, a := range slices.Backward(vo.arrivals) {
		if a.created <= created {
			return a.since
		}
	}
	return time.Time{}
}

// vouchesTo tells whether it is this instance that tells an owner what its items missed.
func vouchesTo(v room.View, owner jobtree.Instance) bool {
	mine := v.State.Instance(v.Instance)
	return mine.Created != 0 && owner.ID != mine.ID && !slices.ContainsFunc(v.State.Instances, func(i jobtree.Instance) bool {
		return i.Created < mine.Created
	})
}

func (vo *vouching) tell(n int, until time.Time) {
	if vo.toTell == nil {
		vo.toTell = make(map[int]time.Time)
	}
	vo.toTell[n] = until
}

// farewell plans to tell, before this instance leaves, all that perhaps nobody who stays has ticked.
func (f *Fires) farewell(v room.View) {
	if !vouchesTo(v, jobtree.Instance{}) {
		return
	}
	until := v.Clock.Now().Add(-farewellAge)
	for n := range v.State.Total() {
		if newest := f.witness.Newest(); newest.After(v.State.Record(n).Value.LastFire) && !v.Owns(n) && v.State.Knows(n) {
			f.vouching.tell(n, until)
		}
	}
}

// vouched proposes to note what was missed of items of others.
func (f *Fires) vouched(v room.View, others peers.Traits, left bool) room.Batch {
	if v.Leaving && !left {
		f.farewell(v)
	}
	var batch room.Batch
	for n, until := range f.vouching.toTell {
		batch = append(batch, f.vouchFor(v, others, n, until)...)
	}
	return batch
}

func (f *Fires) vouchFor(v room.View, others peers.Traits, n int, until time.Time) room.Batch {
	node := v.State.Item(n)
	done := func() { delete(f.vouching.toTell, n) }
	if !f.records || !v.Usable || !v.Rules.On || others.Unrecorded || node.Disabled || n >= v.State.Total() || v.Owns(n) {
		done()
		return nil
	}
	if _, letGo := f.letGo[n]; letGo || !v.State.Knows(n) {
		return nil // first what is known of it as its former owner
	}
	due := policy.Due{Missed: v.Rules.Ticked(&f.witness, n, node.Record.Value.LastFire, until)}
	return f.note(v, n, due, done)
}
