package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/following"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Following says what a process follows of its jobs, see [WithFollowing].
type Following string

// What a process follows.
const (
	// FollowWhole is all of each job, always. It is the default.
	FollowWhole Following = "whole"
	// FollowByCost is all of a job or this process's own items alone, whichever costs less: the own items are followed
	// alone if they are at most 32 and at most a quarter of the job's, at least 32 others are left out, and no instance
	// or item has moved for three seconds, or for thirty while that keeps happening. It takes an etcd, and watches that
	// are left: a process that follows more than 16 jobs as a whole, or lists jobs that are data, follows all of each. See
	// docs/scaling.md.
	FollowByCost Following = "by cost"
	// FollowOwn is this process's own items, as soon and as often as that is safe. It is for tests.
	FollowOwn Following = "own"
)

var followingRules = map[Following]following.Rule{
	FollowByCost: following.ByCost, FollowWhole: following.Whole, FollowOwn: following.Own,
}

// WithFollowing says how much of each job this process follows in the registry; the default is [FollowWhole]. The
// registry tells each execution to every process that follows its item, so [FollowByCost] is for large jobs that many
// processes share. The leader of a job, its oldest instance, and all instances of a job that has a
// [job.WholeRoundListener] or is shared with Java instances follow all of it in any case.
//
// With [FollowByCost], [Scheduler.Health] tells of the followed items alone. Disable and enable items by package
// operate, the command line or the console then: processes do not notice what a tool of the store does to an item that
// they do not follow, and a fire that the item missed meanwhile may not be made up.
func WithFollowing(f Following) Option {
	return func(o *options) error {
		rule, known := followingRules[f]
		if !known {
			return fmt.Errorf("%w: following %q must be one of %q, %q and %q", ErrInvalidOption, f, FollowByCost, FollowWhole, FollowOwn)
		}
		o.following = rule
		return nil
	}
}

// scope is what a runner follows of its job's tree, and what comes next. Package following says who needs what.
type scope struct {
	moved     time.Time // when what belongs to no item changed, or an item its owner
	stale     bool      // the state is narrowed, and everything is to be followed again
	switching bool      // another view is being opened, or replaces the present one
	replacing bool      // the present one is closed, and the other one has not shown anything yet
	brief     bool      // the state was narrowed last for a short time only
	refused   bool      // the other one could not be opened, the last time
	narrow    *narrowed // nil while it is not
}

// narrowed is a state of some items alone.
type narrowed struct {
	since time.Time
	kept  []registry.Node // beside what the view shows
}

// known is all that the state knows.
func (r *runner) known() registry.Snapshot {
	if r.scope.narrow == nil {
		return r.snapshot
	}
	return jobtree.Regained(r.snapshot, r.scope.narrow.kept)
}

// noteMoves takes in what a step of the view means for what is to be followed. before is up to where the state knew all
// before it.
func (r *runner) noteMoves(before registry.Revision, step registry.Step, t jobtree.Touched) {
	moved := t.Config || t.Servers || t.Instances || t.Leader || t.Necessary || t.Epoch
	if r.state.KnowsAll() {
		if moved || t.Owners {
			r.scope.moved = time.Now()
		}
		return
	}
	// Who waits for a claimant is its owner's business, who follows it.
	moved = moved || t.Owners && slices.ContainsFunc(t.Items, r.state.Knows)
	for _, c := range step.Changes {
		switch name, _ := jobtree.Parse(c.Path()); name.Kind {
		case jobtree.KindOperated:
			moved = moved || c.New.Revision > before && !onlyAsked(c) // a request says all by itself
		case jobtree.KindOffset: // others' that came to be
			moved = moved || !r.state.Knows(name.Item)
		default:
		}
	}
	r.scope.stale = r.scope.stale || moved
}

