package operate

import (
	"context"
	"errors"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Remove deletes a job with all that is known of it, in two steps: it disables the job and notes that it is being
// removed; and when nothing runs any more, it deletes the job's tree. It always waits for that. If the context ends
// before, or the operator dies, the job stays disabled: call Remove again to go on, or enable the job to call it off.
// A process that declares the job in its code creates it again when it starts next. What was done is deleted with the job, so
// whoever asks again with an id gives [Options.Since], too: without it a job that was made anew under the name is removed.
//
// It is refused if there is no such job, and, unless forced, if instances of it live, or while elasticron migrate moves it,
// which goes on and back by what is stored here, and with a plan that was shown if the configuration was changed since, or the
// job made anew. Forced, it also deletes what is left of a job without a configuration.
// Nothing has it delete what says that the job's home is another registry. Before, in the result, is the configuration that
// was removed.
func (o *Operator) Remove(ctx context.Context, job string, opts Options) (Result, error) {
	d := deed{
		verb: VerbRemove, job: job,
		decide: func(w *world) (decision, error) {
			stored, shown := w.snapshot.Get(w.tree.Config()), opts.shownConfig()
			if shown != 0 && shown != stored.Revision && stored.Exists() { // the plan of another job of this name reads the same
				return decision{}, w.otherThanShown(Settings{Shown: shown}, stored)
			}
			return beginRemoval(w)
		},
		followed: nothingRuns, ends: true,
	}
	r, err := o.carry(ctx, d, Options{Reason: opts.Reason, ID: opts.ID, Again: opts.Again, Since: opts.Since, DryRun: opts.DryRun, Force: opts.Force, Shown: opts.Shown})
	if err != nil || opts.DryRun {
		return r, err
	}
	view, err := o.store.View(ctx, jobtree.For(job).Root())
	if err != nil {
		return r, &UnconfirmedError{Result: r, Err: err}
	}
	defer view.Close()
	return o.finishRemoval(ctx, view, d, opts, r)
}

func beginRemoval(w *world) (decision, error) {
	left := 0
	for range w.snapshot.Below(w.tree.Root()) {
		left++
	}
	operated := w.operated.Value
	cfg := w.state.Config
	switch {
	case left == 0, !cfg.Exists() && operated.Removing == "" && !w.force:
		r := w.known()
		if left > 0 {
			r.Forcible, r.Do = true, "force it to delete what is left of one"
		}
		return decision{}, r
	case len(w.state.Instances) > 0 && !w.force:
		r := refuse(CauseAlive, "shut them down, or force it: then they pause or leave the job", "instances of the job live: %s", listed(w.instances()))
		r.Forcible = true
		return decision{}, r
	case cfg.Err != nil && !w.force:
		r := refuse(CauseUnusable, "force it", "the job's configuration cannot be read, so the job cannot be disabled first")
		r.Err, r.Forcible = cfg.Err, true
		return decision{}, r
	}
	d := decision{before: w.snapshot.Get(w.tree.Config()).Value}
	if r := w.removable(&d); r != nil {
		return decision{}, r
	}
	if cfg.Exists() && cfg.Err == nil {
		if err := w.setDisabled(&d, true); err != nil {
			return decision{}, err
		}
	}
	inner := d.note
	d.note = func(o *jobtree.Operated) {
		if inner != nil {
			inner(o)
		}
		o.Removing = jobtree.RemovingByOperator // and not the id: any operation may go on with it
	}
	d.plan.Changes = append(d.plan.Changes, Change{What: "job", Before: "is there", After: "removed"})
	if len(w.state.Instances) > 0 {
		d.warn("instances of the job live, and pause or leave it: " + listed(w.instances()))
	}
	if cfg.Exists() && cfg.Err == nil && !cfg.Value.Monitored() {
		d.warn(notRecorded)
	}
	d.warn("processes that declare the job in their code create it again when they start next")
	return d, nil
}

// finishRemoval deletes the tree of a job that is disabled and marked, when nothing of it runs.
func (o *Operator) finishRemoval(ctx context.Context, view *registry.View, d deed, opts Options, r Result) (Result, error) {
	for {
		var err error
		if r, err = o.await(ctx, view, d, opts, r); err != nil {
			return r, err
		}
		w := o.worldOf(d.job, view.Snapshot(), opts.Force)
		switch {
		case !w.operated.Exists() && !w.state.Config.Exists(): // another operator has gone on with it
			return o.removed(ctx, w, r), nil
		case w.elsewhere() != nil: // the name was given another home since the configuration was deleted
			return r, d.completed(w.elsewhere())
		case w.operated.Value.Removing == "" || w.state.Config.Exists() && w.state.Config.Err == nil && !w.state.Config.Value.Disabled:
			r.Progress = Progress{Overtaken: true, Text: "the removal was called off" + w.since(VerbEnableJob, "")}
			return r, &UnconfirmedError{Result: r, Err: errOvertaken}
		case len(w.state.Instances) > 0 && !opts.Force:
			refused := refuse(CauseAlive, "shut them down and remove it again, or enable the job to call that off", "the job is disabled, and instances have joined it meanwhile: %s", listed(w.instances()))
			return r, d.completed(refused)
		}
		w.force = w.force && d.verb == VerbRemove                  // files do not consent to the end of a move
		if refused := w.removable(new(decision)); refused != nil { // it began to move meanwhile
			return r, d.completed(refused)
		}
		revision, err := o.deleteTree(ctx, w)
		switch conflict := (*registry.ConflictError)(nil); {
		case err == nil:
			r.Revision = revision
			return o.removed(ctx, w, r), nil
		case errors.As(err, &conflict):
			err = view.WaitRevision(ctx, conflict.Revision)
		}
		if err != nil {
			return r, &UnconfirmedError{Result: r, Err: denied(err)}
		}
	}
}

// removed reports the end of a removal.
func (o *Operator) removed(ctx context.Context, w *world, r Result) Result {
	o.log.InfoContext(ctx, "job removed", "job", r.Job, "id", r.ID, "who", o.who, "config", jobtree.Mask(w.tree.Config(), r.Before))
	r.Progress = done("the job is gone")
	return r
}

// nodesPerPart is how many nodes one part of a removal deletes.
const nodesPerPart = 50

// deleteTree deletes all nodes of a job as the world shows it: at once if the registry takes that, else the
// configuration first, so that nothing can begin or join, and what operators did last, so that a removal that stops
// halfway can be seen and gone on with.
func (o *Operator) deleteTree(ctx context.Context, w *world) (registry.Revision, error) {
	config, operated := w.asRead(w.tree.Config()), w.asRead(w.tree.Operated())
	whole := registry.Txn{If: []registry.Condition{config, operated, w.asRead(w.tree.Move())}, Then: []registry.Write{registry.DeleteTree(w.tree.Root())}}
	if config.Kind != registry.CondAbsent {
		revision, err := o.store.Commit(ctx, whole)
		if !errors.Is(err, registry.ErrTooLarge) {
			return revision, err
		}
		_, err = o.store.Commit(ctx, registry.Txn{If: whole.If, Then: []registry.Write{registry.Delete(w.tree.Config())}})
		if err != nil {
			return 0, err
		}
	}
	gone := []registry.Condition{registry.Absent(w.tree.Config()), operated}
	var paths []string
	for n := range w.snapshot.Below(w.tree.Root()) {
		if n.Path != w.tree.Config() && n.Path != w.tree.Operated() && n.Path != w.tree.Root() {
			paths = append(paths, n.Path)
		}
	}
	slices.Reverse(paths) // what lies below goes first
	for part := range slices.Chunk(paths, nodesPerPart) {
		// Done again much later it finds operated gone, or deletes what the removal is about to.
		txn := registry.Txn{If: gone, Repeat: registry.RepeatHarmless}
		for _, path := range part {
			txn.Then = append(txn.Then, registry.Delete(path))
		}
		if _, err := o.store.Commit(ctx, txn); err != nil {
			return 0, err
		}
	}
	return o.store.Commit(ctx, registry.Txn{If: gone, Then: whole.Then})
}
