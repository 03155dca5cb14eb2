package checker

import (
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/inforce"
)

// A job may say how many of its items run at once in one process. The others wait for their turn there; an item whose code has
// failed and is to be called again has its turn all the while.

// judgeConcurrency judges whether no process called more code at once than the settings allow.
func (j *judge) judgeConcurrency() {
	running := make(map[string][]*Run) // by process
	for i := range j.Runs {
		r := &j.Runs[i]
		beside := slices.DeleteFunc(running[r.Instance], func(other *Run) bool {
			return !other.Ended.IsZero() && !other.Ended.After(r.Began) || j.givenUp(other, r)
		})
		if most := j.mostAtOnce(r); most > 0 && len(beside) >= most {
			j.find(Intent, r.Began, r.Context.Item, fmt.Sprintf("%d items ran already in the process, and %d may", len(beside), most), beside[0], r)
		}
		running[r.Instance] = append(beside, r)
	}
}

// givenUp tells whether code that does not listen may have been given up by a stop before other code was called: its
// scheduler is gone, and the next one of that id counts its own.
func (j *judge) givenUp(other, r *Run) bool {
	return !other.Cancelled.IsZero() && !other.Cancelled.After(r.Began) && slices.ContainsFunc(j.Incidents, func(i Incident) bool {
		return (i.Kind == Started || i.Kind == Stopped) && i.Instance == r.Instance && i.From.After(other.Began) && !i.From.After(r.Began)
	})
}

// mostAtOnce returns the largest number of items that the settings allow of which a process may have gone by when it called
// code; 0 is any number. In trouble it may not have heard of them for long.
func (j *judge) mostAtOnce(r *Run) (most int) {
	since := r.Began.Add(-j.rules.Settle - j.jitter())
	if j.during(r.Instance, j.rules.Settle+j.rules.Detect, Cut, Paused, Slow, Down, Lost, Unwatched, Held, Denied).touches(since, r.Began) {
		return 0
	}
	for _, s := range j.courses.settings.between(since, r.Began) {
		if s == nil || !s.usable {
			return 0
		}
		limit, err := inforce.MaxRunning(s.Config)
		if err != nil || limit == 0 {
			return 0
		}
		most = max(most, limit)
	}
	return most
}
