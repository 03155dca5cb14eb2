package sharding

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Registry holds strategies by the names that jobs are configured with. The zero value is empty and
// ready for use; [Default] has the built-in ones. It must not be copied after first use and is safe
// for concurrent use.
type Registry struct {
	mu     sync.RWMutex
	byName map[string]Strategy // guarded by mu
}

// Register adds a strategy under a name. A name is never given a new meaning, because instances that
// disagree about one would keep moving each other's items: an empty or taken name, like a nil
// strategy, is an error that is [ErrInvalidStrategy].
func (r *Registry) Register(name string, strategy Strategy) error {
	if name == "" {
		return fmt.Errorf("%w: its name is empty", ErrInvalidStrategy)
	}
	if strategy == nil {
		return fmt.Errorf("%w: %q is nil", ErrInvalidStrategy, name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.byName[name]; taken {
		return fmt.Errorf("%w: the name %q is taken", ErrInvalidStrategy, name)
	}
	if r.byName == nil {
		r.byName = make(map[string]Strategy)
	}
	r.byName[name] = strategy
	return nil
}

// Lookup returns the strategy that is registered under a name. The empty name, which is how a job
// says that it has no wish, means [NameAverage]. An unknown name is an [UnknownStrategyError].
func (r *Registry) Lookup(name string) (Strategy, error) {
	if name == "" {
		name = NameAverage
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	strategy, known := r.byName[name]
	if !known {
		return nil, &UnknownStrategyError{Name: name, Known: slices.Sorted(maps.Keys(r.byName))}
	}
	return strategy, nil
}

// Names returns the registered names in ascending order.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.byName))
}
