package checker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// judgeFires accounts for every fire of every item: it was run, or a rule says why not.
func (j *judge) judgeFires() {
	for _, n := range slices.Sorted(maps.Keys(j.courses.runnable)) {
		obstacles := j.obstacles(n)
		var waits time.Time // the fire that was delayed when the settings changed; zero = none
		for i, s := range j.courses.settings {
			until := j.End
			if i+1 < len(j.courses.settings) {
				until = j.courses.settings[i+1].from
			}
			first := s.from
			if !waits.IsZero() && s.is.usable && s.is.sameTimes(j.courses.settings[i-1].is) {
				first = waits
			}
			waits = time.Time{}
			switch {
			case !s.is.usable || s.is.Unmonitored || cronexpr.IsTriggered(s.is.schedule):
			case s.is.delay > 0:
				j.judgeDelay(n, s.is, span{s.from, until}, obstacles)
			default:
				waits = j.judgeScheduled(n, s.is, first, span{s.from, until}, obstacles)
			}
		}
	}
}

// judgeScheduled judges the fires of an item while settings are in force, from the first one that may come then. It returns the
// one that is delayed when they change, if any is: under others that do not change the fires it is due by those, and at once if
// it would have been due before.
func (j *judge) judgeScheduled(n int, s *settings, first time.Time, in span, obstacles spans) (waits time.Time) {
	for fire := s.schedule.Next(first.Add(-1)); !fire.IsZero() && fire.Before(in.until); fire = s.schedule.Next(fire) {
		due := due(s.Config, fire)
		if due.Before(in.from) {
			if s.Misfire == job.MisfireSkip {
				continue // it may be too late to be on time
			}
			due = in.from
		}
		if !due.Before(in.until) {
			return fire // the settings changed while it was delayed
		}
		if !j.courses.runnable[n].at(due) || j.ranUnrecorded(n, fire) {
			continue
		}
		m := missed{n, fire, due, s}
		if i := slices.IndexFunc(j.byItem[n], func(e *execution) bool { return e.standsFor(fire) }); i >= 0 {
			j.judgePrompt(m, j.byItem[n][i], obstacles)
			continue
		}
		if !j.wentAside(m) {
			j.judgeMissed(m, obstacles)
		}
	}
	return time.Time{}
}

// setAside is a record that could not be read and was replaced: what it said of fires until then is not known.
type setAside struct {
	spoilt time.Time // when a hand wrote it
	upTo   time.Time // the item goes on with the fires after it
}

// wentAside tells whether a fire had yet to be run when the record of its item could not be read any more, and came before
// that was set aside. It may be due later still, as its item delays it at random.
func (j *judge) wentAside(m missed) bool {
	return slices.ContainsFunc(j.setAside[m.item], func(a setAside) bool { return !m.due.Before(a.spoilt) && !m.fire.After(a.upTo) })
}

// standsFor tells whether an execution is that of a fire.
func (e *execution) standsFor(fire time.Time) bool {
	return e.planned() && e.fire().Equal(fire) && e.outcome() != jobtree.NotStarted
}

// missed is a fire of an item that nobody ran, or not on time.
type missed struct {
	item     int
	fire     time.Time
	due      time.Time // when it was to be run
	settings *settings // in force at the time
}

// judgePrompt judges whether a fire was run as soon as nothing kept the item from it, be that on time or made up for.
func (j *judge) judgePrompt(m missed, e *execution, obstacles spans) {
	idle, is := j.idle(m, e.began, obstacles)
	if later := due(e.settings, m.fire); later.After(idle) {
		return // its jitter was changed meanwhile
	}
	if is && (idle.Equal(m.due) || j.excuse(m, idle, j.courses.owner[m.item].at(idle)) == "") {
		j.find(NoStall, idle, m.item, fmt.Sprintf("the fire of %s was run late, and nothing had kept the item from it", clock(m.fire)), e)
	}
}

// judgeMissed judges whether a fire that was not run had to be: on time, or made up for as soon as nothing
// kept the item from it, and before any later one.
func (j *judge) judgeMissed(m missed, obstacles spans) {
	next := j.nextPlanned(m)
	if next != nil && next.began.Before(m.due.Add(j.jitter())) {
		if ahead, _ := j.ahead(next.instance(), next.began, next.began); ahead > 0 {
			return // a clock that was ahead has passed it over
		}
	}
	until := j.End
	if next != nil {
		until = next.began
	}
	if j.unmonitored(m.fire, until) {
		return // what was missed then is nobody's but its owner's
	}
	idle, is := j.idle(m, until, obstacles)
	for is && j.delayed(&m, idle) {
		idle, is = j.idle(m, until, obstacles)
	}
	if is {
		if idle.Equal(m.due) {
			j.find(NoStall, m.due, m.item, "nobody ran the fire of "+clock(m.fire))
			return
		}
		if owner := j.courses.owner[m.item].at(idle); j.excuse(m, idle, owner) == "" {
			j.find(NoStall, idle, m.item, fmt.Sprintf("the fire of %s was missed, and not made up by %s", clock(m.fire), owner))
			return
		}
	}
	if next == nil || !m.settings.all() {
		return // a run for a later fire is that of all before it, too
	}
	if j.excuse(m, next.began, next.instance()) == "" {
		j.find(NoStall, next.began, m.item, fmt.Sprintf("the fire of %s was missed, and not made up before a later one", clock(m.fire)), next)
	}
}

