package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Request is a request to run a job's items once, by hand. See [Job.Trigger].
type Request struct {
	j        *Job
	revision registry.Revision
	items    []int
	until    time.Time
	each     bool // each instance answers for itself
}

// Number returns the number of the request, which [job.ShardingContext].Trigger shows to the code.
func (q *Request) Number() int64 { return int64(q.revision) }

// Skip says why an item did not run for a [Request].
type Skip string

// Why items did not run.
const (
	// SkipDisabled: an operator excluded it. If it is enabled while the request lasts, it runs for it after all.
	SkipDisabled Skip = "disabled"
	// SkipSurplus: the job has fewer items by now, or got another number of them before the item had ever run. If it has the
	// number of before again while the request lasts, the item may run for it after all.
	SkipSurplus  Skip = "surplus"
	SkipReplaced Skip = "replaced" // another request took the place of this one first, or it was taken back
	SkipOver     Skip = "over"     // it could not begin before the request ended
)

// ItemRun is how one item ran for a [Request].
type ItemRun struct {
	Item     int
	Skipped  Skip   // why it did not run; empty if it did
	Instance string // that ran it
	Begin    time.Time
	End      time.Time
	// Outcome is "success", "failure", "interrupted" or "lost". It is empty if the item has run twice more
	// since: a record keeps two executions.
	Outcome string
	Error   string // why it failed, at most 256 bytes; the rest was logged where it ran
}

// Wait returns when every item has run for the request, or does not run for it as things are at that time, and tells how, in
// the order of the items. An execution that is lost and run again counts when its rerun is over. Code of the job itself must
// not wait: it would wait for its own end.
//
// While the job pauses, because its configuration cannot be read or used, Wait goes on waiting. An item that can begin for the
// request no more because that has ended counts half a minute after that, as clocks may differ. While the scheduler stops, Wait
// goes on as long as the request is likely to be answered: until nothing of the job runs here, and no other process has an
// instance of it or runs an item that was asked for. Errors: [ErrNotRecorded], [ErrUnknownJob] if the scheduler leaves the job
// or stops, [ErrNotStored] if it is removed, the end of ctx.
func (q *Request) Wait(ctx context.Context) ([]ItemRun, error) {
	fail := func(err error) ([]ItemRun, error) {
		return nil, fmt.Errorf("request to job %q: %w", q.j.r.name, err)
	}
	if q.each || q.j.s.traits.Unrecorded {
		return fail(ErrNotRecorded)
	}
	ctx, free := q.j.whileKnown(ctx)
	defer free()
	for {
		view, done, err := q.j.viewOfAll(ctx)
		if errors.Is(err, ErrUnknownJob) {
			return nil, err
		}
		left := q.j.r.leftForGood()
		w := awaitedItems{q: q, left: left != nil, seen: make(map[int]seenRecord)}
		var runs []ItemRun
		upTo, cancel := q.bound(ctx)
		if left == nil {
			q.j.r.whenLeftForGood(upTo, cancel) // to look again at what was seen before
		}
		if err == nil {
			_, err = view.WaitFor(upTo, func(now registry.Snapshot) (over bool) {
				runs, over = w.look(now)
				w.deserted = !over && w.left && !w.mayCome(now)
				return over || w.deserted
			})
			done()
		}
		ended := upTo.Err() != nil
		cancel()
		switch {
		case w.deserted:
			return fail(fmt.Errorf("%w: %w", ErrUnknownJob, left))
		case w.err != nil:
			return fail(w.err)
		case err == nil:
			return runs, nil
		case ctx.Err() != nil:
			return fail(context.Cause(ctx))
		case ended:
			continue // what has not begun by now does not begin any more
		case view != nil && !q.j.shows(view):
			continue // the process follows more of the job now, or less
		}
		select { // the view has ended, and another one is opened
		case <-ctx.Done():
		case <-time.After(room.RetryAfter):
		}
	}
}

// over is when nothing begins for the request any more, by any clock in order.
func (q *Request) over() time.Time { return q.until.Add(fires.ClockTolerance) }

