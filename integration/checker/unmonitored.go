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

// A job that is not monitored leaves no trace of its executions. What is left of the promises is that whoever an item is
// assigned to runs it: once for each fire, at the fire, unless it still runs. Only the calls of code tell, and only what is
// far from every change is judged.

// judgeUnmonitored judges the fires and runs of items while the job is not monitored.
func (j *judge) judgeUnmonitored() {
	byItem := make(map[int][]*Run)
	for i := range j.Runs {
		r := &j.Runs[i]
		byItem[r.Context.Item] = append(byItem[r.Context.Item], r)
	}
	for _, n := range slices.Sorted(maps.Keys(j.courses.runnable)) {
		for i, s := range j.courses.settings {
			until := j.End
			if i+1 < len(j.courses.settings) {
				until = j.courses.settings[i+1].from
			}
			if s.is.usable && s.is.Unmonitored && !s.is.Disabled && s.is.delay == 0 && s.is.Jitter == 0 && !cronexpr.IsTriggered(s.is.schedule) {
				j.judgeOwnersRuns(n, s.is, span{s.from, until}, byItem[n])
			}
		}
		for _, r := range byItem[n] {
			if r.Context.Token == 0 {
				j.judgeUnrecorded(n, r, byItem[n])
			}
		}
	}
}

// unmonitored tells whether at any moment between two the last settings that could be used had executions leave no records.
func (j *judge) unmonitored(from, until time.Time) bool {
	without := false
	for _, s := range j.courses.settings {
		if s.from.After(until) {
			break
		}
		if !s.is.usable {
			continue
		}
		if !s.from.After(from) {
			without = false // it is over before
		}
		without = without || s.is.Unmonitored
	}
	return without
}

// ranWithoutRecord returns the times for which an item ran without a record, and what messages take.
func (j *judge) ranWithoutRecord(n int) spans {
	var all spans
	jitter := j.jitter() + j.rules.Skew
	for _, r := range j.Runs {
		if r.Context.Item != n || r.Context.Token != 0 {
			continue
		}
		until := r.Ended
		if until.IsZero() {
			until = j.End
		}
		all = append(all, span{r.Began.Add(-jitter), until.Add(jitter)})
	}
	return all
}

// ranUnrecorded tells whether code was called for a fire, or for a later one that was missed as well, without a record.
func (j *judge) ranUnrecorded(n int, fire time.Time) bool {
	return slices.ContainsFunc(j.Runs, func(r Run) bool {
		of := r.Context
		return of.Item == n && of.Token == 0 && (of.Fire.Equal(fire) && of.Source != job.Manual || of.Fire.After(fire) && of.Source == job.Misfire)
	})
}

// judgeOwnersRuns judges whether each fire was run by the owner of the item, and once.
func (j *judge) judgeOwnersRuns(n int, s *settings, in span, runs []*Run) {
	calm := slices.Concat(j.excused, j.byWrongClocks(n)).merge()
	for fire := s.schedule.Next(in.from); !fire.IsZero() && fire.Before(in.until); fire = s.schedule.Next(fire) {
		near := span{fire.Add(-j.rules.Settle - j.rules.Skew), fire.Add(j.rules.Settle + j.rules.Skew)}
		owner := j.courses.owner[n].at(fire)
		if calm.touches(near.from, near.until) || near.until.After(in.until) || !j.courses.runnable[n].at(fire) || !j.serving(owner, fire) {
			continue
		}
		var of []*Run
		busy := false
		for _, r := range runs {
			switch {
			case r.Context.Fire.Equal(fire) && r.Context.Source != job.Manual:
				of = append(of, r)
			case r.Began.Before(near.until) && (r.Ended.IsZero() || r.Ended.After(near.from)):
				busy = true
			}
		}
		switch {
		case len(of) == 0 && !busy:
			j.find(NoStall, fire, n, "nobody ran the fire of "+clock(fire))
		case len(of) > 1 && calm.touches(fire, of[1].Began): // who has the item now may not know that the fire was run
		case len(of) > 1:
			j.find(OneExecution, of[1].Began, n, "a fire was executed twice", of[0], of[1])
		case len(of) == 1 && of[0].Instance != owner && !busy:
			j.find(OneHolder, of[0].Began, n, fmt.Sprintf("an item of %q was run by another instance", owner), of[0])
		}
	}
}

// serving tells whether an instance is there at a moment and may begin something.
func (j *judge) serving(instance string, at time.Time) bool {
	disabled, leaves := j.courses.servers[jobtree.ServerOf(instance)], j.courses.leaves[instance]
	return j.presence[instance].covers(at) && (disabled == nil || !disabled.at(at)) && (leaves == nil || !leaves.at(at))
}

// judgeUnrecorded judges one run by itself, and against the others in its process.
func (j *judge) judgeUnrecorded(n int, r *Run, all []*Run) {
	for _, other := range all {
		if other != r && other.Instance == r.Instance && other.Began.Before(r.Began) && other.Ended.After(r.Began) && j.born(r.Instance, other.Began).Equal(j.born(r.Instance, r.Began)) {
			j.find(OneHolder, r.Began, n, "code of the item ran twice at once in one process", other, r)
		}
	}
	calm := slices.Concat(j.excused, j.byWrongClocks(n), j.during(r.Instance, j.rules.Settle, Paused, Slow, Cut, Denied)).merge()
	if calm.covers(r.Began) {
		return
	}
	if s := j.courses.settings.at(r.Began); !j.courses.runnable[n].at(r.Began) || s != nil && s.Disabled {
		j.find(Intent, r.Began, n, "an item was run that is disabled, or that the job does not have", r)
	}
	if owner := j.courses.owner[n].at(r.Began); owner != r.Instance {
		j.find(OneHolder, r.Began, n, fmt.Sprintf("an item of %q was run by another instance", owner), r)
	}
}
