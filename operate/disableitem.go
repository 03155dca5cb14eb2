package operate

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// DisableItem has an item not begin any more until it is enabled. If it runs, it ends by itself. It is refused if the
// item is disabled already, and if the job has no such item. To one that it may have later, Force consents.
func (o *Operator) DisableItem(ctx context.Context, job string, item int, opts Options) (Result, error) {
	return o.setItem(ctx, VerbDisableItem, job, item, opts)
}

// EnableItem takes back [Operator.DisableItem]. It is refused if the item is not disabled.
func (o *Operator) EnableItem(ctx context.Context, job string, item int, opts Options) (Result, error) {
	return o.setItem(ctx, VerbEnableItem, job, item, opts)
}

func (o *Operator) setItem(ctx context.Context, verb Verb, job string, item int, opts Options) (Result, error) {
	return o.carry(ctx, deed{
		verb: verb, job: job, target: itemTarget(item),
		decide: func(w *world) (decision, error) { return setItem(w, verb, item) },
	}, opts)
}

func itemTarget(item int) string { return fmt.Sprintf("item %d", item) }

func setItem(w *world, verb Verb, item int) (decision, error) {
	disable, target := verb == VerbDisableItem, itemTarget(item)
	if r := w.known(); r != nil {
		return decision{}, r
	}
	path := w.tree.ItemDisabled(item)
	is := item >= 0 && w.snapshot.Get(path).Exists()
	// An item that is surplus by now may be enabled, lest its mark stays for ever.
	if is && disable {
		return decision{}, refuse(CauseAlready, "", "it is disabled already%s", w.since(verb, target))
	}
	has, later := item < max(w.total(), w.state.Config.Value.ShardingTotalCount), disable && w.force
	if item < 0 || item >= job.MaxShardingTotalCount || !has && !is && !later {
		r := refuse(CauseUnknownTarget, "", "the job has %s", itemRange(w.total()))
		if disable && item >= 0 && item < job.MaxShardingTotalCount {
			r.Do, r.Forcible = "force it if the item is still to come", true
		}
		return decision{}, r
	}
	d := decision{
		compare: []registry.Condition{w.asRead(path)},
		plan:    Plan{Changes: []Change{{What: target, Before: enabledWord(is), After: enabledWord(disable)}}},
	}
	switch {
	case is == disable:
		return decision{}, refuse(CauseAlready, "", "it is not disabled%s", w.since(verb, target))
	case disable:
		d.write = []registry.Write{registry.Put(path, "")}
		if w.state.Item(item).Running.Exists() {
			d.plan.Notes = append(d.plan.Notes, "it runs, and goes on until it ends by itself")
		}
	default:
		d.write = []registry.Write{registry.Delete(path)}
		if w.mayBeginFor(item) && !w.state.JobDisabled() {
			w.warnOfTrigger(&d, []int{item})
		}
	}
	return d, nil
}
