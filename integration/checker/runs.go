package checker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// judgeRuns judges what user code saw.
func (j *judge) judgeRuns() {
	byItem := make(map[int][]*Run)
	for i := range j.Runs {
		r := &j.Runs[i]
		if r.Context.Token == 0 {
			continue
		}
		if e := j.execution(r.Context.Item, r.Context.Token); e == nil {
			j.find(GrowingToken, r.Began, r.Context.Item, "code was given a token that no begin ever had", r)
			continue
		} else if e.run == r {
			j.judgeRun(e, r)
		} else {
			j.find(OneExecution, r.Began, r.Context.Item, "code was called twice for one execution", e.run, r)
		}
		byItem[r.Context.Item] = append(byItem[r.Context.Item], r)
	}
	for n, runs := range byItem {
		j.judgeOrder(n, runs)
		j.judgeOverlaps(n, runs)
	}
}

// judgeRun judges one call of user code against the execution that it was called for.
func (j *judge) judgeRun(e *execution, r *Run) {
	if r.Instance != e.instance() || !r.Context.Fire.Equal(e.fire()) || r.Context.Source != e.source() && !j.becameMissed(e, r) {
		j.find(GrowingToken, r.Began, e.item, "code was told of another execution than the one that began", e, r)
	}
	j.judgeAttempts(e, r)
	j.judgeAhead(e, r)
	if r.Began.Before(e.began) {
		j.find(OneHolder, r.Began, e.item, "code was called before its execution had begun", e, r)
	}
	if j.lateStart(e, r) {
		_, asleep := j.asleep(r)
		if _, bad := j.unaware(r.Instance).gap(r.Began, r.Began.Add(1)); bad && !asleep {
			j.find(StoppedWork, r.Began, e.item, "code was called after its session was over", e, r)
		}
		return
	}
	j.judgeCancelling(e, r)
}

// becameMissed tells whether an execution that began on time was confirmed so late that its code was called
// for a missed fire: as late as the store carried it out, or later if something held the answer up.
func (j *judge) becameMissed(e *execution, r *Run) bool {
	late := due(e.settings, e.fire()).Add(j.rules.Late - j.rules.Skew)
	ahead, _ := j.ahead(r.Instance, e.began, r.Began)
	confirmed := e.began.Add(j.jitter() + ahead)
	if j.during(r.Instance, 0, Cut, Paused, Slow, Down, Lost, Paced).touches(e.began, r.Began) {
		confirmed = r.Began
	}
	return e.source() == job.Scheduled && r.Context.Source == job.Misfire && e.settings.Misfire != job.MisfireSkip && confirmed.After(late)
}

// lateStart tells whether code was called when others could already have taken over.
func (j *judge) lateStart(e *execution, r *Run) bool {
	return !e.markGone.IsZero() && r.Began.After(e.markGone)
}

// unaware returns the times at which a process could not know that its session was over: it stood
// still, or the store dropped the session without a reason.
func (j *judge) unaware(instance string) spans {
	unaware := j.during(instance, 0, Paused)
	return append(unaware, j.during(instance, j.rules.TTL, Expired)...).merge()
}

// judgeCancelling judges whether code learnt in time that its session was over, and only then.
func (j *judge) judgeCancelling(e *execution, r *Run) {
	gone := e.markGone
	told := r.told()
	if !gone.IsZero() && !r.Died && (r.Ended.IsZero() || r.Ended.After(gone)) && (told.IsZero() || told.After(gone)) {
		late := told
		if late.IsZero() {
			late = r.Ended
		}
		if late.IsZero() {
			late = j.End
		}
		if at, bad := j.unaware(r.Instance).gap(gone, late); bad {
			j.find(StoppedWork, at, e.item, "the session was over and the code was not told", e, r)
		}
	}
	if r.Cancelled.IsZero() {
		return
	}
	stopping := !j.alive(r.Instance, r.Cancelled)
	if !stopping && !errors.Is(r.Cause, registry.ErrSessionLost) {
		j.find(StoppedWork, r.Cancelled, e.item, "the code was cancelled without a reason that is one", e, r)
	}
	trouble := j.during(r.Instance, j.rules.TTL, Cut, Paused, Slow, Down, Expired, Lost, Denied)
	if !stopping && !trouble.covers(r.Cancelled) {
		j.find(StoppedWork, r.Cancelled, e.item, "a session was lost though nothing had happened to it", e, r)
	}
}

