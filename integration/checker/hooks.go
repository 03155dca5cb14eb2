package checker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// The phases of a round that hooks belong to, as [Hook] and [Rules] name them.
const (
	PhaseStarted   = "started"
	PhaseCompleted = "completed"
)

// judgeHooks judges the hooks that run once for all instances: each at most once for a round, with tokens that grow, as soon as
// the round has come so far, and before the code that waits for it.
func (j *judge) judgeHooks() {
	if j.hands.touched(NoItem, time.Time{}, j.End, jobtree.KindStarted, jobtree.KindCompleted, jobtree.KindStartedHook, jobtree.KindCompletedHook) {
		return // what the rounds are counted by
	}
	type round struct {
		phase   string
		fire    time.Time
		trigger int64
	}
	called := make(map[round]Hook)
	last := make(map[string]Hook)
	for _, h := range j.Hooks {
		key := round{h.Phase, h.Round.Fire, h.Round.Trigger}
		if first, twice := called[key]; twice {
			j.find(OneExecution, h.At, NoItem, "a hook was called twice for one round", first, h)
		}
		called[key] = h
		if before, is := last[h.Phase]; is && h.Round.Token <= before.Round.Token {
			j.find(GrowingToken, h.At, NoItem, "a hook was given no later token than the one before", before, h)
		}
		last[h.Phase] = h
	}
	for _, r := range j.calmRounds() {
		for _, phase := range slices.Sorted(maps.Keys(j.rules.Hooks)) {
			h, is := called[round{phase: phase, fire: r.fire}]
			j.judgeHook(r.awaitedBy(h, is), phase, h, is)
		}
	}
}

// calmRound is a round of all items of a job that ran on time while nothing else happened.
type calmRound struct {
	fire       time.Time
	executions []*execution
	next       time.Time // the next fire
}

// calmRounds returns the rounds that nothing disturbed, from a moment before their fire until all has ended.
func (j *judge) calmRounds() []calmRound {
	var rounds []calmRound
	for i, s := range j.courses.settings {
		until := j.End
		if i+1 < len(j.courses.settings) {
			until = j.courses.settings[i+1].from
		}
		if !s.is.usable || s.is.delay > 0 || s.is.Jitter > 0 {
			continue
		}
		for fire := s.is.schedule.Next(s.from); !fire.IsZero() && fire.Before(until); fire = s.is.schedule.Next(fire) {
			r := calmRound{fire: fire, next: s.is.schedule.Next(fire)}
			for n := range s.is.ShardingTotalCount {
				r.executions = append(r.executions, j.ofFire(n, fire))
			}
			if !slices.Contains(r.executions, nil) && !j.excused.touches(fire.Add(-j.rules.Settle), r.ended()) && !j.askedFor(fire, r.ended().Add(j.rules.Settle)) {
				rounds = append(rounds, r)
			}
		}
	}
	return rounds
}

// askedFor tells whether anything began by hand within a time: a round by hand takes the place of one that is not complete.
func (j *judge) askedFor(from, until time.Time) bool {
	for _, executions := range j.byItem {
		for _, e := range executions {
			if e.begun.Current.ByHand() && !e.began.Before(from) && !e.began.After(until) {
				return true
			}
		}
	}
	return false
}

// ofFire returns the execution of an item for a fire, if it began on time and has come to its end by itself.
func (j *judge) ofFire(n int, fire time.Time) *execution {
	for _, e := range j.byItem[n] {
		if !e.standsFor(fire) {
			continue
		}
		if ended := e.outcome() == jobtree.Success || e.outcome() == jobtree.Failure; ended && e.source() == job.Scheduled && e.run != nil && !e.tampered {
			return e
		}
	}
	return nil
}

// awaitedBy returns the round without the items that a hook did not wait for: who skips missed fires does not wait for what
// still runs an earlier one.
func (r calmRound) awaitedBy(h Hook, called bool) calmRound {
	if called && len(h.Round.Items) > 0 {
		r.executions = slices.DeleteFunc(slices.Clone(r.executions), func(e *execution) bool { return !slices.Contains(h.Round.Items, e.item) })
	}
	return r
}

// begun returns when the last item of a round began.
func (r calmRound) begun() time.Time {
	return slices.MaxFunc(r.executions, func(a, b *execution) int { return a.began.Compare(b.began) }).began
}

// ended returns when the last item of a round had ended.
func (r calmRound) ended() time.Time {
	return slices.MaxFunc(r.executions, func(a, b *execution) int { return a.closed.Compare(b.closed) }).closed
}

// judgeHook judges when a hook of a round was called that nothing disturbed.
func (j *judge) judgeHook(r calmRound, phase string, h Hook, called bool) {
	due, within := r.begun(), j.rules.Hooks[phase]
	if phase == PhaseCompleted {
		due = r.ended()
	}
	limit := due.Add(j.rules.Settle)
	switch in := limit.Before(r.fire.Add(within-j.rules.Skew)) && limit.Before(r.next) && !j.excused.touches(due, limit) && limit.Before(j.End); {
	case called && h.At.Before(due.Add(-j.jitter())):
		j.find(OneExecution, h.At, NoItem, fmt.Sprintf("hook %q was called before its round had come so far, at %s", phase, clock(due)), h)
	case in && (!called || h.At.After(limit)):
		j.find(NoStall, limit, NoItem, fmt.Sprintf("hook %q of the round of %s was not called by then", phase, clock(r.fire)))
	}
	if phase != PhaseStarted {
		return
	}
	for _, e := range r.executions {
		waited := e.run.Began.Sub(e.began)
		if early := !called || e.run.Began.Before(h.At); early && waited < within-j.jitter() {
			j.find(OneExecution, e.run.Began, e.item, "code was called before the hook that it waits for", proofs(e)...)
		}
	}
}

// String tells of the call in one line.
func (h Hook) String() string {
	return fmt.Sprintf("%s token %d: hook %q of the round of %s called on %s", clock(h.At), h.Round.Token, h.Phase, clock(h.Round.Fire), h.Instance)
}
