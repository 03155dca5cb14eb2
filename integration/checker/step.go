package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// judgeStep judges what one revision did to an item.
func (j *judge) judgeStep(at time.Time, n int) {
	was, is := j.before.Item(n), j.now.Item(n)
	if e := j.unrecorded[n]; e != nil && is.Running.Created != e.token {
		e.lapsed = at
		delete(j.unrecorded, n)
	}
	if was.Record.Revision != is.Record.Revision {
		j.judgeRecord(at, n, was, is)
	}
	if j.untold[n] {
		return
	}
	open := j.open[n]
	if was.Running.Exists() && was.Running.Created != is.Running.Created && open != nil && open.token == was.Running.Created {
		open.markGone = at
	}
	if is.Running.Exists() && (open == nil || open.token != is.Running.Created) && !j.heldAnew(n, is) && !j.handsMark(is) {
		j.find(OneHolder, at, n, fmt.Sprintf("session %s holds a mark that no begin made", is.Running.Session), maybe(open)...)
	}
}

// heldAnew tells whether a process has marked an item anew that it began, and of which the tree shows nothing any more: the
// job was deleted under it. Nobody else may begin it then.
func (j *judge) heldAnew(n int, is jobtree.Item) bool {
	return !is.Record.Exists() && slices.ContainsFunc(j.byItem[n], func(e *execution) bool {
		return e.outcome() == "" && e.token < is.Running.Created && e.instance() == is.Running.Value && e.begun.Current.Session == is.Running.Session
	})
}

// handsMark tells whether it is a careless hand that marked an item, or that wrote to its mark.
func (j *judge) handsMark(is jobtree.Item) bool {
	path := jobtree.For(j.Job).ItemRunning(is.Number)
	return j.hands.wrote(path, is.Running.Created) || j.hands.wrote(path, is.Running.Revision)
}

// judgeRecord judges the change of a record.
func (j *judge) judgeRecord(at time.Time, n int, was, is jobtree.Item) {
	old, next := was.Record.Value, is.Record.Value
	ran, runs := old.State == jobtree.ItemRunning, next.State == jobtree.ItemRunning
	if !is.Record.Exists() && n >= j.now.Total() { // the job has no such item, and may get it back as a new one
		j.forgotten[n] = append(j.forgotten[n], at)
	}
	if was.Record.Err != nil && is.Record.Exists() && is.Record.Err == nil {
		j.setAside[n] = append(j.setAside[n], setAside{j.spoilt[n], next.LastFire})
	}
	switch {
	case j.untold[n]: // what it was says nothing of what it should be
		if is.Record.Exists() { // and not when what the hand put goes with the hand's session
			delete(j.untold, n)
		}
		if runs {
			j.began(at, n, was, is)
		}
	case is.Record.Err != nil:
		j.find(NothingForgotten, at, n, "the record cannot be read: "+is.Record.Err.Error())
	case runs:
		if open := j.open[n]; ran && open != nil {
			j.find(OneHolder, at, n, "an execution began over one that was recorded as running", open)
		}
		j.began(at, n, was, is)
	case ran && is.Record.Exists():
		j.ended(at, n, was, is)
	case ran || old.State == jobtree.ItemWaiting && !is.Record.Exists() && n < j.now.Total():
		j.find(NothingForgotten, at, n, "the record vanished with an execution that was still owed")
		delete(j.open, n)
	case old.State == jobtree.ItemWaiting && j.gaveUp(n), // see judgeOperation
		old.State == jobtree.ItemWaiting && next.State == jobtree.ItemInterrupted && j.now.Config.Value.Unmonitored:
		delete(j.requeued, n)
	case next.State == jobtree.ItemWaiting && old.State != jobtree.ItemWaiting && j.requeues(n):
		j.requeued[n] = true
	case is.Record.Exists() && (next.State != old.State && was.Record.Exists() || next.LastFire.Before(old.LastFire)):
		j.find(NothingForgotten, at, n, fmt.Sprintf("a record without an execution went from %s, last fire %s, to %s, last fire %s",
			old.State, clock(old.LastFire), next.State, clock(next.LastFire)))
	}
}

