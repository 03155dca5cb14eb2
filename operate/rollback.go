package operate

import (
	"context"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// RollBack stores the configuration as it was before an operation that changed it, and leaves whether the job is
// disabled as it is today. The id of the operation is among those of [Operator.Operations].
//
// It is refused if there is no such operation any more, if it changed no settings or their text was too long to be
// kept, if a plan was shown and the configuration is not any more that on which it was made, and as
// [Operator.ChangeSettings] is.
func (o *Operator) RollBack(ctx context.Context, job, operation string, opts Options) (Result, error) {
	return o.carry(ctx, deed{
		verb: VerbRollBack, job: job, target: "to before " + operation, followed: settingsFollowed,
		decide: func(w *world) (decision, error) { return rollBack(w, operation, opts.shownConfig()) },
	}, opts)
}

func rollBack(w *world, operation string, shown registry.Revision) (decision, error) {
	stored := w.snapshot.Get(w.tree.Config())
	switch {
	case !stored.Exists():
		return decision{}, w.known()
	case shown != 0 && shown != stored.Revision:
		return decision{}, w.otherThanShown(Settings{Shown: shown}, stored)
	}
	op, is := w.operated.Value.Find(operation)
	switch {
	case !is:
		return decision{}, refuse(CauseUnknownTarget, "look at the operations of the job", "the last %d operations of the job have none with the id %q", jobtree.MaxOperations, operation)
	case op.Cut:
		return decision{}, refuse(CauseUnknownTarget, "store the settings from a copy of yours", "the settings before it were too long to be kept")
	case op.Before == "":
		return decision{}, refuse(CauseUnknownTarget, "name one that did", "%s changed no settings", op.Verb)
	}
	text := op.Before
	if w.state.Config.Err != nil {
		return w.overFiles(w.replaceSettings(text))
	}
	before, err := w.decode(registry.Node{Path: w.tree.Config(), Value: text, Revision: 1})
	if err != nil {
		return decision{}, invalid(err)
	}
	if before.Disabled != w.state.Config.Value.Disabled ||
		!w.elasticJob3() && jobtree.CheckTyped(registry.Node{Value: text}) != nil { // what had no effect goes
		before.Disabled = w.state.Config.Value.Disabled
		if text, err = w.encode(before); err != nil {
			return decision{}, invalid(err)
		}
	}
	return w.overFiles(w.replaceSettings(text))
}
