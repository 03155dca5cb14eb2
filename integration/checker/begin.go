package checker

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// judgeHolder judges whether who began an execution was who should.
func (j *judge) judgeHolder(e *execution, was, is jobtree.Item) {
	current := e.begun.Current
	if was.Running.Exists() {
		j.find(OneHolder, e.began, e.item, fmt.Sprintf("an execution began while session %s held the mark", was.Running.Session), e)
	}
	if is.Running.Created != e.token || is.Running.Session != current.Session {
		j.find(OneHolder, e.began, e.item, "an execution began without the mark of its session", e)
	}
	if j.before.Instance(current.Instance).Session != current.Session {
		j.find(OneHolder, e.began, e.item, "an instance that is not registered under this session began an execution", e)
	}
	if owner := j.before.Owner(e.item); e.source() != job.Failover && owner != current.Instance && !j.unseenEpoch(e) {
		j.find(OneHolder, e.began, e.item, fmt.Sprintf("an item of %q was begun by another instance", owner), e)
	}
}

// judgeIntent judges whether an execution was one that operators and settings allow.
func (j *judge) judgeIntent(e *execution, was jobtree.Item) {
	if was.Disabled {
		j.find(Intent, e.began, e.item, "a disabled item was begun", e)
	}
	if j.before.JobDisabled() {
		j.find(Intent, e.began, e.item, "an item of a disabled job was begun", e)
	}
	unseen := j.unseenEpoch(e)
	if total := j.before.Total(); e.item >= total && !unseen {
		j.find(Intent, e.began, e.item, fmt.Sprintf("an item was begun though there are only %d", total), e)
	}
	if e.source() == job.Failover && !j.before.Enabled(e.instance()) {
		j.find(Intent, e.began, e.item, "a disabled server took over a lost execution", e)
	}
	if e.begun.Current.Failover != e.settings.Failover && e.source() != job.Failover {
		j.find(Intent, e.began, e.item, fmt.Sprintf("an execution began under settings that were not in force: failover is %t", e.settings.Failover), e)
	}
	total, parameter := j.before.Total(), e.settings.JobParameter
	if e.run == nil || (unseen || e.run.Context.TotalCount == total) && e.run.Context.JobParameter == parameter {
		return
	}
	j.find(Intent, e.began, e.item, fmt.Sprintf("code was told of %d items and parameter %q, in force were %d and %q",
		e.run.Context.TotalCount, e.run.Context.JobParameter, total, parameter), e, e.run)
}

// unseenEpoch tells whether an execution began under an epoch that a hand had written and that its process had not heard of:
// it was out of touch ever since. A begin compares who owns its item, and the epoch only while that decides who does.
func (j *judge) unseenEpoch(e *execution) bool {
	epoch := j.before.Epoch
	for _, d := range j.hands {
		if d.name.Kind != jobtree.KindEpoch || epoch.Exists() && d.Revision != epoch.Revision {
			continue
		}
		away := j.during(e.instance(), j.rules.Settle, Cut, Paused, Slow, Denied, Down)
		if _, heard := away.gap(maxTime(d.From.Add(j.jitter()), d.Until), e.began); !heard {
			return true
		}
	}
	return false
}

// judgeFire judges whether a fire was to be run, now, and for the first time.
func (j *judge) judgeFire(e *execution) {
	fire, last := e.fire(), e.before.LastFire
	if !fire.After(last) {
		j.find(OneExecution, e.began, e.item, "a fire was begun that is not later than the last one, "+clock(last), e)
	}
	if e.begun.LastFire != fire {
		j.find(OneExecution, e.began, e.item, "the record does not keep the fire that was begun", e)
	}
	ahead, behind := j.ahead(e.instance(), e.began.Add(-j.jitter()), e.began)
	due := due(e.settings, fire)
	from := due.Add(-j.rules.Skew - min(ahead, j.rules.Clock))
	if ahead != 0 || behind != 0 {
		from = from.Add(-j.jitter()) // the registry's clock counts, and is not known better than by messages
	}
	switch {
	case e.began.Before(from.Add(-j.headStart(e.settings))):
		j.find(OneExecution, e.began, e.item, "a fire was begun before its time", e)
	case e.run != nil && e.run.Began.Before(from):
		j.find(OneExecution, e.run.Began, e.item, "code was called before its fire came", e, e.run)
	}
	schedule, err := e.settings.Schedule()
	if err != nil {
		j.find(OneExecution, e.began, e.item, "a fire was begun under settings that cannot be used", e)
		return
	}
	if _, delayed := cronexpr.DelayOf(schedule); delayed {
		return // judged by when the last run was over
	}
	if !schedule.Next(fire.Add(-time.Nanosecond)).Equal(fire) {
		j.find(OneExecution, e.began, e.item, fmt.Sprintf("the cron %q in force has no such fire", e.settings.Cron), e)
	}
	if e.source() == job.Misfire && e.settings.Misfire == job.MisfireSkip {
		j.find(OneExecution, e.began, e.item, "a missed fire was made up though the settings do not want that", e)
	}
	window := e.settings.MisfireWindow + j.rules.Skew + behind
	if e.run != nil && e.run.Context.Source == job.Misfire && e.settings.MisfireWindow > 0 && e.began.Sub(fire) > window {
		j.find(OneExecution, e.began, e.item, "a missed fire was made up that was too old", proofs(e)...)
	}
	// A begin that was sent in time and reached the store late is no harm if its code is not called, or for
	// a missed fire.
	told := maxTime(due, j.courses.told(fire, e.began))
	late := e.began.Sub(told) > j.rules.Late+j.rules.Skew+j.jitter()+behind && !j.during(e.instance(), 0, Slow).covers(e.began)
	if e.source() == job.Scheduled && late && e.run != nil && e.run.Context.Source == job.Scheduled {
		j.find(OneExecution, e.began, e.item, "a fire was run off schedule", proofs(e)...)
	}
}

