package scheduler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// unrecordedAfter is how long after its code has returned the end of an execution is reported as not recorded: time for the
// request and some tries, so that a short outage is no reason. It is as long as the least after which an item is overdue.
const unrecordedAfter = 10 * time.Second

// health is a runner's answer.
func (r *runner) health() JobHealth {
	st, mine := r.state, r.state.Instance(r.s.instance)
	h := JobHealth{
		Job: r.name, Answered: true, Leader: st.Leader.Instance,
		Joined:   r.attached.Connected() && !r.departure.leftBlind && mine.Created != 0 && mine.Session == r.attached.Session.ID(),
		Leaving:  r.departure.leaving,
		Leading:  r.attached != nil && r.leads(),
		ShutDown: r.departure.shutDown, ViewRevision: int64(r.applied),
		Instances: len(st.Instances), Items: st.Total(),
	}
	if !r.shown.IsZero() {
		h.ViewAge = time.Since(r.shown)
	}
	if r.blind != nil {
		h.Blind = r.blind.reason.Error()
		if !h.Leading && h.Leader == r.s.instance {
			h.Leader = "" // whoever it is by now
		}
	}
	if known := max(r.needed, r.awaited); known > r.applied {
		h.Behind = int64(known)
	}
	if h.Leading {
		h.Sharding = r.leadership.NoPlan()
	} else if r.blind == nil {
		h.Sharding = r.leadership.Unspread(r.look(), r.s.traits)
	}
	h.Config = r.pausedFor
	missing := ErrNotStored.Error()
	if !r.shown.IsZero() && st.Config.Revision == 0 && !strings.HasPrefix(h.Config, missing) { // before Run nothing is known of it
		h.Config = missing
	}
	for n := range st.Total() {
		if !st.Knows(n) {
			continue
		}
		h.Followed++
		if st.Instance(st.Owner(n)).Created == 0 {
			h.Unowned = append(h.Unowned, n)
		}
	}
	h.Disabled = st.JobDisabled() || r.allDisabled()
	h.Clock, h.LeftToOthers = r.membership.ClockTrouble(), r.membership.Away()
	h.Unrecorded = r.unrecorded()
	h.Overdue = r.overdue(h.Unrecorded)
	r.records(&h)
	return h
}

// records adds to a report what the records of the items tell.
func (r *runner) records(h *JobHealth) {
	if r.settings.Config.Unmonitored { // records of an earlier time say nothing of what runs now
		return
	}
	for n := range r.state.Total() {
		if !r.state.Knows(n) {
			continue
		}
		it := r.state.Item(n)
		record := it.Record.Value
		last, previous := lastEnded(record)
		for _, e := range []*jobtree.Execution{last, previous} {
			if e != nil && e.Outcome == jobtree.Success && e.End.After(h.LastSuccess) {
				h.LastSuccess = e.End
			}
		}
		switch {
		case it.Disabled:
		case record.State == jobtree.ItemWaiting:
			h.Waiting = append(h.Waiting, n)
		case last != record.Current && record.Current != nil && record.Current.Source == job.Failover: // run again just now
		case last != nil && last.Yielded: // it did as it was told
		case last != nil && last.Outcome != jobtree.Success && last.Outcome != jobtree.NotStarted:
			if theirs, still := r.peers.TheirsUntil(n, r.state.Owner(n)); still || theirs.After(last.End) {
				continue // they have run it since, and do not say how that ended
			}
			h.Failed = append(h.Failed, n)
		}
	}
}

// lastEnded returns the newest execution of a record that has ended, and the one before it unless it does not matter; nil
// is that there is none. An older text is not parsed if the newest execution says all.
func lastEnded(record jobtree.Record) (last, previous *jobtree.Execution) {
	current := record.Current
	if current != nil && current.Outcome == jobtree.Success {
		return current, nil
	}
	if e, ok := record.Previous(); ok && e.Outcome != "" {
		previous = &e
	}
	if current == nil || current.Outcome == "" || current.Outcome == jobtree.NotStarted {
		return previous, nil
	}
	return current, previous
}

// noteIdle notes since when the servers of all instances are not disabled any more.
func (r *runner) noteIdle() {
	idle := r.allDisabled()
	if r.idle && !idle {
		r.configured = r.s.now()
	}
	r.idle = idle
}

// unrecorded lists what has run here and still counts as running, by item.
func (r *runner) unrecorded() []UnrecordedEnd {
	var ends []UnrecordedEnd
	for e, ended := range r.rounds.Executions().Unrecorded(r.s.now().Add(-unrecordedAfter)) {
		ends = append(ends, UnrecordedEnd{Item: e.Item, Ended: ended})
	}
	slices.SortFunc(ends, func(a, b UnrecordedEnd) int { return cmp.Compare(a.Item, b.Item) })
	return ends
}

// overdue lists the items that should have run by now. Fires while an item ran or was disabled, before the
// configuration in force came, or while nobody may run anything are no reason. The tree shows items with unrecorded ends
// as running, and nothing of them runs.
func (r *runner) overdue(unrecorded []UnrecordedEnd) []OverdueItem {
	if !r.settings.OK || r.settings.Config.Unmonitored || r.settings.Rules.Delay != 0 || !r.state.AnybodyEnabled() {
		return nil
	}
	until, untilOfOthers := r.overdueUntil()
	var overdue []OverdueItem
	for n := range r.state.Total() {
		it := r.state.Item(n)
		held, isHeld := slices.BinarySearchFunc(unrecorded, n, func(e UnrecordedEnd, n int) int { return cmp.Compare(e.Item, n) })
		if !r.state.Knows(n) || it.Disabled || it.Running.Exists() && !isHeld {
			continue
		}
		since := it.Record.Value.LastFire
		if isHeld && unrecorded[held].Ended.After(since) {
			since = unrecorded[held].Ended
		}
		for _, resumed := range []time.Time{r.configured, r.toldItems[n]} {
			if since.Before(resumed) {
				since = resumed
			}
		}
		theirs, still := r.peers.TheirsUntil(n, r.state.Owner(n))
		if still {
			continue // they do not say for what they ran
		}
		if theirs.After(since) {
			since = theirs
		}
		if e := it.Record.Value.Current; e != nil && e.End.After(since) {
			since = e.End
		}
		until := until
		if r.state.Owner(n) != r.s.instance {
			until = untilOfOthers
		}
		if fire := cronexpr.Last(r.settings.Rules.Schedule, since, until); until.After(since) && !fire.IsZero() {
			overdue = append(overdue, OverdueItem{Item: n, Fire: fire})
		}
	}
	return overdue
}

// overdueUntil returns the time until which fires are overdue, of items of this instance and of those of others, which go by
// other clocks. A clock that is ahead must not judge them by fires that have not come: it counts as no later than the registry's,
// or as ahead by as much as it may be while the registry's is not known.
func (r *runner) overdueUntil() (ours, others time.Time) {
	ours = r.s.now().Add(-inforce.OverdueAfter(*r.settings.Config))
	off, known := r.look().Clock.Off()
	if !known {
		return ours, ours.Add(-inforce.ClockTolerance)
	}
	ours = ours.Add(-max(0, off))
	return ours, ours
}

// allDisabled tells whether there are instances, and the servers of all of them are disabled.
func (r *runner) allDisabled() bool { return len(r.state.Instances) > 0 && !r.state.AnybodyEnabled() }
