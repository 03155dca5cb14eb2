package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Update changes the stored configuration, for all processes, and returns when the registry has it and this process sees it. It
// reads what is stored, calls change with it, and stores the outcome if nobody changed the configuration meanwhile; else it
// begins again, so change may be called more than once. Members that this version does not know stay as they are, and so does
// whether the job is disabled, whatever change makes of that: it is up to operators, see package operate. A lower total count
// ends items, for which operators are asked to consent, and code is not. The change is written down among the job's operations,
// as "update". A process that starts later and declares the job with other values keeps what is stored, unless its declaration
// is to win; see [OnConflict].
//
// Errors after which nothing has changed: [ErrInvalidOption] if change is nil; what change returned; the faults of what it
// made, as [Scheduler.Add] would name them, among them times after which the job never fires, unless they are stored already;
// [ErrNotStored]; the end of ctx; [ErrUnknownJob], also if Run ends meanwhile. After [registry.ErrUnknownOutcome], which may
// come with one of the last two, the change may have been made, or may come about later.
func (j *Job) Update(ctx context.Context, change func(*job.Config) error) error {
	if change == nil {
		return fmt.Errorf("update job %q: %w: change is nil", j.r.name, ErrInvalidOption)
	}
	if _, err := j.view(); err != nil {
		return err
	}
	ctx, free := j.whileKnown(ctx)
	defer free()
	for {
		revision, err := j.update(ctx, change)
		switch {
		case err == nil:
			j.waitRevision(ctx, revision) // so that the caller sees it, too
			return nil
		case !errors.Is(err, errOvertaken):
			return fmt.Errorf("update job %q: %w", j.r.name, err)
		}
	}
}

// errOvertaken: somebody else changed the configuration meanwhile. It is not the registry's conflict, which may also be what
// change or the job's code returns.
var errOvertaken = errors.New("the configuration was changed meanwhile")

func (j *Job) update(ctx context.Context, change func(*job.Config) error) (registry.Revision, error) {
	path := j.r.tree.Config()
	stored, err := j.s.registry.Get(ctx, path)
	if errors.Is(err, registry.ErrNotFound) {
		return 0, ErrNotStored
	} else if err != nil {
		return 0, err
	}
	rootNode, err := j.s.rootOf(ctx, j.r.tree)
	if err != nil {
		return 0, err
	}
	root := rootNode.Value
	before, err := j.s.dialect.Layout().DecodeConfig(root, stored)
	if err != nil {
		return 0, err
	}
	after := before
	after.Props = maps.Collect(maps.All(before.Props)) // a map of its own, also if there are none
	if err := change(&after); err != nil {
		return 0, err
	}
	// A change that assigns a whole configuration of the code's has nothing to say of what an operator has stopped, perhaps
	// because the job runs in another registry by now.
	disabled := after.Disabled
	after.Disabled = before.Disabled
	if after.Name != before.Name {
		return 0, &job.FieldError{Field: "Name", Value: after.Name, Reason: fmt.Sprintf("must stay %q: a job under another name is another job", before.Name)}
	}
	if reason := jobtree.ClassStays(before, after); reason != "" {
		return 0, &job.FieldError{Field: "Class", Value: after.ClassName(), Reason: reason}
	}
	if err := errors.Join(j.s.checkDeclaration(ctx, after, j.r.handler), j.r.declared.check(after, j.s.traits)); err != nil {
		return 0, err
	}
	if err := j.s.stillFires(root, stored, after); err != nil {
		return 0, err
	}
	text, err := j.s.dialect.Layout().EncodeConfig(after)
	if err != nil {
		return stored.Revision, err
	}
	if disabled != before.Disabled {
		j.s.log.InfoContext(ctx, "an update neither disables nor enables a job: operators do", logJob, j.r.name, "disabled", before.Disabled)
	}
	if text == stored.Value {
		return stored.Revision, nil
	}
	guards, note, err := j.s.writtenDown(ctx, j.r.name, stored, deed{
		id:   fmt.Sprintf("updated-%d", stored.Revision), // which is replaced once
		verb: jobtree.VerbUpdate, changed: updated(before, after),
	})
	if err != nil {
		return 0, err
	}
	revision, err := j.s.registry.Commit(ctx, registry.Txn{
		If:   append(guards, registry.Unchanged(path, stored.Revision)),
		Then: append(note, j.s.dialect.Layout().PutConfig(j.r.tree, root, text, after)...),
	})
	if err = unsure(err); errors.Is(err, registry.ErrConflict) {
		return 0, errOvertaken
	}
	return revision, err
}

// updated tells what an update changed, without what may be secret.
func updated(before, after job.Config) string {
	var all []string
	for _, m := range jobtree.ChangedMembers(before, after) {
		all = append(all, fmt.Sprintf("%s %s -> %s", m.Name, m.Before, m.After))
	}
	return texts.Shorten(strings.Join(all, "; "))
}