// bound returns a context that ends when the request does, if that is still to come.
func (q *Request) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if left := q.over().Sub(q.j.s.now()); left >= 0 {
		return context.WithTimeout(ctx, max(left, left+time.Millisecond)) // which may be for ever
	}
	return context.WithCancel(ctx)
}

// awaitedItems follows the records of the items that a request awaits. It reads a record only when it has
// changed.
type awaitedItems struct {
	q        *Request
	left     bool // this process has left the job, and does not come back
	seen     map[int]seenRecord
	err      error // why there is nothing to wait for
	deserted bool  // nobody is left who could run what is awaited
}

// seenRecord is what was seen of an item's record.
type seenRecord struct {
	revision registry.Revision
	created  registry.Revision
	answer   jobtree.Answer
	run      ItemRun
}

// look returns how the items ran, and whether that is all there is to wait for.
func (w *awaitedItems) look(now registry.Snapshot) (runs []ItemRun, over bool) {
	if now.Revision() < w.q.revision {
		return nil, false
	}
	tree := w.q.j.r.tree
	node := now.Get(tree.Config())
	if !node.Exists() {
		w.err = ErrNotStored
		return nil, true
	}
	cfg, err := w.q.j.s.dialect.Layout().DecodeConfig(now.Get(tree.Root()).Value, node)
	if err != nil {
		return nil, false // the job pauses
	}
	if !cfg.Monitored() {
		w.err = ErrNotRecorded
		return nil, true
	}
	var gone Skip // why what has not begun does not begin any more
	switch {
	case now.Get(tree.Triggered()).Revision != w.q.revision:
		gone = SkipReplaced
	case w.q.j.s.now().After(w.q.over()):
		gone = SkipOver
	}
	over = true
	asked, _ := jobtree.DecodeTriggered(now.Get(tree.Triggered())) // that of the request, unless it is replaced
	for _, n := range w.q.items {
		s := w.record(n, now.Get(tree.ItemRecord(n)))
		run := s.run
		switch {
		case s.answer == jobtree.Answering:
			over = false
		case s.answer == jobtree.Answered:
		case s.answer == jobtree.Passed:
			run.Skipped = SkipReplaced
		case n >= cfg.ShardingTotalCount || gone != SkipReplaced && !asked.Reaches(w.q.revision, cfg.ShardingTotalCount, node.Revision, s.created):
			run.Skipped = SkipSurplus
		case now.Get(tree.ItemDisabled(n)).Exists():
			run.Skipped = SkipDisabled
		default:
			run.Skipped = gone
			over = over && gone != ""
		}
		runs = append(runs, run)
	}
	return runs, over
}

// mayCome tells whether an instance lives that may yet run the items, or one of them runs: in a process that has left the job
// and waits for the end of that.
func (w *awaitedItems) mayCome(now registry.Snapshot) bool {
	if now.Revision() < w.q.revision {
		return true
	}
	tree := w.q.j.r.tree
	for node := range now.Below(tree.Instances()) {
		if node.Path != tree.Instances() {
			return true
		}
	}
	return slices.ContainsFunc(w.q.items, func(n int) bool { return now.Get(tree.ItemRunning(n)).Exists() })
}

// record returns what is seen of an item's record. One that cannot be read says nothing.
func (w *awaitedItems) record(n int, node registry.Node) seenRecord {
	s, known := w.seen[n]
	if known && node.Revision == s.revision {
		return s
	}
	s = seenRecord{revision: node.Revision, created: node.Created, run: ItemRun{Item: n}}
	if record, err := jobtree.DecodeRecord(node); node.Exists() && err == nil {
		var e *jobtree.Execution
		if s.answer, e = record.AnswerTo(w.q.revision); e != nil {
			s.run.fill(*e)
		}
	}
	w.seen[n] = s
	return s
}

func (i *ItemRun) fill(e jobtree.Execution) {
	i.Instance, i.Begin, i.End, i.Outcome, i.Error = e.Instance, e.Begin, e.End, string(e.Outcome), e.Error
}