// delayed tells whether a missed fire may wait yet at a moment for a jitter that was changed: as it came just then, by some
// clock, or as one run is for a later fire, too, that came by the jitter before and is delayed by the new one. If so, it is due
// by that.
func (j *judge) delayed(m *missed, at time.Time) bool {
	s := j.courses.settings.at(at)
	if s == nil || !s.usable || !s.sameTimes(m.settings) {
		return false
	}
	for fire := m.fire; !fire.IsZero() && !fire.After(at); fire = s.schedule.Next(fire) {
		later := due(s.Config, fire)
		if later.After(at) && (fire.Equal(m.fire) || !s.all() && j.cameBefore(fire, s)) {
			m.due = later
			return true
		}
	}
	return false
}

// cameBefore tells whether a fire was due before the settings that are in force.
func (j *judge) cameBefore(fire time.Time, now *settings) bool {
	edge := j.jitter() + j.rules.Skew
	for i, s := range j.courses.settings[1:] {
		if s.is == now {
			was := j.courses.settings[i].is
			return was.usable && !due(was.Config, fire).After(s.from.Add(edge))
		}
	}
	return false
}

// idle returns the first moment, since a fire was due and before another one, from which on nothing kept the item from it for
// as long as its owner may take.
func (j *judge) idle(m missed, until time.Time, obstacles spans) (time.Time, bool) {
	idle, is := obstacles.room(m.due, until, j.rules.Settle+j.rules.Skew)
	if is && m.settings.all() && j.newHere(m.item, idle) {
		return obstacles.room(m.due, until, j.rules.Settle+j.rules.Skew+j.rules.Handover)
	}
	return idle, is
}

// newHere tells whether an item belongs to another instance at a moment than the one that began it last, or has just come back
// to that.
func (j *judge) newHere(n int, at time.Time) bool {
	var last *execution
	for _, e := range j.byItem[n] {
		if e.began.Before(at) {
			last = e
		}
	}
	owners := j.courses.owner[n]
	owner := owners.at(at)
	return last == nil || last.instance() != owner ||
		slices.ContainsFunc(owners.between(maxTime(last.began, at.Add(-j.rules.Handover)), at), func(o string) bool { return o != owner })
}

// nextPlanned returns the first execution of an item for a fire later than one that was missed.
func (j *judge) nextPlanned(m missed) *execution {
	for _, e := range j.byItem[m.item] {
		if e.planned() && e.outcome() != jobtree.NotStarted && e.fire().After(m.fire) {
			return e
		}
	}
	return nil
}

// obstacles returns the times at which an item cannot begin, or may be late: it runs, or waits to be run
// again, or its code has not returned; nobody is there to run it, as those who are leave the job, or it is not to be
// run; something has just changed.
func (j *judge) obstacles(n int) spans {
	all := append(slices.Clone(j.excused), j.lingering(n)...)
	is := func(is bool) bool { return is }
	all = append(all, j.courses.manned.when(j.End, is).outside(j.States[0].At, j.End)...)
	all = append(all, j.courses.runnable[n].when(j.End, is).outside(j.States[0].At, j.End)...)
	all = append(all, j.courses.settings.when(j.End, func(s *settings) bool { return !s.usable })...)
	all = append(all, j.byWrongClocks(n)...)
	jitter := j.jitter() + j.rules.Skew
	all = append(all, j.ranWithoutRecord(n)...)
	executions := j.byItem[n]
	for i, e := range executions {
		busy := span{e.began.Add(-jitter), j.End}
		switch {
		case e.closed.IsZero():
		case e.after.State != jobtree.ItemWaiting:
			busy.until = e.freed().Add(jitter)
		case i+1 < len(executions):
			busy.until = executions[i+1].began
		}
		all = append(all, busy)
	}
	return all.merge()
}

// judgeDelay judges whether an item of a job with a fixed delay ran again so long after each run, and no
// sooner. What a hand has written to its record as a run counts as one, which ends when its loss is found.
func (j *judge) judgeDelay(n int, s *settings, in span, obstacles spans) {
	for _, run := range j.feigned[n] {
		obstacles = append(obstacles, span{run.from, run.until.Add(s.delay)})
	}
	obstacles = obstacles.merge()
	var last *execution
	slack := 2*j.rules.Skew + j.jitter()
	due := in.from
	for _, e := range j.byItem[n] {
		if e.outcome() == jobtree.NotStarted {
			continue
		}
		if e.planned() && !e.began.Before(in.from) && e.began.Before(in.until) {
			if last != nil && e.began.Before(j.over(last).Add(s.delay-slack)) && last.began.After(in.from) {
				j.find(OneExecution, e.began, n, "an item began again before its delay was over", last, e)
			}
			j.judgeRest(n, due, e.began, obstacles)
		}
		if e.closed.IsZero() {
			return
		}
		if e.began.Before(in.until) {
			last, due = e, e.freed().Add(s.delay)
			if due.Before(in.from) {
				due = in.from
			}
		}
	}
	j.judgeRest(n, due, in.until, obstacles)
}

// judgeRest judges whether an item that was due at a moment was kept from running until it did.
func (j *judge) judgeRest(n int, due, until time.Time, obstacles spans) {
	if idle, is := obstacles.room(due.Add(2*j.rules.Skew), until, j.rules.Settle+j.rules.Skew); is {
		j.find(NoStall, idle, n, fmt.Sprintf("the item was due at %s and did not run", clock(due)))
	}
}
