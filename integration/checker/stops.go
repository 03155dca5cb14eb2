package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// judgeStops judges every stop that nothing else disturbed.
func (j *judge) judgeStops() {
	for _, i := range j.Incidents {
		trouble := j.during(i.Instance, j.rules.TTL, Cut, Paused, Slow, Down, Expired, Lost, Denied, Paced)
		if i.Kind == Stopped && !trouble.touches(i.From, i.until()) {
			j.judgeStop(i)
		}
	}
}

func (j *judge) judgeStop(stop Incident) {
	born := j.born(stop.Instance, stop.From)
	if limit := stop.From.Add(j.rules.Settle); !j.unmarked(stop.Instance).covers(limit) && j.registeredBy(span{born, stop.until()}, stop.Instance, limit) && !j.alive(stop.Instance, limit) {
		j.find(GracefulStop, limit, NoItem, stop.Instance+" was told to stop and is still registered", stop)
	}
	grace := stop.From.Add(j.rules.Grace)
	if limit := grace.Add(j.rules.Farewell + j.rules.Settle); stop.until().After(limit) {
		j.find(GracefulStop, limit, NoItem, stop.Instance+" was told to stop and has not", stop)
	}
	for _, executions := range j.byItem {
		for _, e := range executions {
			if e.instance() == stop.Instance && !j.lived(e).Before(born) && !e.began.After(stop.until()) {
				j.judgeStopped(stop, grace, e)
			}
		}
	}
}

// born returns when the life of an instance began that goes on at a moment. What a former life left
// when it died is not this one's to hand over.
func (j *judge) born(instance string, at time.Time) time.Time {
	var born time.Time
	for _, i := range j.Incidents {
		if i.Kind == Started && i.Instance == instance && !i.From.After(at) && i.From.After(born) {
			born = i.From
		}
	}
	return born
}

// lived returns when the life of an instance was there that began an execution: its last message may arrive when the next one
// lives.
func (j *judge) lived(e *execution) time.Time {
	if since, known := j.joined[e.begun.Current.Session]; known && since.Before(e.began) {
		return since
	}
	return e.began
}

// registeredBy tells whether an instance is registered at a moment by one of its lives, and neither by a
// former nor by a later one.
func (j *judge) registeredBy(life span, instance string, at time.Time) bool {
	for _, present := range j.presence[instance] {
		if !present.from.Before(life.from) && !present.from.After(life.until) && !at.Before(present.from) && !at.After(present.until) {
			return true
		}
	}
	return false
}

// judgeStopped judges how an execution ended whose instance stopped.
func (j *judge) judgeStopped(stop Incident, grace time.Time, e *execution) {
	if !e.closed.IsZero() && e.closed.Before(stop.From) || !e.markGone.IsZero() && e.markGone.Before(stop.From) {
		return
	}
	if e.began.After(stop.From.Add(j.jitter())) && e.outcome() != jobtree.NotStarted {
		j.find(GracefulStop, e.began, e.item, "an instance began an item after it was told to stop", stop, e)
	} else if e.run != nil && e.run.Began.After(stop.From.Add(j.jitter())) && j.recalled(e) {
		j.find(GracefulStop, e.run.Began, e.item, "code was called after its instance was told to stop", append(proofs(e), stop)...)
	}
	if !e.unmarked.IsZero() && !j.presence[e.instance()].covers(e.unmarked) {
		return // a hand took the mark when nothing else was there any more to show that it ran
	}
	if !e.markGone.IsZero() || e.outcome() == jobtree.Lost {
		j.find(GracefulStop, stop.From, e.item, "an instance stopped and its execution was lost", stop, e)
	}
	if e.run != nil && !e.run.Cancelled.IsZero() && e.run.Cancelled.Before(stop.From) {
		return // interrupted already
	}
	early := e.run != nil && !e.run.Cancelled.IsZero() && e.run.Cancelled.Before(grace)
	if early || e.outcome() == jobtree.Interrupted && e.closed.Before(grace) && !e.yielded() {
		j.find(GracefulStop, stop.From, e.item, fmt.Sprintf("an execution was interrupted by a stop before %s", clock(grace)), append(proofs(e), stop)...)
	}
}

// recallTakes is for how long a fire must be made up yet for its begin to be taken back.
const recallTakes = 10 * time.Second

// recalled tells whether an execution that has begun is given up for as long as its code waits if its instance leaves: somebody
// else runs its fire then. One that nobody else would run keeps its turn, and so may any that waits for a hook.
func (j *judge) recalled(e *execution) bool {
	switch {
	case len(j.rules.Hooks) > 0:
		return false
	case e.planned():
		return !slices.ContainsFunc(j.courses.settings.between(e.began, e.run.Began), func(s *settings) bool {
			return s == nil || !s.usable || s.delay == 0 && !makesUp(s.Config, e.fire(), e.run.Began.Add(recallTakes))
		})
	default:
		return e.source() == job.Failover
	}
}