// judgeOrder judges whether tokens grew from run to run.
func (j *judge) judgeOrder(n int, runs []*Run) {
	var last *Run
	for _, r := range runs {
		if e := j.execution(n, r.Context.Token); e == nil || j.lateStart(e, r) {
			continue // found fault with, or excused, as a late start
		}
		if last != nil && r.Context.Token < last.Context.Token {
			j.find(GrowingToken, r.Began, n, "code with an old token was called after code with a newer one", last, r)
		}
		last = r
	}
}

// judgeOverlaps judges whether code of an item ran in two places at once. Code that goes on though it
// was cancelled is not counted, nor is the time for which its process stands still.
func (j *judge) judgeOverlaps(n int, runs []*Run) {
	for i, first := range runs {
		active := j.active(first)
		for _, second := range runs[i+1:] {
			if len(active) == 0 || !second.Began.Before(active[len(active)-1].until) {
				continue
			}
			at, both := overlap(active, j.active(second))
			if !both {
				continue
			}
			if j.hands.deeds(n, first.Began, second.Began) > 1 || j.hidden(first, second) {
				continue // one deed does not bring that about
			}
			guarantee, text := OneHolder, "code of the item ran twice at once"
			if e := j.execution(n, first.Context.Token); e != nil && !e.markGone.IsZero() {
				guarantee, text = StoppedWork, "others began the item before the code of a lost session had been told"
			}
			j.findAnyway(guarantee, at, n, text, first, second)
		}
	}
}

// hidden tells whether hands took all that showed that code runs, the mark of its execution and then the node of its instance,
// and other code was called at most a moment later: the first process finds that out soon.
func (j *judge) hidden(first, second *Run) bool {
	e := j.execution(first.Context.Item, first.Context.Token)
	if e == nil || e.orphaned.IsZero() || second.Began.Before(e.orphaned) || second.Began.After(e.orphaned.Add(j.healing())) {
		return false
	}
	return slices.ContainsFunc(j.Incidents, func(i Incident) bool {
		return i.Kind == Unlisted && i.Instance == first.Instance && spans{{i.From, i.From.Add(j.rules.Settle)}}.covers(e.orphaned)
	})
}

// active returns when code was running and could not know that it should not.
func (j *judge) active(r *Run) spans {
	end := j.End
	for _, t := range []time.Time{r.Ended, r.Cancelled} {
		if !t.IsZero() && t.Before(end) {
			end = t
		}
	}
	unaware, e := j.unaware(r.Instance), j.execution(r.Context.Item, r.Context.Token)
	if e != nil && e.markGone.IsZero() && e.lapsed.IsZero() {
		unaware = j.during(r.Instance, 0, Paused) // the store still counts on this session
	}
	if told := r.timedOut; e != nil && !told.IsZero() { // its context cannot end twice
		for _, over := range []time.Time{e.markGone, e.closed} {
			if !over.IsZero() && over.Before(end) {
				end = maxTime(told, over)
			}
		}
	}
	active := spans{{r.Began, end}}
	for _, x := range unaware {
		active = active.without(x)
	}
	return active
}

// without returns the times that lie outside of x.
func (s spans) without(x span) spans {
	var rest spans
	for _, a := range s {
		if !a.until.After(x.from) || !a.from.Before(x.until) {
			rest = append(rest, a)
			continue
		}
		if a.from.Before(x.from) {
			rest = append(rest, span{a.from, x.from})
		}
		if a.until.After(x.until) {
			rest = append(rest, span{x.until, a.until})
		}
	}
	return rest
}

// overlap returns the first moment from which two lists of spans share more than an instant.
func overlap(a, b spans) (time.Time, bool) {
	for _, x := range a {
		for _, y := range b {
			from, until := x.from, x.until
			if y.from.After(from) {
				from = y.from
			}
			if y.until.Before(until) {
				until = y.until
			}
			if from.Before(until) {
				return from, true
			}
		}
	}
	return time.Time{}, false
}

// judgeReports judges whether an end that was reported as recorded is.
func (j *judge) judgeReports() {
	for _, r := range j.Reports {
		if r.Token == 0 || r.Refused != nil {
			continue
		}
		e := j.execution(r.Item, r.Token)
		if e == nil {
			j.find(GrowingToken, r.At, r.Item, fmt.Sprintf("the end of token %d was reported, which no begin ever had", r.Token))
			continue
		}
		if e.tampered {
			continue
		}
		if e.closed.IsZero() || e.closed.After(r.At) || e.after.Current == nil || int64(e.token) != e.after.Current.Token || e.outcome() == "lost" {
			j.find(GrowingToken, r.At, r.Item, "the end was reported as recorded, and is not", e)
		}
	}
}
