package checker

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// misset returns the times at which the clock of an instance was wrong, and a while longer.
func (j *judge) misset(instance string, longer time.Duration) spans {
	var all spans
	for _, i := range j.Incidents {
		if i.Kind == Misset && i.Instance == instance {
			all = append(all, span{i.From, i.until().Add(longer)})
		}
	}
	return all.merge()
}

// ahead returns by how much the clock of an instance was ahead, and behind, at most within a time, beyond
// what clocks may be.
func (j *judge) ahead(instance string, from, until time.Time) (ahead, behind time.Duration) {
	for _, i := range j.Incidents {
		if i.Kind == Misset && i.Instance == instance && !i.From.After(until) && !i.until().Before(from) {
			ahead, behind = max(ahead, i.Ahead), max(behind, -i.Ahead)
		}
	}
	return ahead, behind
}

// out returns the times at which an instance may stay out of the job because of its clock.
func (j *judge) out(instance string) spans {
	return j.misset(instance, j.rules.Right+2*j.rules.Look+2*j.rules.Settle)
}

// clockBound returns the difference of clocks beyond which an instance leaves the job.
func (s *settings) clockBound(r Rules) time.Duration {
	if s == nil || s.ClockPolicy != job.ClockRefuse || s.MaxTimeDiff == 0 {
		return r.Clock
	}
	return min(r.Clock, max(time.Second, s.MaxTimeDiff))
}

// judgeClocks judges whether instances whose clocks were wrong left the job to others that were there.
func (j *judge) judgeClocks() {
	for _, i := range j.Incidents {
		if i.Kind != Misset || i.Ahead.Abs() <= j.courses.settings.at(i.From).clockBound(j.rules) {
			continue
		}
		noticed := i.From.Add(j.rules.Look + 2*j.rules.Settle)
		stays := spans{{noticed, i.until()}}.and(j.presence[i.Instance]).and(j.replacements(i.Instance))
		if at, bad := j.excused.firstGap(stays); bad {
			j.find(NoStall, at, NoItem, fmt.Sprintf("%s takes part though its clock is off by %s since %s", i.Instance, i.Ahead, clock(i.From)))
		}
	}
}

// replacements returns the times at which instances are there, and have been for a while, that could run the
// items of one whose clock is wrong.
func (j *judge) replacements(instance string) spans {
	var all spans
	for other, present := range j.presence {
		if other == instance {
			continue
		}
		off := of(j.courses.servers, jobtree.ServerOf(other)).when(j.End, func(off bool) bool { return off })
		off = append(off, j.out(other)...)
		for _, p := range present {
			for _, right := range off.merge().outside(p.from, p.until) {
				all = append(all, span{right.from.Add(j.rules.Look + 2*j.rules.Settle), right.until})
			}
		}
	}
	return all.merge()
}

// byWrongClocks returns the times at which an item belonged to an instance whose clock was wrong, and until
// that has noticed that it is right again.
func (j *judge) byWrongClocks(n int) spans {
	owners := of(j.courses.owner, n)
	var all spans
	for _, i := range j.Incidents {
		if i.Kind == Misset {
			wrong := spans{{i.From, i.until().Add(j.rules.Look + 2*j.rules.Settle)}}
			all = append(all, wrong.and(owners.when(j.End, func(owner string) bool { return owner == i.Instance }))...)
		}
	}
	return all
}
