package checker

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// excuse returns the rule by which a missed fire was rightly not made up by an instance that could have at
// a moment; empty if there is none. Rules go by the settings, and by what was done to the cluster.
func (j *judge) excuse(m missed, at time.Time, by string) string {
	edge := j.jitter() + 2*j.rules.Skew
	from, upTo := j.stale(m.due.Add(-edge)), m.due.Add(edge)
	windowed := m.settings.MisfireWindow > 0 && j.recorded(m) // who comes to own the item looks back for that long
	for _, rule := range []struct {
		name  string
		holds bool
	}{
		{"misfire policy", j.policyDrops(m, from, at)},
		{"the item was disabled, or not there", slices.Contains(j.courses.runnable[m.item].between(from, at), false)},
		{"the settings could not be used", slices.ContainsFunc(j.courses.settings.between(from, upTo), func(s *settings) bool { return s == nil || !s.usable })},
		{"the item had never run", !slices.ContainsFunc(j.byItem[m.item], func(e *execution) bool { return e.began.Before(m.due) })},
		{"there was nobody to run it", slices.Contains(j.courses.attended.between(from, upTo), false) && (!windowed || !j.deserted(from, upTo))},
		{"a careless hand took the note", j.hands.touched(m.item, from, at, jobtree.KindItemMisfire, jobtree.KindItemRecord)},
		{"no witness", !windowed && !j.witnessed(m, at, by, from, upTo)},
	} {
		if rule.holds {
			return rule.name
		}
	}
	return ""
}

// recorded tells whether the item had a record when it missed a fire, of a run before that. A window reaches back no
// further: an item without one may have been part of the job for any length of time, also if the job had one of its number
// before.
func (j *judge) recorded(m missed) bool {
	return slices.ContainsFunc(j.byItem[m.item], func(e *execution) bool {
		return e.began.Before(m.due) && e.life == j.life(m.due) &&
			!slices.ContainsFunc(j.forgotten[m.item], func(gone time.Time) bool { return gone.After(e.began) && !gone.After(m.due) })
	})
}

// deserted tells whether no instance was there at any moment from one time to another.
func (j *judge) deserted(from, until time.Time) bool {
	for _, present := range j.presence {
		if present.touches(from, until) {
			return false
		}
	}
	return true
}

// policyDrops tells whether the settings in force from one time to another gave a missed fire up: missed
// fires are not made up, or only the newest, or they are too many or too old, or those of another cron.
func (j *judge) policyDrops(m missed, from, at time.Time) bool {
	newer := 0
	for fire := m.settings.schedule.Next(m.fire); !fire.IsZero() && !fire.After(at.Add(j.rules.Skew)) && newer < inforce.MisfireMax(m.settings.Config); fire = m.settings.schedule.Next(fire) {
		newer++
	}
	age := at.Sub(m.fire) + j.rules.Settle + 2*j.rules.Skew
	if m.settings.all() && j.newHere(m.item, at) {
		age += j.rules.Handover // its owner waits for what others know of fires before it
	}
	return slices.ContainsFunc(j.courses.settings.between(from, at), func(s *settings) bool {
		switch {
		case s == nil || !s.there:
			return true
		case !s.usable:
			return false // what is due outlasts that
		default:
			return !s.sameTimes(m.settings) || s.Misfire == job.MisfireSkip || s.all() && newer >= inforce.MisfireMax(s.Config) ||
				!s.all() && newer > 0 && m.settings.all() || s.MisfireWindow > 0 && age > s.MisfireWindow
		}
	})
}

func (s *settings) all() bool { return s.Misfire == job.MisfireAll }

// witnessed tells whether an instance that could have made a fire up must have known of it: its own clock
// ticked it, or whoever owned the item from then on did, and handed over what it knew.
func (j *judge) witnessed(m missed, at time.Time, by string, from, upTo time.Time) bool {
	if j.rules.Witnesses && j.recorded(m) && (j.bystander(m, at, by, from, upTo) || j.toldAtLeave(m, at, from, upTo)) {
		return true
	}
	owners := j.courses.owner[m.item]
	for _, owner := range owners.between(m.due.Add(-j.jitter()-2*j.rules.Skew), upTo) {
		if !j.ticked(owner, m.due, m.due, from) {
			return false // it came to this one when the fire did
		}
	}
	off := of(j.courses.servers, jobtree.ServerOf(by))
	return j.ticked(by, m.due, at, from) && !slices.Contains(off.between(from, upTo), true) || j.handedOver(m, at)
}

// silencing is what keeps an instance from telling others what an item has missed, and from hearing it. A stop does not: who
// stops tells first, for half a second of the registry's time, in which one that is neither slow nor paced takes all of it.
var silencing = []Kind{Crashed, Cut, Paused, Slow, Down, Expired, Lost, Unwatched, Misset, Denied, Refused, Held, Paced}

