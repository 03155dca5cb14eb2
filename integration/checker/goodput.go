package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

const (
	// perExecution is how many transactions an execution takes: its begin and its end.
	perExecution = 2
	// learning is how long processes may take to learn what the store can take, from when the first of them is there.
	learning = 25 * time.Second
	// leastJudged is how long a store of limited capacity must be watched for its goodput to be judged.
	leastJudged = 20 * time.Second
)

// judgeGoodput judges how much ran while the store could not take all that was wanted: what it can take does
// not get less when more is asked of it.
func (j *judge) judgeGoodput() {
	for _, i := range j.Incidents {
		if i.Kind != Paced {
			continue
		}
		in := span{i.From, i.until().Add(-j.rules.Late)}
		for _, s := range j.Incidents {
			if s.Kind == Started && s.From.Before(in.until) && !j.others(s.Instance, s.From) {
				in.from = maxTime(in.from, s.From) // it knows nothing of the store
			}
		}
		in.from = in.from.Add(learning)
		if in.until.Sub(in.from) < leastJudged {
			continue
		}
		wanted, ran := j.wanted(in), j.ranWithin(in)
		possible := min(float64(wanted), float64(i.Rate)*in.until.Sub(in.from).Seconds()/perExecution)
		if float64(ran) < j.rules.Goodput*possible {
			j.find(NoStall, in.from, NoItem, fmt.Sprintf("%d executions ran until %s; %d were wanted, and the store takes %d transactions a second",
				ran, clock(in.until), wanted, i.Rate))
		}
	}
}

// others tells whether any process but that of an instance is there at a moment.
func (j *judge) others(than string, at time.Time) bool {
	return slices.ContainsFunc(j.instances(), func(id string) bool { return id != than && j.alive(id, at) })
}

// wanted counts the fires within a time of items that could run.
func (j *judge) wanted(in span) int {
	count := 0
	for i, s := range j.courses.settings {
		until := in.until
		if i+1 < len(j.courses.settings) && j.courses.settings[i+1].from.Before(until) {
			until = j.courses.settings[i+1].from
		}
		if !s.is.usable || s.is.delay > 0 {
			continue
		}
		for fire := s.is.schedule.Next(maxTime(in.from, s.from).Add(-1)); !fire.IsZero() && fire.Before(until); fire = s.is.schedule.Next(fire) {
			for n := range j.courses.runnable {
				if j.courses.runnable[n].at(fire) && j.courses.attended.at(fire) {
					count++
				}
			}
		}
	}
	return count
}

// ranWithin counts the executions that ran within a time.
func (j *judge) ranWithin(in span) int {
	count := 0
	for _, executions := range j.byItem {
		for _, e := range executions {
			if !e.began.Before(in.from) && e.began.Before(in.until) && e.run != nil && e.outcome() != jobtree.NotStarted {
				count++
			}
		}
	}
	return count
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
