package checker

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
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
		known := j.presence[i.ID]
		if len(known) == 0 || known[len(known)-1].until.Before(j.End) {
			j.presence[i.ID] = append(known, span{at, j.End})
		}
	}
}

func (j *judge) registered(i jobtree.Instance) bool {
	return i.Created != 0 && !j.hands.ghost(j.now, i)
}

// judgePresence judges whether a process was registered while it was alive and nothing kept it from
// that, and was not while it was dead.
func (j *judge) judgePresence(instance string) {
	hindered := append(slices.Clone(j.excused), j.during(instance, j.rules.Settle+j.rules.Detect, Cut, Paused, Slow, Down, Expired, Denied)...).merge()
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
