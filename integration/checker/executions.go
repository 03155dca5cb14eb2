package checker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// judgeExecutions judges each item's executions together, and against the code that was called.
func (j *judge) judgeExecutions() {
	for _, n := range slices.Sorted(maps.Keys(j.byItem)) {
		j.judgeOnce(j.byItem[n])
		for _, e := range j.byItem[n] {
			if e.tampered {
				if !e.unmarked.IsZero() {
					j.judgeIdleMark(e)
				}
				continue // its record tells nothing else
			}
			j.judgeTruth(e)
			j.judgeYield(e)
			j.judgeIdleMark(e)
		}
	}
}

// judgeOnce judges whether each fire was begun once and brought to an end once.
func (j *judge) judgeOnce(executions []*execution) {
	begun := make(map[time.Time]*execution)
	completed := make(map[time.Time]*execution)
	for _, e := range executions {
		if e.source() == job.Manual || e.begun.Current.ByHand() || e.outcome() == jobtree.NotStarted {
			continue
		}
		if e.planned() {
			if first := begun[e.fire()]; first != nil && !j.hands.touched(e.item, first.began, e.began, jobtree.KindItemRecord) {
				j.find(OneExecution, e.began, e.item, "a fire was executed twice", first, e)
			}
			begun[e.fire()] = e
		}
		if outcome := e.outcome(); !e.fire().IsZero() && (outcome == jobtree.Success || outcome == jobtree.Failure) {
			if first := completed[e.fire()]; first != nil && !j.runsAgain(e) && !j.hands.touched(e.item, first.began, e.began, jobtree.KindItemRecord) {
				j.find(NothingForgotten, e.began, e.item, "an execution was run again that had come to its end", first, e)
			}
			completed[e.fire()] = e
		}
	}
}

// judgeTruth judges whether what is recorded of an end is what the code did.
func (j *judge) judgeTruth(e *execution) {
	r := e.run
	switch e.outcome() {
	case jobtree.Success:
		if r == nil || r.Died || r.Ended.IsZero() || r.Err != nil || r.Ended.After(e.closed) {
			j.find(NothingForgotten, e.closed, e.item, "a success was recorded of code that did not return one", proofs(e)...)
		}
	case jobtree.Failure:
		if r == nil || r.Died || r.Ended.IsZero() || r.Err == nil || r.Ended.After(e.closed) {
			j.find(NothingForgotten, e.closed, e.item, "a failure was recorded of code that did not return one", proofs(e)...)
		}
	case jobtree.Interrupted, jobtree.Lost:
		j.judgeFinished(e)
		j.judgeFailed(e)
	case jobtree.NotStarted:
		if r != nil {
			j.find(OneExecution, e.closed, e.item, "an execution was taken back though its code had been called", proofs(e)...)
		}
	}
}

// judgeFinished judges whether an execution that is recorded as cut short, or lost, had come to its end. What
// finished is a success unless somebody declared it lost before its process, which lives, could say so. One
// that could not reach the store while others could, or lost its session to another, has to bear that.
func (j *judge) judgeFinished(e *execution) {
	r := e.run
	if r == nil || r.Died || r.Err != nil || r.Ended.IsZero() || !r.Ended.Add(j.jitter()+j.telling(r.Ended, e.closed)).Before(e.closed) {
		return
	}
	alone := j.trouble(r.Instance, false, j.rules.TTL, Cut, Paused, Slow, Expired, Lost, Denied, Held, Stopped, Crashed)
	if !j.alive(r.Instance, e.closed) || alone.touches(e.began, e.closed) {
		return
	}
	j.find(NothingForgotten, e.closed, e.item, fmt.Sprintf("an execution had finished and was recorded as %q", e.outcome()), proofs(e)...)
}

// judgeFailed judges whether an execution that its process recorded as cut short was. What has failed while its context
// lived, and is not tried again, has failed, whatever becomes of its session or its process before that is recorded: the
// record says so, or the end is refused. Code that heard by a checkpoint that its session is over may return a moment before
// its context ends. After a timeout, nobody saw that.
func (j *judge) judgeFailed(e *execution) {
	r := e.run
	if e.outcome() != jobtree.Interrupted || r == nil || r.Died || r.Err == nil || r.Ended.IsZero() || r.Ended.After(e.closed) || !r.told().IsZero() || r.yielded() {
		return
	}
	if len(r.attempts) <= e.settings.Retries || errors.Is(r.Err, registry.ErrSessionLost) || !j.toldRecorded(e) {
		return
	}
	j.find(NothingForgotten, e.closed, e.item, "an execution had failed and was recorded as cut short", proofs(e)...)
}

// toldRecorded tells whether the process of an execution reported that its end is recorded.
func (j *judge) toldRecorded(e *execution) bool {
	return slices.ContainsFunc(j.Reports, func(r Report) bool { return r.Item == e.item && r.Token == int64(e.token) && r.Refused == nil })
}

// telling returns how much longer it takes to have an end recorded while the store is slow: it is sent, refused, looked
// into, and sent again.
func (j *judge) telling(from, until time.Time) (longer time.Duration) {
	for _, i := range j.Incidents {
		if i.Kind == Slow && i.Instance == "" && !i.From.After(until) && !i.until().Before(from) {
			longer = max(longer, 4*i.Delay)
		}
	}
	return longer
}

// judgeIdleMark judges whether the mark of an execution was there without code behind it: before it
// was called, or after it had returned. One whose mark a hand took is as good as marked while its instance is there.
func (j *judge) judgeIdleMark(e *execution) {
	until := j.End
	for _, t := range []time.Time{e.closed, e.markGone, e.orphaned} {
		if !t.IsZero() && t.Before(until) {
			until = t
		}
	}
	from := e.began
	if e.run != nil {
		if e.run.Ended.IsZero() {
			return
		}
		from = e.run.Ended.Add(e.pause())
	} else if e.settings.MaxConcurrentItems > 0 || len(j.rules.Hooks) > 0 {
		return // its code waited for its turn, or for a hook
	}
	excused := append(slices.Clone(j.excused), j.during(e.instance(), j.rules.Settle+j.rules.Detect, Cut, Paused, Slow, Down, Expired, Lost, Denied)...)
	text := "the item is marked as running and nothing runs"
	if !e.unmarked.IsZero() {
		text = "the item is recorded as running and nothing runs"
	}
	if at, bad := excused.merge().gap(from.Add(j.rules.Settle), until); bad {
		j.find(NoStall, at, e.item, text, proofs(e)...)
	}
}
