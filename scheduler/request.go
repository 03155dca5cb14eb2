package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Why [Request.Wait] cannot tell how items ran.
var (
	// ErrNotRecorded says that nobody can tell: the job does not record its executions, or shares them with
	// Java instances, which do not.
	ErrNotRecorded = errors.New("executions are not recorded")
	// ErrRequestLost says that some items have not run for the request and will not: all instances that
	// were asked are gone, the items came to the job or were enabled after the request, or what had begun was
	// given back at a stop.
	ErrRequestLost = errors.New("the request is gone, and some items have not run for it")
)

// Request is a request to run a job's items once, by hand. See [Job.Trigger].
type Request struct {
	j        *Job
	revision registry.Revision
}

// ItemRun is how one item ran for a [Request].
type ItemRun struct {
	Item     int
	Skipped  bool   // it is disabled, and does not run
	Instance string // that ran it
	Begin    time.Time
	End      time.Time
	// Outcome is "success", "failure", "interrupted" or "lost". It is empty if the item has run twice more
	// since: a record keeps two executions.
	Outcome string
	Error   string // why it failed, at most 256 bytes; the rest was logged where it ran
}

// Wait returns when every item has run for the request, and how, in the order of the items. An execution
// that is lost and run again counts when its rerun is over. Requests that come together are run as one, and
// then the answers to all of them are the same; if an item has meanwhile run for a later request, the
// answer is about the later one. Code of the job itself must not wait: it would wait for its own end.
//
// While the job pauses, because its configuration cannot be read or used, Wait goes on waiting. Errors:
// [ErrNotRecorded], [ErrRequestLost], [ErrUnknownJob] if the scheduler leaves the job or stops, the job's
// removal, the end of ctx.
func (q *Request) Wait(ctx context.Context) ([]ItemRun, error) {
	fail := func(err error) ([]ItemRun, error) {
		return nil, fmt.Errorf("request to job %q: %w", q.j.r.name, err)
	}
	if q.j.s.traits.Unrecorded {
		return fail(ErrNotRecorded)
	}
	for {
		view, err := q.j.view()
		if err != nil {
			return nil, err
		}
		w := awaitedItems{q: q, seen: make(map[int]seenRecord)}
		var runs []ItemRun
		_, err = view.WaitFor(ctx, func(now registry.Snapshot) (over bool) {
			runs, over = w.look(now)
			return over
		})
		switch {
		case w.err != nil:
			return fail(w.err)
		case err == nil:
			return runs, nil
		case ctx.Err() != nil:
			return fail(context.Cause(ctx))
		}
		select { // the view has ended, and another one is opened
		case <-ctx.Done():
		case <-time.After(room.RetryAfter):
		}
	}
}

// awaitedItems follows the records of the items that a request awaits. It reads a record only when it has
// changed.
type awaitedItems struct {
	q    *Request
	seen map[int]seenRecord
	err  error // why there is nothing to wait for
}

// seenRecord is what was seen of an item's record.
type seenRecord struct {
	revision registry.Revision
	asked    bool // it began for the request
	over     bool // and that is over
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
		w.err = configuration.ErrNotStored
		return nil, true
	}
	cfg, err := jobtree.DecodeConfig(node)
	if err != nil {
		return nil, false // the job pauses
	}
	if !cfg.Monitored() {
		w.err = ErrNotRecorded
		return nil, true
	}
	var open, lost []int
	for n := range cfg.ShardingTotalCount {
		s := w.record(n, now.Get(tree.ItemRecord(n)))
		switch {
		case s.over:
			runs = append(runs, s.run)
		case s.asked:
			open = append(open, n)
		case now.Get(tree.ItemDisabled(n)).Exists():
			runs = append(runs, ItemRun{Item: n, Skipped: true})
		default:
			lost = append(lost, n)
		}
	}
	if len(lost) > 0 && !w.alive(now) {
		w.err = fmt.Errorf("%w: items %v", ErrRequestLost, lost)
		return nil, true
	}
	return runs, len(open) == 0 && len(lost) == 0
}

// alive tells whether the request, or one that came with it, still waits for an answer.
func (w *awaitedItems) alive(now registry.Snapshot) bool {
	for node := range now.Below(w.q.j.r.tree.Instances()) {
		if node.Value == jobtree.InstanceTriggered && node.Revision >= w.q.revision {
			return true
		}
	}
	return false
}

// record returns what is seen of an item's record.
func (w *awaitedItems) record(n int, node registry.Node) seenRecord {
	s := w.seen[n]
	if node.Exists() && node.Revision != s.revision {
		s = recordFor(n, node, w.q.revision)
		w.seen[n] = s
	}
	return s
}

// recordFor reads what an item's record says of a request. One that cannot be read says nothing.
func recordFor(item int, node registry.Node, request registry.Revision) seenRecord {
	s := seenRecord{revision: node.Revision, run: ItemRun{Item: item}}
	record, err := jobtree.DecodeRecord(node)
	if err != nil || record.Trigger < request || record.Current == nil {
		return s
	}
	s.asked = true
	current, atRest := *record.Current, record.State == jobtree.ItemIdle || record.State == jobtree.ItemInterrupted
	rerun := current.Source == job.Failover && current.Fire.IsZero()
	if !atRest && (record.Before == nil || record.Before.Trigger < request || rerun) {
		return s // it runs for the request, waits to be run again, or is
	}
	s.over = true
	last, known := record.Previous()
	switch {
	case atRest && ofRequest(current):
		s.run.fill(current)
	case known && ofRequest(last):
		s.run.fill(last)
	}
	return s
}

// ofRequest tells whether an execution was one by hand, or the rerun of one, which stands for no fire either.
// One that was given back before it started is none.
func ofRequest(e jobtree.Execution) bool {
	return (e.Source == job.Manual || e.Fire.IsZero()) && e.Outcome != jobtree.NotStarted
}

func (i *ItemRun) fill(e jobtree.Execution) {
	i.Instance, i.Begin, i.End, i.Outcome, i.Error = e.Instance, e.Begin, e.End, string(e.Outcome), e.Error
}
