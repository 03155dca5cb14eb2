package checker

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// notePresence keeps track of when instances are registered. Ghosts are not: nothing tells whether their processes live.
func (j *judge) notePresence(at time.Time) {
	for id, spans := range j.presence {
		if last := &spans[len(spans)-1]; last.until.Equal(j.End) && !j.registered(j.now.Instance(id)) {
			last.until = at
		}
	}
	for _, i := range j.now.Instances {
		if !j.registered(i) {
			continue
		}
		if _, known := j.joined[i.Session]; !known {
			j.joined[i.Session] = at
		}
		known := j.presence[i.ID]
		if len(known) == 0 || known[len(known)-1].until.Before(j.End) {
			j.presence[i.ID] = append(known, span{at, j.End})
		}
	}
}

func (j *judge) registered(i jobtree.Instance) bool {
	return i.Created != 0 && !j.hands.ghost(j.now, i)
}

// noteTold notes whom a step told to leave the job. One that leaves writes the same into its own node while it has to
// stay, and asks for a resharding in that commit, which nobody who tells it does.
func (j *judge) noteTold(at time.Time, step registry.Step) {
	var told []string
	asks := false
	for _, c := range step.Changes {
		name, ok := jobtree.Parse(c.Path())
		if !ok || name.Job != j.Job {
			continue
		}
		asks = asks || name.Kind == jobtree.KindNecessary && c.New.Exists()
		if name.Kind == jobtree.KindInstance && c.Kind() == registry.Updated && j.now.Instance(name.Key).Shutdown {
			told = append(told, name.Key)
		}
	}
	if asks && j.operationOf(at, step) == nil {
		return
	}
	for _, instance := range told {
		j.told[instance] = append(j.told[instance], at)
	}
}

// asked tells whether anybody asked an instance that is registered to leave, by a moment: to stop, or by its node. What its
// process was asked in a former life is over when it is registered by a later one.
func (j *judge) asked(instance string, by time.Time) bool {
	present := j.presence[instance]
	born := j.born(instance, present[len(present)-1].from)
	within := func(t time.Time) bool { return !t.Before(born) && !t.After(by) }
	return slices.ContainsFunc(j.told[instance], within) || slices.ContainsFunc(j.Incidents, func(i Incident) bool {
		return i.Kind == Stopped && i.Instance == instance && within(i.From)
	})
}

// serves tells whether an instance is one that cares for the job at a moment: it is enabled, no ghost, and nobody asked it
// to leave. One that leaves unasked is, and what it does not do is found. One that cannot use the settings is not.
func (j *judge) serves(i jobtree.Instance, at time.Time) bool {
	leaves := i.Shutdown && j.now.Enabled(i.ID) && j.registered(i) && !j.asked(i.ID, at)
	return (j.hands.mayOwn(j.now, i) || leaves) && !j.willRefuse(i.ID, at)
}

// refuses tells whether a process cannot use the settings of the job, and knows it, at a moment.
func (j *judge) refuses(instance string, at time.Time) bool {
	return j.refusal(instance, at) != nil
}

// refusal returns the incident that a process is in, if it refuses the settings at a moment, or nil.
func (j *judge) refusal(instance string, at time.Time) *Incident {
	for k := range j.refusals {
		if i := &j.refusals[k]; i.Instance == instance && !at.Before(i.From) && at.Before(i.until()) {
			return i
		}
	}
	return nil
}

// willRefuse tells whether a process cannot use the settings of the job as they are at a moment, be it that it has yet to
// hear of them.
func (j *judge) willRefuse(instance string, at time.Time) bool {
	return j.refuses(instance, at) || j.refuses(instance, at.Add(j.rules.Settle))
}

// judgePresence judges whether a process was registered while it was alive and nothing kept it from
// that, and was not while it was dead.
func (j *judge) judgePresence(instance string) {
	hindered := append(slices.Clone(j.excused), j.during(instance, j.rules.Settle+j.rules.Detect, Cut, Paused, Slow, Down, Expired, Denied, Refused)...).merge()
	if len(j.States) == 0 {
		return
	}
	stays := append(slices.Clone(hindered), j.unmarked(instance)...).merge()
	hindered = append(hindered, j.out(instance)...)
	hindered = append(hindered, j.away(instance)...)
	for _, unusable := range j.courses.settings.when(j.End, func(s *settings) bool { return !s.usable }) { // there is nothing to join
		hindered = append(hindered, span{unusable.from, unusable.until.Add(2 * j.rules.Settle)})
	}
	hindered = hindered.merge()
	for _, life := range j.lives(instance, j.States[0].At, j.End) {
		absent := spans{life}
		for _, present := range j.presence[instance] {
			absent = absent.without(present)
		}
		if j.alive(instance, life.from) {
			if at, bad := hindered.firstGap(absent); bad {
				j.find(StoppedWork, at, NoItem, instance+" is alive and takes no part")
			}
			continue
		}
		present := spans{life}
		for _, x := range absent {
			present = present.without(x)
		}
		if at, bad := stays.firstGap(present); bad {
			j.find(NoLeftovers, at, NoItem, instance+" is registered though its process is gone")
		}
	}
}

// lives cuts a stretch of time where the process of an instance began or ended.
func (j *judge) lives(instance string, from, until time.Time) spans {
	var lives spans
	for _, i := range j.Incidents {
		life := i.Kind == Started || i.Kind == Stopped || i.Kind == Crashed
		if life && i.Instance == instance && i.From.After(from) && i.From.Before(until) {
			lives = append(lives, j.lives(instance, from, i.From)...)
			return append(lives, j.lives(instance, i.From, until)...)
		}
	}
	return spans{{from, until}}
}
