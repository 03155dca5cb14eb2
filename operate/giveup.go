package operate

import (
	"context"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// GiveUp ends the waiting of an item whose execution was lost or cut short: that is not run again, and the item goes
// on with its next fire. It is refused if the item does not wait.
func (o *Operator) GiveUp(ctx context.Context, job string, item int, opts Options) (Result, error) {
	return o.carry(ctx, deed{
		verb: VerbGiveUp, job: job, target: itemTarget(item),
		decide: func(w *world) (decision, error) { return giveUp(w, item) },
	}, opts)
}

func giveUp(w *world, item int) (decision, error) {
	if r := w.known(); r != nil {
		return decision{}, r
	}
	if item < 0 || item >= max(w.state.Items(), w.total()) {
		return decision{}, refuse(CauseUnknownTarget, "", "the job has %s", itemRange(w.total()))
	}
	it := w.state.Item(item)
	if it.Record.Err != nil {
		r := refuse(CauseUnreadable, "wait for the leader to set it aside, or use a newer version", "the item's record cannot be read")
		r.Err = it.Record.Err
		return decision{}, r
	}
	record, compare, write, err := w.state.GiveUp(item)
	if err != nil {
		return decision{}, refuse(CauseAlready, "", "nothing of it waits to be run again: it is %s", wordOf(it.Record.Value.State))
	}
	return decision{compare: compare, write: write, plan: Plan{Changes: []Change{{
		What: itemTarget(item), Before: string(jobtree.ItemWaiting), After: string(record.State),
	}}}}, nil
}

func wordOf(s jobtree.ItemState) jobtree.ItemState {
	if s == "" {
		return jobtree.ItemIdle
	}
	return s
}
