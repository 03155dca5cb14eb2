package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/patience"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
)

// Add declares a job, whose items handler runs, and returns its handle. It may be called before Run and while Run goes on;
// in the second case it returns when the job has joined its cluster. If ctx ends when its configuration is stored and it has
// yet to join, the job is declared all the same, and joins when it can; [Scheduler.Job] finds its handle. If ctx ends before
// that, the job is not declared.
//
// The first declaration of a job in the registry stores its configuration. Later ones leave the
// stored one as it is: what is stored counts, for every instance. [OnConflict] says otherwise. With [WithoutCreating] it stores
// nothing that is not there.
//
// Errors after which the registry is as it was: every fault of cfg at once; an option that is not allowed, which is
// [ErrInvalidOption]; a cron that never fires again, if the declaration would be stored; an unknown sharding strategy;
// [ErrDeclared], also of all but one of several calls for one job at once, and, while Run goes on, for a stored job that
// this process has taken up by a handler of its class, see [WithHandler]; [ErrClassConflict] if the stored job is another
// one; [ErrConfigConflict] if a difference is to be refused; a stored configuration that cannot be read; [ErrJavaPeers];
// [ErrStopped] if Run has stopped before, with why if Run returns an error; the cause of ctx if it has ended before.
//
// Errors after which the configuration may be stored, because others may rely on it by then: those of the registry, the end
// of ctx, [ErrStopped], just so, if Run stops meanwhile, and [ErrUnknownJob] if [Job.Leave] has the process leave the job
// meanwhile. If Configure, Check or the constructor of the error handler has not returned after ten seconds, the error is
// [ErrNotReturned]. After [registry.ErrUnknownOutcome] the job was not there yet, and may be in a moment, or never: declare
// it again.
func (s *Scheduler) Add(ctx context.Context, cfg job.Config, handler job.Handler, opts ...JobOption) (*Job, error) {
	ctx, free := s.whileRunning(ctx)
	defer free()
	r, err := s.add(ctx, cfg, handler, opts)
	if err != nil {
		return nil, fmt.Errorf("declare job %q: %w", texts.Shorten(cfg.Name), err)
	}
	return &Job{s, r}, nil
}

func (s *Scheduler) add(ctx context.Context, cfg job.Config, handler job.Handler, opts []JobOption) (*runner, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	declared, err := newJobOptions(opts)
	if err != nil {
		return nil, err
	}
	if err := declared.check(cfg, s.traits); err != nil {
		return nil, err
	}
	if err := s.checkDeclaration(ctx, cfg, handler); err != nil {
		return nil, err
	}
	ctx, end := patience.Begin(ctx)
	defer end()
	r := newRunner(s, cfg, handler, declared)
	wait, err := s.declare(ctx, r, cfg)
	if err != nil {
		return nil, err
	}
	return r, wait()
}

// declare stores a configuration and puts its runner on the list. Nobody else does either for the same
// job meanwhile, so a declaration that is refused as the second one has stored nothing. wait is that of
// enter.
func (s *Scheduler) declare(ctx context.Context, r *runner, cfg job.Config) (wait func() error, err error) {
	release, err := s.reserve(ctx, cfg.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.dialect.Admit(ctx, cfg.Name); err != nil {
		return nil, err
	}
	stored, err := s.storeConfig(ctx, cfg, r.declared)
	if err != nil {
		return nil, err
	}
	r.absent = !stored
	return s.enter(ctx, r)
}

// checkDeclaration finds what is wrong with a declaration before anything is asked of the registry.
func (s *Scheduler) checkDeclaration(ctx context.Context, cfg job.Config, handler job.Handler) error {
	cfg.Props = maps.Collect(maps.All(cfg.Props)) // code that changes its settings must not change what is stored
	faults := []error{cfg.Validate()}
	faults = append(faults, s.dialect.Faults(cfg)...)
	faults = append(faults, configuration.CheckCode(ctx, cfg, handler), configuration.CheckErrorHandler(ctx, cfg, s.errorHandlers, s.log))
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for the job's code: %w", context.Cause(ctx))
	}
	if _, err := inforce.MaxRunning(cfg); err != nil {
		faults = append(faults, err)
	}
	if _, err := s.strategies.Lookup(cfg.ShardingStrategy); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// reserve lets only the caller declare a job of this name, until the caller releases the name. It holds up
// other declarations, which wait and then find the job declared or may try themselves, and the catalog,
// which looks at the job afterwards.
func (s *Scheduler) reserve(ctx context.Context, name string) (release func(), err error) {
	for {
		s.mu.Lock()
		err, other := s.refusal(name), s.adding[name]
		if err == nil && other == nil {
			s.adding[name] = make(chan struct{})
		}
		s.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case other == nil:
			return func() { s.release(name) }, nil //nolint:contextcheck // jobs live as long as Run, not as this call
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another declaration of the job: %w", context.Cause(ctx))
		}
	}
}

func (s *Scheduler) release(name string) {
	s.mu.Lock()
	close(s.adding[name])
	delete(s.adding, name)
	c := s.catalog
	s.mu.Unlock()
	if c != nil {
		c.box.Post(func() { c.consider(name) })
	}
}
