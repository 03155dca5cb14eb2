package history

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/jobtree"
)

// judgeStops judges every stop that nothing else disturbed.
func (j *judge) judgeStops() {
	for _, i := range j.Incidents {
		trouble := j.during(i.Instance, j.rules.TTL, Cut, Paused, Slow, Down, Expired, Lost)
		if i.Kind == Stopped && !trouble.touches(i.From, i.until()) {
			j.judgeStop(i)
		}
	}
}

func (j *judge) judgeStop(stop Incident) {
	if limit := stop.From.Add(j.rules.Settle); j.presence[stop.Instance].covers(limit) && !j.alive(stop.Instance, limit) {
		j.find(GracefulStop, limit, NoItem, stop.Instance+" was told to stop and is still registered", stop)
	}
	grace := stop.From.Add(j.rules.Grace)
	for _, executions := range j.byItem {
		for _, e := range executions {
			if e.instance() == stop.Instance && !e.began.After(stop.until()) {
				j.judgeStopped(stop, grace, e)
			}
		}
	}
}

// judgeStopped judges what became of an execution of an instance that stopped.
func (j *judge) judgeStopped(stop Incident, grace time.Time, e *execution) {
	if !e.closed.IsZero() && e.closed.Before(stop.From) || !e.markGone.IsZero() && e.markGone.Before(stop.From) {
		return
	}
	if e.began.After(stop.From.Add(j.jitter())) && e.outcome() != jobtree.NotStarted {
		j.find(GracefulStop, e.began, e.item, "an instance began an item after it was told to stop", stop, e)
	}
	if !e.markGone.IsZero() || e.outcome() == jobtree.Lost {
		j.find(GracefulStop, stop.From, e.item, "an instance stopped and its execution was lost", stop, e)
	}
	if e.run != nil && !e.run.Cancelled.IsZero() && e.run.Cancelled.Before(stop.From) {
		return // interrupted already
	}
	early := e.run != nil && !e.run.Cancelled.IsZero() && e.run.Cancelled.Before(grace)
	if early || e.outcome() == jobtree.Interrupted && e.closed.Before(grace) {
		j.find(GracefulStop, stop.From, e.item, fmt.Sprintf("an execution was interrupted by a stop before %s", clock(grace)), append(proofs(e), stop)...)
	}
}
