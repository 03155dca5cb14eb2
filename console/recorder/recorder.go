// Package recorder keeps in a history the executions that a registry shows, for a console whose applications keep none of
// their own.
//
// A record in the registry holds the last two executions of an item. A recorder follows all records and posts what is in
// them as events of package history, at its start and with each change. An execution has the same id however often it is
// posted, so a store that keeps one row for each id holds it once, also if several recorders write to it.
//
// An execution that it has shown to run, and whose code was never called, ends as "not started".
//
// It misses what nobody saw: executions that more than one other followed while it was not running or the registry did not
// answer, those that were given back meanwhile, and jobs whose executions are not recorded. An application that must miss
// nothing posts by itself, with package history/observe; then it needs no recorder, whose rows would stand beside its own.
package recorder

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/registry"
)

// Poster takes events; a [history.Bus] is one. Post must not block.
type Poster interface{ Post(history.Event) }

// Start posts what a registry shows, until the returned function is called, which returns when nothing is posted any
// more. Until the first state is there, ctx bounds the call, and afterwards nothing. The error is the registry's.
//
// What is there at first, and many changes at once, may be more than the buffers of a [history.Bus] hold. They are posted while
// each has half of its room left, after Start has returned, and what happens meanwhile beside them: a store keeps the end of an
// execution, whatever comes after it. A sink that takes nothing is waited for, but while another one could have more only for
// half a minute; then it loses what it has no room for. What is not posted when the returned function is called, the next Start
// posts.
func Start(ctx context.Context, from registry.Viewer, to Poster) (stop func(), err error) {
	viewing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	waiting := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	view, err := from.View(viewing, registry.Root)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("follow what is to be recorded: %w", err)
	}
	if !waiting() { // ctx ended at that moment
		view.Close()
		return nil, fmt.Errorf("follow what is to be recorded: %w", context.Cause(ctx))
	}
	r := newRecording(to)
	view.Subscribe(r.take)
	return func() {
		view.Close()
		r.stop()
		cancel(nil)
	}, nil
}

// executions are those that a change tells of, the older first; none of a node that is no record or cannot be read.
func executions(c registry.Change) (events []history.Execution) {
	name, known := jobtree.Parse(c.Path())
	if !known || name.Kind != jobtree.KindItemRecord || !c.New.Exists() {
		return nil
	}
	record, err := jobtree.DecodeRecord(c.New)
	if err != nil {
		return nil
	}
	if e, token, ok := givenBack(c.Old, record); ok {
		events = append(events, execution(name, &e, token))
	}
	if e, ok := record.Previous(); ok {
		events = append(events, execution(name, &e, record.GivenToken(&e, 0)))
	}
	if e := record.Current; e != nil && e.Outcome != jobtree.NotStarted {
		events = append(events, execution(name, e, record.GivenToken(e, c.New.Revision)))
	}
	return events
}

// givenBack returns the execution that a record had as running, if its code was never called, as it ended. The record tells
// so, or one of another execution that does not have it as the one before.
func givenBack(before registry.Node, after jobtree.Record) (e jobtree.Execution, token int64, ok bool) {
	was, err := jobtree.DecodeRecord(before)
	if err != nil || was.State != jobtree.ItemRunning || was.Current == nil || after.Current == nil {
		return e, 0, false
	}
	e, token = *was.Current, was.GivenToken(was.Current, before.Revision)
	switch {
	case same(&e, after.Current):
		e.Outcome, e.End = after.Current.Outcome, after.Current.End
		if e.End.Before(e.Begin) { // taken back before its fire came
			e.End = e.Begin
		}
		return e, token, e.Outcome == jobtree.NotStarted
	case !samePrevious(was, after): // it is the one before, or nobody saw what became of it
		return e, 0, false
	}
	e.Outcome, e.End = jobtree.NotStarted, after.Current.Begin
	return e, token, true
}

func same(a, b *jobtree.Execution) bool { return a.Instance == b.Instance && a.Begin.Equal(b.Begin) }

// samePrevious tells whether two records know the same execution before the one that they have.
func samePrevious(a, b jobtree.Record) bool {
	one, had := a.Previous()
	other, has := b.Previous()
	return had == has && (!has || same(&one, &other))
}

// space sets the ids of recorded executions apart from all others.
var space = uuid.MustParse("5b8a3c1e-6f0d-4d0e-9a53-0c6a1f2b7e41")

func execution(name jobtree.Name, e *jobtree.Execution, token int64) history.Execution {
	id := uuid.NewSHA1(space, fmt.Appendf(nil, "%s\x00%d\x00%s\x00%d", name.Job, name.Item, e.Instance, e.Begin.UnixMilli()))
	event := history.Execution{
		ID: id.String(), Round: e.Round, Job: name.Job, TaskID: texts.ShortTaskID(fmt.Sprintf("%s@-@%d@-@READY@-@%s", name.Job, name.Item, e.Instance)),
		IP: jobtree.ServerOf(e.Instance), Hostname: jobtree.ServerOf(e.Instance), Source: e.Source, Item: name.Item, Fire: e.Fire,
		Token: token, Start: e.Begin, Complete: e.End, Success: e.Outcome == jobtree.Success,
	}
	if !e.End.IsZero() && !event.Success {
		event.FailureCause = cmp.Or(e.Error, string(e.Outcome))
		if e.Outcome == jobtree.Interrupted && e.Error != "" { // a row knows only whether it succeeded
			event.FailureCause = "interrupted: " + e.Error
		}
	}
	return event
}
