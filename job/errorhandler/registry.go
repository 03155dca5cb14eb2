package errorhandler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// ErrInvalidHandler says that a handler cannot be registered: its name is empty or taken, or it has no
// factory.
var ErrInvalidHandler = errors.New("invalid error handler")

// Factory makes a handler for a job from its configuration. If the handler's settings are wrong, it returns an
// error, so that the fault is found when the job is declared. It does no I/O, except that a [job.PropsReader] may
// read secrets from files. The logger names the job and is never nil. The scheduler calls the factory again when
// the configuration changes; the factory must be safe for concurrent use.
type Factory func(cfg job.Config, log *slog.Logger) (job.ErrorHandler, error)

// Registry holds handlers by the names that jobs are configured with. The zero value is empty and
// ready for use; [Default] has the built-in ones. It must not be copied after first use and is safe
// for concurrent use.
type Registry struct {
	mu     sync.RWMutex
	byName map[string]Factory // guarded by mu
}

// Default returns a new registry of LOG, IGNORE and THROW, to which others may be added.
func Default() *Registry {
	return &Registry{byName: map[string]Factory{
		Log:    func(_ job.Config, log *slog.Logger) (job.ErrorHandler, error) { return logging{log}, nil },
		Ignore: func(job.Config, *slog.Logger) (job.ErrorHandler, error) { return job.ErrorHandlerFunc(ignore), nil },
		Throw:  func(job.Config, *slog.Logger) (job.ErrorHandler, error) { return job.ErrorHandlerFunc(throw), nil },
	}}
}

// Register adds a handler under a name, which may be that of a Java class for the sake of jobs that
// Java instances share. An empty or taken name, like a nil factory, is an error that is
// [ErrInvalidHandler].
func (r *Registry) Register(name string, factory Factory) error {
	if name == "" {
		return fmt.Errorf("%w: its name is empty", ErrInvalidHandler)
	}
	if factory == nil {
		return fmt.Errorf("%w: the factory of %q is nil", ErrInvalidHandler, name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.byName[name]; taken {
		return fmt.Errorf("%w: the name %q is taken", ErrInvalidHandler, name)
	}
	if r.byName == nil {
		r.byName = make(map[string]Factory)
	}
	r.byName[name] = factory
	return nil
}

// New makes the handler that a configuration names; an empty name means LOG. A name that is not
// registered is an [UnknownError]. A nil logger is one that drops all.
func (r *Registry) New(cfg job.Config, log *slog.Logger) (job.ErrorHandler, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	name := cfg.ErrorHandler
	if name == "" {
		name = Log
	}
	r.mu.RLock()
	factory, known := r.byName[name]
	r.mu.RUnlock()
	if !known {
		return nil, &UnknownError{Name: name, Known: r.Names()}
	}
	handler, err := factory(cfg, log)
	if err != nil {
		return nil, fmt.Errorf("error handler %s: %w", name, err)
	}
	return handler, nil
}

// Names returns the registered names in ascending order.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.byName))
}

// UnknownError names a handler that is not registered, and those that are.
type UnknownError struct {
	Name  string
	Known []string
}

// Error names the handler and what is allowed.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("ErrorHandler %q is not registered, known are %s", texts.Shorten(e.Name), strings.Join(e.Known, ", "))
}

// The names of the built-in handlers, which are those of ElasticJob 3.x.
const (
	Log    = "LOG"
	Ignore = "IGNORE"
	Throw  = "THROW"
)

// logging is the handler LOG.
type logging struct {
	log *slog.Logger
}

// HandleError logs the failure; the logger names the job already.
func (l logging) HandleError(ctx context.Context, _ string, sc job.ShardingContext, err error) error {
	fire := any("") // of a run by hand
	if !sc.Fire.IsZero() {
		fire = sc.Fire
	}
	attrs := []any{"item", sc.Item, "fire", fire, "source", string(sc.Source), "token", sc.Token, "error", err}
	var panicked *job.PanicError
	if errors.As(err, &panicked) {
		attrs = append(attrs, "stack", string(panicked.Stack))
	}
	l.log.ErrorContext(ctx, "item failed", attrs...)
	return nil
}

func ignore(context.Context, string, job.ShardingContext, error) error { return nil }

// throw has the round fail for the reason that the item failed.
func throw(_ context.Context, _ string, sc job.ShardingContext, err error) error {
	return fmt.Errorf("%w: item %d: %w", job.ErrFailRound, sc.Item, err)
}
