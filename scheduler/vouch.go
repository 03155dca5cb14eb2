package scheduler

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// vouching is what an instance does for items that are not its own. When one lost its owner, or who ran it,
// those who live have ticked its fires, and if its new owner started only meanwhile, somebody has to tell
// that one. The instance that has been there for the longest does, as it has ticked the most.
type vouching struct {
	bereft   map[int]struct{}  // items whose owner does not live, or who ran them while another owned them
	told     map[int]time.Time // items to note fires of, and up to which one
	newest   registry.Revision // creation of the youngest instance that was seen
	arrivals []arrival         // ascending
}

// arrival says that instances created at a revision or later tick what is later than a fire.
type arrival struct {
	created registry.Revision
	since   time.Time
}

// arrivalsKept is how many arrivals are remembered, the newest; those between two fires are one.
const arrivalsKept = 16

// noteGone notes the items of instances that a step takes away, before the state shows it: the same step may
// have new owners for them.
func (r *runner) noteGone(step registry.Step) {
	instances := r.tree.Instance("")
	for _, change := range step.Changes {
		if change.New.Exists() || !strings.HasPrefix(change.Path(), instances) {
			continue
		}
		gone := strings.TrimPrefix(change.Path(), instances)
		for n := range r.state.Total() {
			owner, record := r.state.Owner(n), r.state.Item(n).Record.Value
			if owner != gone && (record.State != jobtree.ItemRunning || record.Current.Instance != gone) {
				continue
			}
			r.vouching.noteBereft(n)
			if owner == r.s.instance {
				r.expectNote(r.item(n), gone)
			}
		}
	}
}

func (v *vouching) noteBereft(n int) {
	if v.bereft == nil {
		v.bereft = make(map[int]struct{})
	}
	v.bereft[n] = struct{}{}
}

// followOwners notes which instances came, and has it told to new owners of items that had none what these
// missed.
func (r *runner) followOwners(t jobtree.Touched) {
	v := &r.vouching
	if t.Instances {
		r.noteMembers()
	}
	if len(v.bereft) == 0 {
		return
	}
	looked := slices.Values(t.Items)
	if t.Instances {
		looked = maps.Keys(v.bereft)
	}
	for n := range looked {
		owner := r.state.Instance(r.state.Owner(n))
		if _, was := v.bereft[n]; !was || owner.Created == 0 {
			continue
		}
		delete(v.bereft, n)
		if r.vouchesTo(owner) {
			v.tell(n, v.ticksSince(owner.Created))
		}
	}
}

// noteMembers notes which instances are new, and finds items without an owner when the first are seen.
func (r *runner) noteMembers() {
	v := &r.vouching
	first, oldest, newest := v.newest == 0, registry.Revision(0), v.newest
	for _, i := range r.state.Instances {
		if i.Created > v.newest && (oldest == 0 || i.Created < oldest) {
			oldest = i.Created
		}
		newest = max(newest, i.Created)
	}
	v.newest = newest
	since := r.witness.newest()
	if last := len(v.arrivals) - 1; oldest != 0 && !since.IsZero() && (last < 0 || since.After(v.arrivals[last].since)) {
		v.arrivals = append(v.arrivals[max(0, len(v.arrivals)+1-arrivalsKept):], arrival{created: oldest, since: since})
	}
	if !first {
		return
	}
	for n := range r.state.Total() {
		if owner := r.state.Owner(n); owner != "" && r.state.Instance(owner).Created == 0 {
			v.noteBereft(n)
		}
	}
}

// ticksSince returns the fire after which an instance certainly ticked all; zero if it was there before
// this one ticked any.
func (v *vouching) ticksSince(created registry.Revision) time.Time {
	for _, a := range slices.Backward(v.arrivals) {
		if a.created <= created {
			return a.since
		}
	}
	return time.Time{}
}

// vouchesTo tells whether it is this instance that tells an owner what an item missed.
func (r *runner) vouchesTo(owner jobtree.Instance) bool {
	mine := r.state.Instance(r.s.instance)
	return mine.Created != 0 && owner.ID != mine.ID && !slices.ContainsFunc(r.state.Instances, func(i jobtree.Instance) bool {
		return i.Created < mine.Created
	})
}

func (v *vouching) tell(n int, until time.Time) {
	if until.IsZero() {
		return
	}
	if v.told == nil {
		v.told = make(map[int]time.Time)
	}
	v.told[n] = until
}

// proposeVouched proposes to note what items missed while they had no owner.
func (r *runner) proposeVouched(batch *proposals) {
	v := &r.vouching
	if r.leaving && r.vouchesTo(jobtree.Instance{}) { // nobody who stays has ticked as much
		for n := range v.bereft {
			v.tell(n, r.witness.newest())
		}
	}
	for n, until := range v.told {
		r.proposeVouch(batch, n, until)
	}
}

func (r *runner) proposeVouch(batch *proposals, n int, until time.Time) {
	node := r.state.Item(n)
	done := func() { delete(r.vouching.told, n) }
	if !r.records || !r.settings.ok || !r.settings.misfires.on || r.s.java || node.Disabled || n >= r.state.Total() || r.owns(n) {
		done()
		return
	}
	from, ran := r.witness.floor(n), node.Record.Value.LastFire
	if ran.After(from) {
		from = ran
	}
	missed := due{missed: r.witness.fires(r.settings.schedule, from, until, r.settings.misfires.keeps())}
	r.proposeMissed(batch, &item{number: n, due: missed}, done)
}