// onlyAsked tells whether operators did nothing between two states of what they write down but to ask for runs. There may be
// more than one operation in between: a step of the view may be of several transactions.
func onlyAsked(c registry.Change) bool {
	before, err := jobtree.DecodeOperated(c.Old)
	if !c.Old.Exists() || err != nil {
		return false
	}
	now, err := jobtree.DecodeOperated(c.New)
	return err == nil && now.OnlyAsked(before, c.Old.Revision)
}

// follow changes over to a view of more, or of less, if that is due. It comes after every decision.
func (r *runner) follow() {
	if !r.started || r.scope.switching || r.blind != nil {
		return
	}
	if rest := room.RetryAfter - time.Since(r.scope.moved); r.scope.refused && rest > 0 {
		r.alarm.Set(rest)
		return
	}
	if !r.state.KnowsAll() {
		if r.scope.stale && (!r.departure.leaving || r.runsUnseen()) {
			r.widen()
		}
		return
	}
	if r.departure.leaving {
		return
	}
	c := following.Circumstances{Rule: r.s.following, Items: r.state.Total()}
	if c.Small() || r.hooks != nil || r.s.java || r.s.java3 {
		return
	}
	v := r.look()
	c.Own, c.Calm, c.Brief = r.rounds.Owned(), time.Since(r.scope.moved), r.scope.brief
	c.Needed = !v.Usable || !v.Attached.Connected() || !v.Registered() || v.Out || v.Leads() || v.State.Leader.Created == 0 || r.oldest() || r.asked()
	narrower, ok := r.s.registry.(registry.Narrower)
	c.Spares = ok && narrower.Narrows(c.Own)
	switch narrow, again := c.Narrow(); {
	case again > 0:
		r.alarm.Set(again)
	case narrow && v.Settled() && r.rounds.Missed().ToNote() == 0:
		r.narrow(v)
	}
}

// runsUnseen tells whether an item runs here that the state does not show: it came just as the state was narrowed.
func (r *runner) runsUnseen() bool {
	for e := range r.rounds.Running() {
		if !r.state.Knows(e.Item) {
			return true
		}
	}
	return false
}

// oldest tells whether no instance has been in the job for longer than this one.
func (r *runner) oldest() bool {
	mine := r.state.Instance(r.s.instance).Created
	return !slices.ContainsFunc(r.state.Instances, func(i jobtree.Instance) bool { return i.Created < mine })
}

// asked tells whether an instance is asked by the value of its node to run its items.
func (r *runner) asked() bool {
	return slices.ContainsFunc(r.state.Instances, func(i jobtree.Instance) bool { return i.Triggered })
}

// own lists the items that this instance has to follow.
func (r *runner) own(v room.View) []int {
	var own []int
	mine := v.Attached.Session.ID()
	for n := range max(v.State.Total(), v.State.Items()) {
		it := v.State.Item(n)
		e := it.Record.Value.Current
		if v.Owns(n) || r.rounds.Has(n) || it.Running.Session == mine || it.Failover.Session == mine ||
			it.Record.Value.State == jobtree.ItemRunning && e != nil && e.Session == mine {
			own = append(own, n)
		}
	}
	return own
}

// narrow starts to follow the own items alone.
func (r *runner) narrow(v room.View) {
	own := r.own(v)
	checkpoints := false
	for range r.view.Snapshot().Below(r.tree.Offsets()) {
		checkpoints = true
		break
	}
	parts := r.tree.Parts(own, checkpoints)
	since := r.scope.moved
	r.openOther(func(ctx context.Context) (*registry.View, error) {
		return registry.ViewParts(ctx, r.s.registry, r.tree.Root(), parts)
	}, func(view *registry.View) {
		// A view that opened while something moved may be of too little.
		now := r.look()
		if !since.Equal(r.scope.moved) || !now.Attached.Connected() || r.departure.leaving || r.rounds.Missed().ToNote() > 0 || !slices.Equal(own, r.own(now)) {
			r.dropOther(view)
			return
		}
		var kept []registry.Node
		r.replaceView(view, registry.Outside(parts), func() (seen registry.Snapshot) {
			seen, kept = jobtree.Narrowed(r.snapshot, parts)
			return seen
		}, func() {
			r.scope.stale = !since.Equal(r.scope.moved) || r.rounds.Missed().ToNote() > 0 || !slices.Equal(own, r.own(r.look())) // by what came last
			r.state.Narrow(own)
			r.scope.narrow = &narrowed{since: time.Now(), kept: kept}
		})
	})
}

