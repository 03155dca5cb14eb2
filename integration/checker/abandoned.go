package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// With the scope "assigned", failover runs every item of an instance that crashed again, and not only what it was running.
// An instance that leaves by its own will says so in the same commit.

// abandoned is an item that is to be run again because its owner crashed, though it was not running.
type abandoned struct {
	owner string
	since time.Time
}

// noteAbandoned notes which items were abandoned by the step that led to the present state, and which of them are so no more.
func (j *judge) noteAbandoned(at time.Time) {
	cfg := j.now.Config
	all := cfg.Exists() && cfg.Err == nil && cfg.Value.Failover && cfg.Value.FailoverScope == job.FailoverAssigned
	for _, was := range j.before.Instances {
		if j.now.Instance(was.ID).Created != 0 || slices.Contains(j.now.Left, was.ID) || j.hands.ghost(j.before, was) {
			continue
		}
		for n := range j.before.Total() {
			if it := j.now.Item(n); all && j.before.Owner(n) == was.ID && it.Record.Err == nil && it.Record.Value.Current != nil {
				j.abandoned[n] = abandoned{was.ID, at}
			}
		}
	}
	for n, a := range j.abandoned {
		it := j.now.Item(n)
		state := it.Record.Value.State
		given := j.now.Owner(n) != a.owner
		switch {
		case !all, it.Disabled, n >= j.now.Total(), n >= cfg.Value.ShardingTotalCount, j.now.Instance(a.owner).Created != 0, it.Remains.Exists(), it.Running.Exists(),
			state == jobtree.ItemRunning, state == jobtree.ItemWaiting, j.rerunSince(n, a.since):
			delete(j.abandoned, n) // the other rules know what is to become of it
		case given:
			j.find(NothingForgotten, at, n, fmt.Sprintf("%s crashed at %s, and its item was given to %q and not run again", a.owner, clock(a.since), j.now.Owner(n)))
			delete(j.abandoned, n)
		}
	}
}

// rerunSince tells whether an item was run again since a moment.
func (j *judge) rerunSince(n int, since time.Time) bool {
	return slices.ContainsFunc(j.byItem[n], func(e *execution) bool { return e.source() == job.Failover && !e.began.Before(since) })
}

// requeues tells whether a step may have had an item wait to be run again that was not running: its owner crashed.
func (j *judge) requeues(n int) bool {
	was, owner := j.before.Item(n), j.before.Owner(n)
	cfg := j.before.Config
	return cfg.Exists() && cfg.Err == nil && cfg.Value.Failover && cfg.Value.FailoverScope == job.FailoverAssigned && owner != "" &&
		j.before.Instance(owner).Created == 0 && !slices.Contains(j.before.Left, owner) && !was.Running.Exists() && was.Record.Value.Current != nil
}

// runsAgain tells whether an execution is of an item that its owner's crash had run again, though what it ran last had come to
// its end; so is the rerun of one that is.
func (j *judge) runsAgain(e *execution) bool {
	if e.source() != job.Failover {
		return false
	}
	all := j.byItem[e.item]
	i := slices.Index(all, e)
	for i > 0 && all[i-1].source() == job.Failover && !all[i].requeued {
		i--
	}
	return i >= 0 && all[i].requeued
}
