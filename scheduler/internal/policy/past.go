package policy

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// handoverSpan is how old a fire may be that others may still have to report as missed. It is
// longer than it takes to give the items of a dead instance to others, also if the registry is away meanwhile. Who receives an
// item waits for a moment, once, if there is such a fire.
const handoverSpan = time.Hour

// Ticked lists the fires that the clock ticked up to a time and that are later than the last one that an
// item ran for.
func (r Rules) Ticked(w *Witness, item int, ran, until time.Time) []time.Time {
	return w.Fires(r.Schedule, Later(w.Floor(item), ran), until, r.Keeps())
}

// TickedLately is Ticked for a job without records, where nobody knows what an item ran for. It lists the newest
// fire that was not seen for the item, and no other, or nothing if that fire is too late. One that a longer jitter delays was
// ticked under a shorter one, and its former owner may have run it by that.
func (r Rules) TickedLately(w *Witness, item int, seen, now time.Time) []time.Time {
	from := Later(w.Floor(item), seen, now.Add(-LateAfter-r.Jitter.Most-1))
	newest := w.Fires(r.Schedule, from, now, 1)
	if len(newest) > 0 && now.Sub(r.Told(newest[0])).Abs() > LateAfter {
		return nil
	}
	return newest
}

// Unseen lists the fires of an item that came within the window while perhaps nobody lived to tick them. Of
// an item without a record nobody knows which fires it had: the job may be new, or its count may have been
// raised. known is false if that cannot be told.
func (r Rules) Unseen(w *Witness, item int, record jobtree.Record, now time.Time) (fires []time.Time, known bool) {
	since := recordedSince(record)
	if r.Window <= 0 || since.IsZero() {
		return nil, false
	}
	all := r.told(r.Fires(Later(now.Add(-r.Window), since, w.Floor(item)), now), now)
	return slices.DeleteFunc(all, func(fire time.Time) bool {
		told := r.Told(fire)
		return w.gaps != nil && slices.ContainsFunc(w.gaps.void, func(s span) bool { return told.After(s.after) && !told.After(s.to) })
	}), true
}

// Accounted tells, for the recent fires that nobody ran an item for, whether it is known what happened to each of
// them.
func (r Rules) Accounted(w *Witness, item int, d Due, ran, now time.Time) bool {
	from := Later(now.Add(-handoverSpan), ran, w.Floor(item))
	return !slices.ContainsFunc(r.told(r.Fires(from, now), now), func(fire time.Time) bool {
		return !w.Has(fire) && !d.Holds(fire)
	})
}

// told leaves out of some fires, ascending, those that are still to come at a time, or are delayed: nobody has missed them.
func (r Rules) told(fires []time.Time, now time.Time) []time.Time {
	for len(fires) > 0 && r.Told(fires[len(fires)-1]).After(now) {
		fires = fires[:len(fires)-1]
	}
	return fires
}

// Noted returns the fires that a note names as missed and that nobody has run for; ran is the last that
// somebody has. times names by what the job fires: what was noted under other times does not count.
func (r Rules) Noted(missed jobtree.Misfire, ran time.Time, times string) []time.Time {
	if !missed.Newest().After(ran) || missed.Times != "" && missed.Times != times {
		return nil
	}
	fires := missed.Fires
	if r.known() && missed.Times == "" { // the fires of another cron are none
		fires = slices.DeleteFunc(slices.Clone(fires), func(fire time.Time) bool { return !r.isFire(fire) })
	}
	if r.known() && !missed.Since.IsZero() && r.All {
		fires = append(r.Fires(missed.Since.Add(-1), missed.Fires[0].Add(-1)), fires...)
	}
	for len(fires) > 0 && !fires[0].After(ran) {
		fires = fires[1:]
	}
	return fires
}

// RecallNoted makes the fires due that are noted as missed. One that is still to come by this clock was not
// missed.
func (r Rules) RecallNoted(d Due, noted []time.Time, now time.Time) Due {
	return r.Expire(r.Merge(d, r.told(noted, now)...), now)
}

// Owed returns the fires that are to be noted as missed of an item, beside those that are noted already; nil
// if the registry knows all of them. ran is the last fire that the item ran for.
func (r Rules) Owed(d Due, noted []time.Time, ran time.Time) []time.Time {
	owed := jobtree.MissedFires(append(slices.Clone(noted), d.After(ran).Owed()...)...)
	if r.known() { // while the job pauses its policy is not known
		owed = r.Keep(owed)
	}
	if len(owed) == 0 || slices.EqualFunc(owed, noted, time.Time.Equal) {
		return nil
	}
	return owed
}

// recordedSince returns the time from which on a record shows that its item is to be run, and for which fire
// it ran; zero if it shows none.
func recordedSince(record jobtree.Record) time.Time {
	if record.LastFire.IsZero() && record.Current != nil {
		return record.Current.Begin // it ran by hand
	}
	return record.LastFire
}

// Later returns the latest of times.
func Later(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}