// headStart returns how long before a fire executions of a job may begin for it.
func (j *judge) headStart(s job.Config) time.Duration {
	if schedule, err := s.Schedule(); err == nil {
		if _, delayed := cronexpr.DelayOf(schedule); delayed {
			return 0
		}
	}
	return j.rules.HeadStart
}

// judgeDebt judges whether an execution took over what was owed, and only that.
func (j *judge) judgeDebt(e *execution) {
	waited := e.before.State == jobtree.ItemWaiting
	if e.source() != job.Failover {
		if waited && e.settings.Failover {
			j.find(NothingForgotten, e.began, e.item, "a new execution buried a lost one", e)
		}
		if e.source() == job.Manual && (e.begun.Trigger <= e.before.Trigger || !e.begun.LastFire.Equal(e.before.LastFire)) {
			j.find(OneExecution, e.began, e.item, "a request was run again, or moved the last fire", e)
		}
		j.judgeRequest(e)
		return
	}
	owed, reruns := e.before.Owed(), e.before.Reruns+1
	if e.before.MadeRoom() {
		reruns--
	}
	switch {
	case owed == nil:
		j.find(NothingForgotten, e.began, e.item, "an execution was run again that was not owed", e)
	case owed.Trigger != e.begun.Current.Trigger || owed.Parameter != e.begun.Current.Parameter || !owed.Fire.Equal(e.fire()) ||
		e.begun.Reruns != reruns || !e.begun.LastFire.Equal(e.before.LastFire):
		j.find(NothingForgotten, e.began, e.item, "a rerun stands for another execution than the lost one", e)
	}
}

// judgeRequest judges whether a run by hand is what was asked for. Requests by the values of instances ask for
// nothing but that all items run, and may be answered before a begin that is under way is done.
func (j *judge) judgeRequest(e *execution) {
	asked := j.before.Triggered()
	if e.source() != job.Manual || !j.requests[e.begun.Trigger] {
		return
	}
	if asked.Err != nil || asked.Revision != e.begun.Trigger {
		j.find(Intent, e.began, e.item, "a request was run that had been replaced or taken back", e)
		return
	}
	_, behind := j.ahead(e.instance(), e.began.Add(-j.jitter()), e.began)
	switch t, c := asked.Value, e.begun.Current; {
	case !t.Asks(e.item) || t.Parameter != c.Parameter || !t.Fire.Equal(c.Fire) || c.Trigger != asked.Revision:
		j.find(Intent, e.began, e.item, "a run by hand is not what was asked for", e)
	case c.Begin.After(t.Until.Add(j.rules.Skew + behind)):
		j.find(Intent, e.began, e.item, "a request was run after it had ended", e)
	}
}

// judgeAftermath judges what the end of an execution left to be done.
func (j *judge) judgeAftermath(e *execution) {
	limit := inforce.FailoverLimit(job.Config{}) // while there are no settings that can be read
	if stored := j.before.Config; stored.Exists() && stored.Err == nil {
		limit = inforce.FailoverLimit(stored.Value)
	}
	owed := e.begun.Current.Failover && (limit == 0 || e.begun.Reruns < limit || e.yielded())
	want := jobtree.ItemIdle
	switch e.outcome() {
	case jobtree.Lost, jobtree.Interrupted:
		want = jobtree.ItemInterrupted
		if owed {
			want = jobtree.ItemWaiting
		}
	case jobtree.NotStarted:
		want = e.before.State
		if want == "" {
			want = jobtree.ItemIdle
		}
		if !e.after.LastFire.Equal(e.before.LastFire) || e.after.Trigger != e.before.Trigger {
			j.find(NothingForgotten, e.closed, e.item, "an execution that never started was not taken back", e)
		}
	}
	if e.after.State != want {
		j.find(NothingForgotten, e.closed, e.item, fmt.Sprintf("the item should be %s", want), e)
	}
}
