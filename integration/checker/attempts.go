package checker

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// An execution calls its code again after a failure, if its job has retries: those calls have one token, and come one after
// the other. To all other rules they are one run. It begins with the first of them and ends with the last, and a timeout,
// which ends one call and not the execution, does not cancel it.

// joinAttempts makes one run of the calls of code that follow each other within one execution.
func (j *judge) joinAttempts() {
	type execution struct {
		instance    string
		item, token int64
	}
	last := make(map[execution]int)
	var runs []Run
	for _, r := range j.Runs {
		of := execution{r.Instance, int64(r.Context.Item), r.Context.Token}
		at, again := last[of]
		if r.attempts = []Run{r}; again && r.Context.Token != 0 && runs[at].triedAgainBy(r) {
			runs[at].join(r)
			continue
		}
		last[of] = len(runs)
		runs = append(runs, r)
	}
	for i := range runs {
		if r := &runs[i]; errors.Is(r.Cause, job.ErrTimeout) {
			r.timedOut, r.Cancelled, r.Cause = j.overAt(&r.attempts[len(r.attempts)-1]), time.Time{}, nil
		}
	}
	j.Runs = runs
}

// overAt returns when an attempt was told that its time is over. If its process stood still when it was to be called, that was
// as soon as the process could know anything.
func (j *judge) overAt(attempt *Run) time.Time {
	if asleep, is := j.asleep(attempt); is {
		return asleep
	}
	return attempt.Cancelled
}

// asleep returns until when the process stood still when it was to call an attempt, if it did. Its code is called a moment
// later.
func (j *judge) asleep(attempt *Run) (until time.Time, is bool) {
	for _, pause := range j.during(attempt.Instance, 0, Paused) {
		if !attempt.Began.Before(pause.until) && attempt.Began.Before(pause.until.Add(time.Millisecond)) {
			return pause.until, true
		}
	}
	return time.Time{}, false
}

// triedAgainBy tells whether a call may be the attempt that follows the last one of a run.
func (r *Run) triedAgainBy(next Run) bool {
	return !r.Died && r.Err != nil && !r.Ended.IsZero() && !next.Began.Before(r.Ended)
}

// join adds an attempt to a run.
func (r *Run) join(next Run) {
	r.attempts = append(r.attempts, next)
	r.Ended, r.Died, r.Err, r.Cancelled, r.Cause = next.Ended, next.Died, next.Err, next.Cancelled, next.Cause
	r.Saves = append(r.Saves[:len(r.Saves):len(r.Saves)], next.Saves...)
}

// told returns when the context of the last attempt ended; zero if it did not. It cannot end twice: code that goes on after a
// timeout does not hear that its session is over.
func (r *Run) told() time.Time {
	return maxTime(r.timedOut, r.Cancelled) // one of them is zero
}

// judgeAttempts judges whether code was called as often as the settings say, and each time for as long.
func (j *judge) judgeAttempts(e *execution, r *Run) {
	if tries := e.settings.Retries + 1; len(r.attempts) > tries {
		j.find(OneExecution, r.attempts[tries].Began, e.item, fmt.Sprintf("code was called %d times, and its job has %d retries", len(r.attempts), e.settings.Retries), e, r)
	}
	for i := range r.attempts {
		j.judgeTimeout(e, &r.attempts[i])
	}
	if e.outcome() == jobtree.Failure && len(r.attempts) <= e.settings.Retries && !j.mayStopTrying(e, r) {
		j.find(NoStall, e.closed, e.item, fmt.Sprintf("code failed and was not called again: it was %d times, and its job has %d retries", len(r.attempts), e.settings.Retries), e, r)
	}
}

// pause returns how long an execution whose code has failed may wait before it calls it again.
func (e *execution) pause() time.Duration {
	if e.run.Err == nil || len(e.run.attempts) > e.settings.Retries {
		return 0
	}
	pause := inforce.RetryBackoff(e.settings) << (len(e.run.attempts) - 1)
	return min(pause, time.Minute) * 3 / 2 // it varies by half
}

// judgeTimeout judges whether an attempt was told when its time was over, and not before.
func (j *judge) judgeTimeout(e *execution, attempt *Run) {
	bound := attempt.Began.Add(e.settings.Timeout)
	if _, asleep := j.asleep(attempt); asleep {
		return // its time began before
	}
	if told := errors.Is(attempt.Cause, job.ErrTimeout); told && (e.settings.Timeout == 0 || attempt.Cancelled.Before(bound)) {
		j.find(StoppedWork, attempt.Cancelled, e.item, "code was told that its time is over before it was", e, attempt)
	}
	late, until := bound.Add(j.jitter()), attempt.Ended
	if until.IsZero() {
		until = j.End
	}
	if e.settings.Timeout > 0 && until.After(late) && (attempt.Cancelled.IsZero() || attempt.Cancelled.After(late)) {
		j.find(StoppedWork, late, e.item, "the time of the code was over and it was not told", e, attempt)
	}
}

// mayStopTrying tells whether code that fails need not be called again: its execution was to end.
func (j *judge) mayStopTrying(e *execution, r *Run) bool {
	if !r.Cancelled.IsZero() || !e.markGone.IsZero() {
		return true
	}
	for _, i := range j.Incidents {
		if i.Kind == Stopped && i.Instance == r.Instance && !i.From.Add(j.rules.Grace-j.jitter()).After(e.closed) && !i.From.Before(e.began) {
			return true
		}
	}
	return j.during(r.Instance, j.rules.TTL, Cut, Paused, Slow, Down, Expired, Lost, Denied).touches(r.Ended, e.closed)
}
