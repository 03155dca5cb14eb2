package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
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
