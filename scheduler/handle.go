package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Job is one job that a process takes part in. Its answers come from what the process sees of the
// registry, as of now, and without a request, except those of [Job.Dump], and of [Job.Statistics] where the process
// follows its own items alone. Its changes are made in the registry, for all processes, except by [Job.Leave]:
// [Job.Update] reads the stored configuration first, and [Job.Trigger] reads the job where what the process sees does not do.
//
// A handle is good while the scheduler has the job. Afterwards, and while the scheduler does not run, its methods that look
// at the registry return [ErrUnknownJob]; but before Run, [Job.Trigger] asks the instances that other processes have.
//
// All methods may be called concurrently.
type Job struct {
	s *Scheduler
	r *runner
}

// Job returns the handle of a job that was added to this scheduler, as [Scheduler.Add] did, or that it runs
// as data. The error is [ErrUnknownJob] if there is none of this name.
func (s *Scheduler) Job(name string) (*Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[name]
	if r == nil {
		return nil, fmt.Errorf("job %q: %w", texts.Shorten(name), ErrUnknownJob)
	}
	return &Job{s, r}, nil
}

// Jobs returns the handles of all jobs of this scheduler, in the order of their names.
func (s *Scheduler) Jobs() []*Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := make([]*Job, 0, len(s.runners))
	for _, r := range s.runners {
		jobs = append(jobs, &Job{s, r})
	}
	slices.SortFunc(jobs, func(a, b *Job) int { return strings.Compare(a.r.name, b.r.name) })
	return jobs
}

// Name returns the job's name.
func (j *Job) Name() string { return j.r.name }

// Config returns the configuration that the registry has, and its revision. Errors: [ErrUnknownJob], [ErrNotStored], and
// why the stored configuration cannot be read.
func (j *Job) Config() (job.Config, registry.Revision, error) {
	view, err := j.view()
	if err != nil {
		return job.Config{}, 0, err
	}
	node := view.Snapshot().Get(j.r.tree.Config())
	if !node.Exists() {
		return job.Config{}, 0, fmt.Errorf("job %q: %w", j.r.name, ErrNotStored)
	}
	cfg, err := j.s.dialect.Layout().DecodeConfig(view.Snapshot().Get(j.r.tree.Root()).Value, node)
	return cfg, node.Revision, err
}

// Next returns the times of the next n fires from now on, as the stored configuration has them, in
// order and with the jitter of each. It returns fewer if the job fires less often from now on: none if
// it runs only when it is triggered, or some time after its last run was over. The error is that of
// [Job.Config], or tells why the stored cron cannot be used.
func (j *Job) Next(n int) ([]time.Time, error) {
	cfg, _, err := j.Config()
	if err != nil {
		return nil, err
	}
	schedule, err := cfg.Schedule()
	if err != nil {
		return nil, err
	}
	if _, delayed := cronexpr.DelayOf(schedule); delayed {
		return nil, nil
	}
	delay := jitter.For(cfg)
	now := j.s.now()
	var next []time.Time
	for fire := range cronexpr.Upcoming(schedule, now.Add(-delay.Most)) {
		if len(next) >= n {
			break
		}
		if at := fire.Add(delay.Of(fire)); at.After(now) {
			next = append(next, at)
		}
	}
	return next, nil
}

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

// Leave ends this process's part in the job while the scheduler and its other jobs go on: its items get
// other owners at once, what runs here comes to its end, and Leave returns when it has. So code of the job
// itself must not wait for it. The job stays in the registry, and other processes run it; an operator
// can remove it. This process runs it again when it is added again. A job that is data stays while it is in
// the registry and the process has a handler for its class: Leave refuses it.
//
// When ctx ends, Leave returns its cause, and the process goes on leaving, once it has begun to: before the
// job's tree could be read there is nothing to leave, and Leave only waits. The error is [ErrStopped] if Run
// ends meanwhile, or is to. Leaving a job that the scheduler does not have any more is no error.
//
// The scheduler keeps watching over each job that was left, with one view of one node, until another session has begun, or Run
// ends.
func (j *Job) Leave(ctx context.Context) error {
	if j.r.class == "" {
		return fmt.Errorf("leave job %q: %w", j.r.name, errData)
	}
	ended := j.s.endOf(j.r)
	if ended == nil {
		return nil
	}
	wait := func(done <-chan struct{}, what string) error {
		select {
		case <-done:
			return nil
		case <-j.r.departure.gone.Done():
			return j.s.stopped() // which gives up what runs, so that the job is left in any case
		case <-ctx.Done():
			return fmt.Errorf("waiting %s: %w", what, context.Cause(ctx))
		case <-ended:
			return j.s.stopped()
		}
	}
	if err := wait(j.r.opened.Done(), "for its tree"); err != nil {
		return fmt.Errorf("leave job %q: %w", j.r.name, err)
	}
	j.r.retire(func() {
		j.s.watchLeft(j.r.life, j.r.name)
		j.s.dismiss(j.r)
	})
	if err := wait(nil, "for what runs here"); err != nil {
		return fmt.Errorf("leave job %q: %w", j.r.name, err)
	}
	return nil
}

var (
	// errData: the job was not added.
	errData = errors.New("it is data, and is run for as long as the registry has it")
	// errLeft: the job was left before it had joined, or before it could be taken up as data.
	errLeft = fmt.Errorf("%w: the job was left", ErrUnknownJob)
)

// endOf returns what is closed when Run ends, for a runner that is to leave; nil if it has nothing to leave: it
// is not on the list any more, or is taken off it before Run.
func (s *Scheduler) endOf(r *runner) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runners[r.name] != r {
		return nil
	}
	if s.life == nil {
		delete(s.runners, r.name)
		r.over()
		return nil
	}
	return s.life.Done()
}
