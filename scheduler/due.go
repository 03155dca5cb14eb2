package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// lateAfter is how late a scheduled fire may begin and still count as on time. Beyond, it is a
// missed fire and follows the misfire policy.
const lateAfter = 5 * time.Second

// due are the fires of an item that want to be run; the zero due is none. A fire is on time until
// something keeps it from beginning; then it is missed.
type due struct {
	onTime time.Time   // the newest fire, unless it was missed; zero = none
	missed []time.Time // fires to be made up, ascending; of those before onTime
}

func (d due) none() bool { return d.onTime.IsZero() && len(d.missed) == 0 }

// next returns the fire that is to be run next, and why; zero if there is none. Missed ones come
// first: the newest fire that an item ran for is the bound for all later ones.
func (d due) next() (time.Time, job.Source) {
	if len(d.missed) > 0 {
		return d.missed[0], job.Misfire
	}
	return d.onTime, job.Scheduled
}

// after returns what is still due when the item has run for a fire.
func (d due) after(fire time.Time) due {
	for len(d.missed) > 0 && !d.missed[0].After(fire) {
		d.missed = d.missed[1:]
	}
	if !d.onTime.After(fire) {
		d.onTime = time.Time{}
	}
	return d
}

// newest returns the newest fire that is due; zero if there is none.
func (d due) newest() time.Time {
	if d.onTime.IsZero() && len(d.missed) > 0 {
		return d.missed[len(d.missed)-1]
	}
	return d.onTime
}

// misfires is what a job does about missed fires.
type misfires struct {
	on     bool
	all    bool          // run each, instead of one run for all
	most   int           // of them to keep, if all
	window time.Duration // how old they may be; 0 = any age

	jitter  time.Duration // by how much a fire may be told late
	ageless bool          // a fire is never too late to be on time
}

func misfiresOf(cfg job.Config) misfires {
	return misfires{
		on:     cfg.Misfire != job.MisfireSkip,
		all:    cfg.Misfire == job.MisfireAll,
		most:   cfg.MisfireMaxInForce(),
		window: cfg.MisfireWindow,
		jitter: cfg.Jitter,
	}
}

// tooLate tells of a fire whether it can no longer begin as one that is on time.
func (m misfires) tooLate(fire, now time.Time) bool {
	return !m.ageless && now.Sub(fire) > lateAfter+m.jitter
}

// tick adds a fire that came just now, and those that passed unseen before it. If missed fires are
// run as one anyway, the run of this one is theirs, too.
func (m misfires) tick(d due, fire time.Time, passed []time.Time) due {
	if !m.all {
		return due{onTime: fire}
	}
	d = m.merge(m.miss(d).dropAhead(fire.Add(-1)), passed...)
	d.onTime = fire
	return d
}

// miss turns the fire that is on time into a missed one, or into nothing if the job does not make
// missed fires up.
func (m misfires) miss(d due) due {
	if d.onTime.IsZero() {
		return d
	}
	fire := d.onTime
	d.onTime = time.Time{}
	return m.add(d, fire)
}

// add adds missed fires, which are later than those that d has, and drops those that the job does not
// make up.
func (m misfires) add(d due, fires ...time.Time) due {
	if len(fires) == 0 {
		return d
	}
	all := append(d.missed[:len(d.missed):len(d.missed)], fires...)
	d.missed = m.dropBeyond(m.dropUnwanted(all))
	return d
}

// merge adds missed fires of any time, of which d may have some. One run for all stands for the older
// ones, too.
func (m misfires) merge(d due, fires ...time.Time) due {
	if !m.on || len(fires) == 0 {
		return d
	}
	all := jobtree.MissedFires(append(slices.Clone(d.missed), fires...)...)
	if !d.onTime.IsZero() {
		if all[len(all)-1].After(d.onTime) {
			all = jobtree.MissedFires(append(all, d.onTime)...) // fires begin in their order
			d.onTime = time.Time{}
		} else {
			all = slices.DeleteFunc(all, d.onTime.Equal)
		}
	}
	if !m.all && !d.onTime.IsZero() {
		d.missed = nil
		return d
	}
	d.missed = m.dropBeyond(all)
	return d
}

// owed returns the fires that d says are still to be run, in order; what is on time now will have been
// missed when somebody else reads it.
func (d due) owed() []time.Time {
	if d.onTime.IsZero() {
		return d.missed
	}
	return append(d.missed[:len(d.missed):len(d.missed)], d.onTime)
}

// expire turns what is too late to be on time into a missed fire, and drops what is too old to be made
// up.
func (m misfires) expire(d due, now time.Time) due {
	if !d.onTime.IsZero() && m.tooLate(d.onTime, now) {
		d = m.miss(d)
	}
	return m.dropOld(d, now)
}

// late tells whether an execution that began for a fire can no longer start as what it began as: the
// registry took so long to confirm the begin that the fire is now a missed one, or too old to be made
// up. A run by hand and the rerun of a lost one are never late.
func (m misfires) late(begun *jobtree.Execution, now time.Time) bool {
	switch begun.Source {
	case job.Scheduled:
		return m.tooLate(begun.Fire, now)
	case job.Misfire:
		return m.window > 0 && now.Sub(begun.Fire) > m.window
	default:
		return false
	}
}

// stillWanted tells whether an execution may start whose begin is confirmed now, and has one that began as
// on time start as a missed one if that is what it is by now.
func (m misfires) stillWanted(begun *jobtree.Record, now time.Time) bool {
	if !m.late(begun.Current, now) {
		return true
	}
	missed := *begun.Current
	missed.Source = job.Misfire
	if !m.on || m.late(&missed, now) {
		return false
	}
	begun.Current = &missed
	return true
}

// until returns the time until which the begin of the next fire makes sense, zero if that is always. One
// of a job that makes nothing up is of no use unless it is confirmed in time, too, which usually takes a
// while.
func (m misfires) until(d due, usual time.Duration) time.Time {
	fire, source := d.next()
	switch {
	case source == job.Misfire && m.window > 0:
		return fire.Add(m.window)
	case source == job.Misfire || m.ageless:
		return time.Time{}
	case m.on:
		return fire.Add(lateAfter + m.jitter)
	default:
		return fire.Add(lateAfter + m.jitter - min(2*usual, lateAfter/2))
	}
}
