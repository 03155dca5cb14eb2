package missed

import (
	"maps"
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
//
// The others leave it to that instance for a moment, and then tell what they know, one after the other: who finds all of it
// noted has nothing to tell. For the oldest may stand still while its session goes on. And when all sessions have ended, as
// in a long outage of the registry, those who were there register anew, and one that is new may be the oldest; nobody can
// tell them apart. Who leaves tells what it knows at once, whoever is there.
type vouching struct {
	toTell   map[int]telling   // items to note fires of
	newest   registry.Revision // creation of the youngest instance that was seen
	arrivals []arrival         // ascending
}

// telling says which fires of an item are to be noted, and when.
type telling struct {
	until time.Time // the newest of them, or a later time
	from  time.Time // before that somebody else may do it; by the monotonic clock
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
	// patience is how long what there is to tell is left to somebody older who certainly knows it. With what sets the others
	// apart, it is less than a new owner waits.
	patience = time.Second
	// mostAtOnce is how many items an instance notes fires of at once, or partAtOnce of many, unless it is the oldest: others note
	// the same, and before the next ones it looks at what they have noted meanwhile. It is through with all before a new owner has
	// waited long enough.
	mostAtOnce = 50
	partAtOnce = 8
	// pace is how long it leaves to them.
	pace = 25 * time.Millisecond
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
	since, ran := f.vouching.ticksSince(owner.Created), v.State.Record(n).Value.LastFire
	if since.IsZero() || !since.After(ran) {
		return
	}
	switch f.standing(v, owner, ran) {
	case first:
		f.vouching.tell(n, telling{until: since}, 0)
	case perhapsFirst:
		f.vouching.tell(n, telling{until: since}, v.HoldBack())
	case second:
		f.vouching.tell(n, telling{until: since}, patience+v.HoldBack())
	}
}

// noteMembers notes which instances are new.
func (f *Fires) noteMembers(v room.View) {
	if mine := v.State.Instance(v.Instance).Created; mine != f.member {
		f.member, f.hears = mine, time.Now()
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

// standing is whether it falls to this instance to tell an owner what its item missed.
type standing uint8

const (
	none         standing = iota // it does not take part, or is the owner
	second                       // somebody older ticked all that
	perhapsFirst                 // somebody is registered for longer, and perhaps ticked less
	first
)

// standing returns that of this instance; ran is the last fire that the item ran for.
func (f *Fires) standing(v room.View, owner jobtree.Instance, ran time.Time) standing {
	mine, stands := v.State.Instance(v.Instance), first
	if mine.Created == 0 || owner.ID == mine.ID {
		return none
	}
	for _, i := range v.State.Instances {
		if i.Created >= mine.Created || i.ID == owner.ID {
			continue
		}
		if since := f.vouching.ticksSince(i.Created); !since.After(ran) {
			return second
		}
		stands = perhapsFirst
	}
	return stands
}

func (vo *vouching) tell(n int, told telling, after time.Duration) {
	if vo.toTell == nil {
		vo.toTell = make(map[int]telling)
	}
	told.from = time.Now().Add(after)
	if known, is := vo.toTell[n]; is && known.from.Before(told.from) {
		told.from = known.from
	}
	vo.toTell[n] = told
}

// farewell plans to tell, before this instance leaves, all that it knows of others' items. It counts on nobody: an owner,
// and whoever was there before, may be dead, as long as its session is not over, or leave in this moment, too. What an owner
// that lives is told it knows, and runs it once.
func (f *Fires) farewell(v room.View) {
	if v.State.Instance(v.Instance).Created == 0 {
		return
	}
	until, newest := v.Clock.Now().Add(-farewellAge), f.witness.Newest()
	for n := range v.State.Total() {
		if newest.After(v.State.Record(n).Value.LastFire) && !v.Owns(n) && v.State.Knows(n) {
			f.vouching.tell(n, telling{until: until}, 0)
		}
	}
}

// vouched proposes to note what was missed of items of others. An instance that leaves does so as long as it has time to tell.
func (f *Fires) vouched(v room.View, traits peers.Traits, left, tells bool) room.Batch {
	if v.Leaving && !left && tells {
		f.farewell(v)
	}
	var batch room.Batch
	most := max(mostAtOnce, len(f.vouching.toTell)/partAtOnce)
	if v.Leaving || v.HoldBack() == 0 {
		most = len(f.vouching.toTell)
	}
	for _, n := range slices.Sorted(maps.Keys(f.vouching.toTell)) {
		told := f.vouching.toTell[n]
		if len(batch) >= most {
			f.ports.Wake(pace)
			break
		}
		if left := time.Until(told.from); left > 0 && !v.Leaving { // who leaves waits for nobody: somebody older may stand still
			f.ports.Wake(left)
			continue
		}
		batch = append(batch, f.vouchFor(v, traits, n, told.until)...)
	}
	return batch
}

func (f *Fires) vouchFor(v room.View, traits peers.Traits, n int, until time.Time) room.Batch {
	node := v.State.Item(n)
	done := func() { delete(f.vouching.toTell, n) }
	if !v.Usable && !v.Refused && !v.Leaving { // it pauses everywhere
		return nil // but when the job goes on, by the same times or by others
	}
	if !f.records || !v.Usable || !v.Rules.On || traits.Unrecorded || node.Disabled || n >= v.State.Total() || v.Owns(n) {
		done()
		return nil
	}
	if _, letGo := f.letGo[n]; letGo {
		return nil // first what is known of it as its former owner
	}
	if !v.State.Knows(n) {
		if v.Leaving { // who follows it knows what there is to tell of it, as in farewell
			done()
		}
		return nil
	}
	due := policy.Due{Missed: v.Rules.Ticked(&f.witness, n, node.Record.Value.LastFire, until)}
	return f.note(v, n, due, done)
}