// widen starts to follow everything again.
func (r *runner) widen() {
	r.openOther(func(ctx context.Context) (*registry.View, error) {
		return r.s.registry.View(ctx, r.tree.Root(), jobtree.ForOperators)
	}, func(view *registry.View) { r.replaceView(view, nil, r.known, r.widened) })
}

// widened takes in that the next step shows everything again.
func (r *runner) widened() {
	r.state.Widen()
	r.rounds.Stale()
	now := time.Now()
	if r.scope.narrow != nil {
		r.scope.brief = now.Sub(r.scope.narrow.since) < following.Brief
	}
	r.scope.narrow, r.scope.stale, r.scope.moved = nil, false, now
}

// openOther opens another view, and calls opened in a message. If that fails, it is tried again a second later if it is
// still wanted.
func (r *runner) openOther(open func(ctx context.Context) (*registry.View, error), opened func(view *registry.View)) {
	r.scope.switching = true
	r.s.work.Go(func() {
		view, err := open(r.life)
		if err != nil {
			r.box.Post(func() {
				r.scope.switching, r.scope.refused, r.scope.moved = false, true, time.Now()
			})
			return
		}
		r.s.mu.Lock()
		if r.box.Closed() || r.life.Err() != nil {
			r.s.mu.Unlock()
			view.Close()
			return
		}
		r.next = view
		r.s.mu.Unlock()
		r.box.Post(func() {
			r.scope.refused = false
			if r.blind != nil { // it opens a view by itself
				r.dropOther(view)
				return
			}
			opened(view)
		})
	})
}

// dropOther drops a view that is not wanted any more.
func (r *runner) dropOther(view *registry.View) {
	r.forgetNext()
	r.scope.switching, r.scope.moved = false, time.Now()
	view.Close()
}

func (r *runner) forgetNext() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.next = nil
}

// replaceView goes on with another view, that leaves out what outside says, where the present one has come to. known returns
// what the state has of what the other one shows, and adjust brings the state in line with it.
func (r *runner) replaceView(view *registry.View, outside func(path string) bool, known func() registry.Snapshot, adjust func()) {
	r.view.Close()
	// Steps that it has shown may be on their way: nobody else would tell what is only in them.
	if last := r.view.Snapshot(); last.Revision() > r.applied {
		r.apply(registry.Step{Snapshot: last, Changes: last.Since(r.snapshot)})
	}
	r.s.mu.Lock()
	r.next = nil
	over := r.life.Err() != nil
	if !over {
		r.view, r.outside = view, outside
	}
	r.s.mu.Unlock()
	if over {
		view.Close()
		return
	}
	r.scope.replacing = true
	from, applied := known(), r.applied
	if view.Snapshot().Revision() >= applied {
		r.viewReplaced(view, from, adjust, nil)
		return
	}
	r.s.work.Go(func() {
		err := view.WaitRevision(r.life, applied) // nothing is seen twice
		r.box.Post(func() { r.viewReplaced(view, from, adjust, err) })
	})
}

// viewReplaced ends a replaceView, with the first step of the view.
func (r *runner) viewReplaced(view *registry.View, known registry.Snapshot, adjust func(), failed error) {
	over := func() { r.scope.switching, r.scope.replacing, r.awaited = false, false, 0 }
	if failed != nil {
		if over(); r.life.Err() == nil {
			r.lostSight(view, failed)
		}
		return
	}
	r.subscribe(view, known, func() {
		over()
		adjust()
		r.await(r.needed)
	})
}
