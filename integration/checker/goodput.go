package checker

import (
	"fmt"
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
		for _, in := range j.tended(i.From, i.until()) { // who begins anew knows nothing of the store
			in.from, in.until = in.from.Add(learning), in.until.Add(-j.rules.Late)
			if in.until.Sub(in.from) >= leastJudged {
				j.judgeCapacity(i, in)
			}
		}
	}
}

// judgeCapacity judges how much ran within a time of what a store of limited capacity can take.
func (j *judge) judgeCapacity(paced Incident, in span) {
	wanted, ran := j.wanted(in), j.ranWithin(in)
	possible := min(float64(wanted), float64(paced.Rate)*in.until.Sub(in.from).Seconds()/perExecution)
	if float64(ran) < j.rules.Goodput*possible {
		j.find(NoStall, in.from, NoItem, fmt.Sprintf("%d executions ran until %s; %d were wanted, and the store takes %d transactions a second",
			ran, clock(in.until), wanted, paced.Rate))
	}
}

// tended returns the times within another at which any process is there. One that starts in the instant in which the last
// one ends begins the next of them.
func (j *judge) tended(from, until time.Time) spans {
	const instant = time.Nanosecond // for which nobody counts as there when a process ends
	var all spans
	for _, id := range j.instances() {
		for _, life := range j.lives(id, from, until) {
			if j.alive(id, life.from) {
				all = append(all, span{life.from, life.until.Add(-instant)})
			}
		}
	}
	all = all.merge()
	for i := range all {
		all[i].until = all[i].until.Add(instant)
	}
	return all
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
