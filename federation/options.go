package federation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// ErrInvalidOption is the error of an option that is not allowed. It is one error in all packages of this module: errors.Is
// finds it by any of their names.
var ErrInvalidOption = option.ErrInvalid

// DefaultPatience is how long a registry has to answer if [WithPatience] does not say otherwise.
const DefaultPatience = 5 * time.Second

// Registry is one of the registries of a federation.
type Registry struct {
	// Name is that of the registry in all processes: 1 to 63 lower-case letters, digits and "-". It is stored.
	Name string
	// Open connects to the registry. It is called until it has returned a handle once, one call at a time, with a context
	// that ends after the patience. The federation closes the handle at the end of Run. If it panics, the registry is away, and
	// so it is while a call does not return though its context has ended: then nothing waits for it, what it returns after all
	// is used, or closed, and Run's error names one that has not returned by then.
	Open func(ctx context.Context) (registry.Registry, error)
	// Options are for the scheduler of this registry, behind those of [WithScheduler].
	Options []scheduler.Option
}

// Option sets something of a [Federation].
type Option func(*Federation) error

// WithRule sets the rule for jobs that are new. The default is [Rendezvous] over all registries.
func WithRule(rule Rule) Option {
	return func(f *Federation) error {
		if rule == nil {
			return fmt.Errorf("%w: the rule is nil", ErrInvalidOption)
		}
		f.rule = rule
		return nil
	}
}

// WithScheduler sets options of the schedulers of all registries, such as handlers of classes, which then run what any of the
// registries has of the class. Functions among them are called by several schedulers at once. An observer is to be called by
// one: give each registry its own, in [Registry.Options].
func WithScheduler(options ...scheduler.Option) Option {
	return func(f *Federation) error {
		f.shared = append(f.shared, options...)
		return nil
	}
}

// WithLogger sets where the federation logs, and its schedulers, which add the name of their registry. The default is
// nowhere.
func WithLogger(log *slog.Logger) Option {
	return func(f *Federation) error {
		if log == nil {
			return fmt.Errorf("%w: the logger is nil", ErrInvalidOption)
		}
		f.log = log
		return nil
	}
}

// WithPatience sets how long a registry has to answer before it counts as away, which is also how long [Federation.Add] waits
// for one. It must be positive. The default is [DefaultPatience].
func WithPatience(d time.Duration) Option {
	return func(f *Federation) error {
		if d <= 0 {
			return fmt.Errorf("%w: the patience is %s, must be positive", ErrInvalidOption, d)
		}
		f.patience = d
		return nil
	}
}

// namesOf returns the names of registries, ascending, and what is wrong with the rest of them.
func namesOf(registries []Registry) (names []string, faults []error) {
	if len(registries) == 0 {
		faults = append(faults, fmt.Errorf("%w: there is no registry", ErrInvalidOption))
	}
	for _, r := range registries {
		names = append(names, r.Name)
		if r.Open == nil {
			faults = append(faults, fmt.Errorf("%w: registry %q has no Open", ErrInvalidOption, r.Name))
		}
	}
	slices.Sort(names)
	return names, faults
}
