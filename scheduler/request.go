package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// ErrNotRecorded says that nobody can tell how items ran for a request by hand: the job does not record its
// executions, or shares them with Java instances, which do not.
var ErrNotRecorded = errors.New("executions are not recorded")

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

// Trigger has every instance of the job run its items once, now, as [Scheduler.Trigger] does. What it
// returns can be waited for.
func (j *Job) Trigger(ctx context.Context) (*Request, error) {
	if _, err := j.view(); err != nil {
		return nil, err
	}
	revision, err := j.s.request(ctx, j.r.name)
	if err != nil {
		return nil, err
	}
	return &Request{j, revision}, nil
}

// Wait returns when every item has run for the request, and how, in the order of the items. An execution
// that is lost and run again counts when its rerun is over. Requests that come together are run as one, and
// then the answers to all of them are the same.
//
// Errors: [ErrNotRecorded], [ErrUnknownJob] if the scheduler leaves the job meanwhile, the end of ctx.
func (q *Request) Wait(ctx context.Context) ([]ItemRun, error) {
	cfg, _, err := q.j.Config()
	if err != nil {
		return nil, err
	}
	if q.j.s.java || !cfg.Monitored() {
		return nil, fmt.Errorf("request to job %q: %w", q.j.r.name, ErrNotRecorded)
	}
	for {
		view, err := q.j.view()
		if err != nil {
			return nil, err
		}
		var runs []ItemRun
		w := awaitedItems{q: q, seen: make(map[int]registry.Revision), done: make(map[int]ItemRun)}
		_, err = view.WaitFor(ctx, func(now registry.Snapshot) bool {
			var all bool
			runs, all = w.look(now)
			return all
		})
		switch {
		case err == nil:
			return runs, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("request to job %q: %w", q.j.r.name, context.Cause(ctx))
		}
		select { // the view has ended, and another one is opened
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

// awaitedItems follows the records of the items that a request awaits. It reads a record only when it has
// changed.
type awaitedItems struct {
	q    *Request
	seen map[int]registry.Revision
	done map[int]ItemRun
}

// look returns how the items ran so far, and whether all have.
func (w *awaitedItems) look(now registry.Snapshot) (runs []ItemRun, all bool) {
	if now.Revision() < w.q.revision {
		return nil, false
	}
	tree := w.q.j.r.tree
	cfg, err := jobtree.DecodeConfig(now.Get(tree.Config()))
	if err != nil {
		return nil, false // the job pauses
	}
	for n := range cfg.ShardingTotalCount {
		run, done := w.done[n]
		if !done && now.Get(tree.ItemDisabled(n)).Exists() {
			run, done = ItemRun{Item: n, Skipped: true}, true
		} else if node := now.Get(tree.ItemRecord(n)); !done && node.Exists() && node.Revision != w.seen[n] {
			w.seen[n] = node.Revision
			if run, done = runFor(n, node, w.q.revision); done {
				w.done[n] = run
			}
		}
		if !done {
			return nil, false
		}
		runs = append(runs, run)
	}
	return runs, true
}

// runFor returns how an item ran for a request, if its record shows that it is over.
func runFor(item int, node registry.Node, request registry.Revision) (ItemRun, bool) {
	record, err := jobtree.DecodeRecord(node)
	if err != nil || record.Trigger < request || record.Current == nil {
		return ItemRun{}, false
	}
	current, over := *record.Current, record.State == jobtree.ItemIdle || record.State == jobtree.ItemInterrupted
	rerun := current.Source == job.Failover && current.Fire.IsZero()
	if !over && (record.Before == nil || record.Before.Trigger < request || rerun) {
		return ItemRun{}, false // it runs for the request, waits to be run again, or is
	}
	run := ItemRun{Item: item}
	last, known := record.Previous()
	switch {
	case over && ofRequest(current):
		run.fill(current)
	case known && ofRequest(last):
		run.fill(last)
	}
	return run, true
}

// ofRequest tells whether an execution was one by hand, or the rerun of one, which stands for no fire either.
func ofRequest(e jobtree.Execution) bool { return e.Source == job.Manual || e.Fire.IsZero() }

func (i *ItemRun) fill(e jobtree.Execution) {
	i.Instance, i.Begin, i.End, i.Outcome, i.Error = e.Instance, e.Begin, e.End, string(e.Outcome), e.Error
}