// bystander tells whether an instance that did not own an item knew of a fire and could tell its owner: it had taken part
// when the fire came, and nothing has kept it from speaking, nor the owner from hearing it, for as long as an owner waits.
func (j *judge) bystander(m missed, at time.Time, by string, from, upTo time.Time) bool {
	since := at.Add(-j.rules.Handover - 2*j.rules.Settle - 2*j.rules.Skew)
	kinds := append([]Kind{Stopped}, silencing...)
	if !since.After(m.due) || j.during(by, j.rules.Settle, kinds...).touches(since, at) || !j.presence[by].covers(since) {
		return false
	}
	// By another clock, who joins as a fire comes joined before it, and so knows of it.
	if slices.ContainsFunc(j.presence[by], func(p span) bool { return !p.from.Before(from) && !p.from.After(upTo) }) {
		return false
	}
	return slices.ContainsFunc(j.instances(), func(id string) bool {
		off := of(j.courses.servers, jobtree.ServerOf(id))
		_, away := j.presence[id].gap(since, at)
		return id != by && !away && j.ticked(id, m.due, at, from) && !slices.Contains(off.between(from, at), true) &&
			!j.during(id, j.rules.Settle, kinds...).touches(since, at) && !j.away(id).touches(since, at)
	})
}

// toldAtLeave tells whether an instance that did not own an item, and knew of a fire, noted it when it stopped: nothing kept it
// from that. Whoever runs the item then reads the note, be the former owner dead or not.
func (j *judge) toldAtLeave(m missed, at, from, upTo time.Time) bool {
	return slices.ContainsFunc(j.Incidents, func(stop Incident) bool {
		id, told := stop.Instance, stop.until().Add(j.rules.Settle)
		since := stop.From.Add(-j.rules.Settle)
		if stop.Kind != Stopped || !since.After(upTo) || !told.Before(at) || !j.ticked(id, m.due, since, from) {
			return false
		}
		off := of(j.courses.servers, jobtree.ServerOf(id))
		_, away := j.presence[id].gap(from, since)
		return !away && !slices.Contains(off.between(from, told), true) &&
			!j.during(id, j.rules.Settle, silencing...).touches(from, told) && !j.away(id).touches(from, told)
	})
}

// ticked tells whether the process of an instance, which lives on at a moment, had taken part for a while
// when a fire came.
func (j *judge) ticked(instance string, fire, at, from time.Time) bool {
	born := j.born(instance, at)
	if !j.alive(instance, fire) || !j.alive(instance, at) || !born.Before(from) || j.out(instance).touches(from, at) || j.during(instance, j.rules.Settle, Refused).touches(from, at) {
		return false
	}
	return slices.ContainsFunc(j.presence[instance], func(p span) bool { return !p.from.Before(born) && p.from.Before(from) })
}

// handedOver tells whether all who owned an item from a fire on could hand over what they knew: nothing was
// done to them but that they stopped, or their servers were disabled. Who runs the item when it moves away hands over with
// the end of that run.
func (j *judge) handedOver(m missed, at time.Time) bool {
	owners := *j.courses.owner[m.item]
	for i, s := range owners {
		until := at
		if i+1 < len(owners) && owners[i+1].from.Before(at) {
			until = owners[i+1].from
		}
		if !until.After(m.due) || s.from.After(at) {
			continue
		}
		for _, e := range j.byItem[m.item] {
			if e.instance() == s.is && e.began.Before(until) && e.closed.After(until) {
				until = e.closed
			}
		}
		trouble := j.during(s.is, j.rules.TTL, Crashed, Cut, Paused, Slow, Down, Expired, Lost, Unwatched, Misset, Denied, Refused)
		if trouble.touches(m.due.Add(-j.rules.Settle), until.Add(j.rules.Settle)) {
			return false
		}
	}
	return true
}

// stale returns the time of the oldest state of the registry that some process may still believe in at a
// moment, because it could not reach the store, or the news took long.
func (j *judge) stale(at time.Time) time.Time {
	if j.outOfTouch == nil {
		for _, i := range j.Incidents {
			switch i.Kind {
			case Cut, Paused, Slow, Down, Held, Expired, Lost, Denied:
				j.outOfTouch = append(j.outOfTouch, span{i.From.Add(-j.jitter()), i.until().Add(4*i.Delay + j.rules.Settle)})
			}
		}
		j.outOfTouch = j.outOfTouch.merge()
	}
	for _, x := range j.outOfTouch {
		if !at.Before(x.from) && !at.After(x.until) {
			return x.from
		}
	}
	return at
}