// began notes an execution and judges whether it was allowed to begin.
func (j *judge) began(at time.Time, n int, was, is jobtree.Item) {
	e := &execution{
		item: n, token: is.Record.Revision, began: at, begun: is.Record.Value, before: was.Record.Value,
		settings: j.before.Config.Value, life: len(j.removals), requeued: j.requeued[n],
	}
	delete(j.requeued, n)
	if runs := j.runs[e.token][n]; len(runs) > 0 {
		e.run = runs[0]
	}
	j.open[n] = e
	j.byItem[n] = append(j.byItem[n], e)
	if j.byToken[e.token] == nil {
		j.byToken[e.token] = make(map[int]*execution)
	}
	j.byToken[e.token][n] = e
	j.judgeHolder(e, was, is)
	j.judgeIntent(e, was)
	if e.planned() {
		j.judgeFire(e)
	}
	j.judgeDebt(e)
}

// ended judges whether an execution was allowed to end so, and notes it.
func (j *judge) ended(at time.Time, n int, was, is jobtree.Item) {
	e, next := j.open[n], is.Record.Value
	if e == nil {
		j.find(GrowingToken, at, n, "an end was recorded of an execution that never began")
		return
	}
	delete(j.open, n)
	e.closed, e.after = at, next
	if was.Running.Exists() && is.Running.Exists() && !j.handsMark(is) {
		j.find(OneHolder, at, n, "an end was recorded and the mark left", e)
	}
	if registry.Revision(next.Current.Token) != e.token {
		j.find(GrowingToken, at, n, fmt.Sprintf("the end of token %d was recorded over the execution that ran", next.Current.Token), e)
	}
	lost := next.Current.Outcome == jobtree.Lost
	if lost && was.Running.Exists() {
		j.find(NothingForgotten, at, n, "an execution was declared lost though a live session held its mark", e)
	}
	if lost && j.before.Instance(e.instance()).Session == e.begun.Current.Session {
		j.find(NothingForgotten, at, n, "an execution was declared lost though its instance lived", e)
	}
	j.judgeAftermath(e)
	j.judgeTakenBack(e, was)
}

// judgeTakenBack judges whether who took a begin back left it to somebody. If the job makes nothing up, or nothing that is
// too old by then, nobody runs the fire later: an execution that waits for its turn then keeps it, wherever its item moves
// and also while its instance leaves, until its session or the stop timeout is over, or its item is not to run any more.
func (j *judge) judgeTakenBack(e *execution, was jobtree.Item) {
	if e.outcome() != jobtree.NotStarted || !e.planned() || makesUp(e.settings, e.fire(), e.closed) || was.Running.Created != e.token {
		return
	}
	if e.source() == job.Misfire && e.settings.MisfireWindow > 0 && e.closed.Before(e.began.Add(j.rules.Settle)) {
		return // it may have been too old when its begin was confirmed
	}
	now := settingsOf(j.before.Config)
	if !now.usable || now.delay > 0 || was.Disabled || e.item >= now.ShardingTotalCount || !j.before.Enabled(e.instance()) || j.refuses(e.instance(), e.closed) {
		return
	}
	hindered := j.during(e.instance(), j.rules.Settle, Cut, Paused, Slow, Paced, Down, Expired, Lost, Denied, Misset)
	for _, i := range j.Incidents {
		if i.Kind == Stopped && i.Instance == e.instance() {
			hindered = append(hindered, span{i.From.Add(j.rules.Grace - j.rules.Settle), j.End})
		}
	}
	decided := e.begun.Current.Begin
	if e.began.Before(decided) { // ahead of its fire
		decided = e.began
	}
	if !hindered.merge().touches(decided, e.closed) { // the answer may come too late
		j.find(NothingForgotten, e.closed, e.item, "a begin was taken back that nobody makes up", e)
	}
}

// makesUp tells whether a fire may be made up by these settings at a moment.
func makesUp(s job.Config, fire, at time.Time) bool {
	none := s.Misfire == job.MisfireSkip || s.Misfire == job.MisfireAll && s.MisfireMax < 0
	return !none && (s.MisfireWindow == 0 || at.Before(fire.Add(s.MisfireWindow)))
}

// maybe returns an execution as proof, if there is one.
func maybe(e *execution) []fmt.Stringer {
	if e == nil {
		return nil
	}
	return []fmt.Stringer{e}
}

// proofs returns an execution and the call of its code, if there was one.
func proofs(e *execution) []fmt.Stringer {
	if e.run == nil {
		return []fmt.Stringer{e}
	}
	return []fmt.Stringer{e, e.run}
}
