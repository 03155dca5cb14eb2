package federation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// Job is one job that this process takes part in, wherever it is. Its methods are those of [scheduler.Job] in the job's home;
// while the job is on its way, or its home cannot be reached, they return what [Job.Waits] does. All methods may be called
// concurrently.
type Job struct {
	f       *Federation
	name    string
	cfg     job.Config
	handler job.Handler // nil if the job is data; then a scheduler has it from the beginning on
	options []scheduler.JobOption

	settling chan struct{} // has something while somebody brings the job to its home, or leaves it, which may take long
	news     atomic.Bool   // there is a reason to try again, for whoever settles it
	entered  string        // where the job was declared without an answer in time
	stored   bool          // some registry has had the job: from then on it is followed, and not created

	mu      sync.Mutex
	home    string
	handle  *scheduler.Job // nil while no scheduler has it
	waits   error          // why it is not at its home; nil if it is
	moved   bool           // its scheduler has said so since it was last looked at
	found   bool           // it was removed where it is, and another registry has it
	awaited bool           // somebody waits for its arrival
	gone    bool           // it was left, or refused
}

func (f *Federation) newJob(name string) *Job {
	return &Job{f: f, name: name, settling: make(chan struct{}, 1)}
}

// Name returns the job's name.
func (j *Job) Name() string { return j.name }

// Registry returns the name of the registry where the job is, or goes, as far as this process knows; empty if it does not.
func (j *Job) Registry() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.home
}

// Waits returns why this process does not take part in the job yet, or just now: a registry is away, or the job is being
// moved. nil is that it does.
func (j *Job) Waits() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.waits
}

func (j *Job) scheduled() *scheduler.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.handle
}

func (j *Job) keep(home string, handle *scheduler.Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if home != "" {
		j.home = home
	}
	j.handle = handle
}

func (j *Job) isGone() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.gone
}

// Handle returns the handle of the scheduler that has the job now. It is good until the job moves.
func (j *Job) Handle() (*scheduler.Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == nil {
		return nil, fmt.Errorf("job %q: %w", j.name, j.waits)
	}
	return j.handle, nil
}

// Config is [scheduler.Job.Config].
func (j *Job) Config() (job.Config, registry.Revision, error) {
	handle, err := j.Handle()
	if err != nil {
		return job.Config{}, 0, err
	}
	return handle.Config()
}

// Next is [scheduler.Job.Next].
func (j *Job) Next(n int) ([]time.Time, error) {
	handle, err := j.Handle()
	if err != nil {
		return nil, err
	}
	return handle.Next(n)
}

// Statistics is [scheduler.Job.Statistics].
func (j *Job) Statistics(ctx context.Context) (scheduler.Statistics, error) {
	handle, err := j.Handle()
	if err != nil {
		return scheduler.Statistics{}, err
	}
	return handle.Statistics(ctx)
}

// Dump is [scheduler.Job.Dump].
func (j *Job) Dump(ctx context.Context) (scheduler.Dump, error) {
	handle, err := j.Handle()
	if err != nil {
		return scheduler.Dump{}, err
	}
	return handle.Dump(ctx)
}

// Trigger is [scheduler.Job.Trigger].
func (j *Job) Trigger(ctx context.Context, options ...scheduler.TriggerOption) (*scheduler.Request, error) {
	handle, err := j.Handle()
	if err != nil {
		return nil, err
	}
	return handle.Trigger(ctx, options...)
}

// Update is [scheduler.Job.Update].
func (j *Job) Update(ctx context.Context, change func(*job.Config) error) error {
	handle, err := j.Handle()
	if err != nil {
		return err
	}
	return handle.Update(ctx, change)
}

// Leave is [scheduler.Job.Leave]. A job that waits for a registry waits no more. If ctx ends while the job is being brought
// to its home, Leave has done nothing.
func (j *Job) Leave(ctx context.Context) error {
	if j.handler == nil { // its scheduler refuses
		return j.scheduled().Leave(ctx)
	}
	select {
	case j.settling <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("leave job %q: waiting until it is at its home: %w", j.name, context.Cause(ctx))
	}
	handle := j.scheduled()
	if handle != nil {
		if err := handle.Leave(ctx); err != nil {
			if !j.f.goAlong(func(ctx context.Context) { j.goOnLeaving(ctx, handle) }) { //nolint:contextcheck // it goes on until Run ends
				j.settled()
			}
			return err
		}
	}
	j.forget()
	j.settled()
	return nil
}

// goOnLeaving waits, as nobody else does, until the scheduler has left the job. Until then nobody brings it anywhere: the
// caller has given it the lock of settling.
func (j *Job) goOnLeaving(ctx context.Context, handle *scheduler.Job) {
	defer j.settled()
	if handle.Leave(ctx) == nil {
		j.forget()
	}
}

// Job returns the handle of a job that was added, or that one of the schedulers runs as data. The error is
// [scheduler.ErrUnknownJob] if there is none of this name.
func (f *Federation) Job(name string) (*Job, error) {
	f.mu.Lock()
	j := f.jobs[name]
	f.mu.Unlock()
	if j != nil {
		return j, nil
	}
	for _, m := range f.members {
		m.mu.Lock()
		s := m.sched
		m.mu.Unlock()
		if s == nil {
			continue
		}
		if handle, err := s.Job(name); err == nil {
			return f.data(m, handle), nil
		}
	}
	return nil, fmt.Errorf("job %q: %w", texts.Shorten(name), scheduler.ErrUnknownJob)
}

// data returns the handle of a job that a scheduler runs as data.
func (f *Federation) data(m *member, handle *scheduler.Job) *Job {
	j := f.newJob(handle.Name())
	j.home, j.handle = m.name, handle
	return j
}

// Jobs returns the handles of all jobs of this process, in the order of their names.
func (f *Federation) Jobs() []*Job {
	f.mu.Lock()
	all := make([]*Job, 0, len(f.jobs))
	added := make(map[string]bool, len(f.jobs))
	for name, j := range f.jobs {
		all, added[name] = append(all, j), true
	}
	f.mu.Unlock()
	for _, m := range f.members {
		m.mu.Lock()
		s := m.sched
		m.mu.Unlock()
		if s == nil {
			continue
		}
		for _, handle := range s.Jobs() {
			if !added[handle.Name()] {
				all = append(all, f.data(m, handle))
			}
		}
	}
	slices.SortFunc(all, func(a, b *Job) int { return strings.Compare(a.name, b.name) })
	return all
}
