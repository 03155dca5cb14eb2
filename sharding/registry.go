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

// Register adds a strategy under a name. If the name is empty or taken, or the strategy is nil, the error is
// [ErrInvalidStrategy]. A name cannot get a new meaning, because instances that disagree about a name would keep
// moving each other's items.
func (r *Registry) Register(name string, strategy Strategy) error {
	if name == "" {
		return fmt.Errorf("%w: its name is empty", ErrInvalidStrategy)
	}
	if f, is := strategy.(StrategyFunc); strategy == nil || is && f == nil {
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

// Lookup returns the strategy that is registered under a name. The empty name, which is a job's default, means
// [NameAverage]. For an unknown name, the error is an [UnknownStrategyError].
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

// The short names of the built-in strategies. Jobs store them, so they never change.
const (
	NameAverage = "average"          // AverageAllocation, the default
	NameOdevity = "odevity"          // OdevityByName
	NameRotate  = "rotate"           // RotateByName
	NameMinimal = "minimal-movement" // MinimalMovement
)

// javaPackage is where Elastic-Job-Lite 2.x keeps its strategies; it stores full class names.
const javaPackage = "com.dangdang.ddframe.job.lite.api.strategy.impl."

// Default returns a new registry with the built-in strategies: each under its short name, and those
// that Elastic-Job also has under the class names of 2.x and the type names of 3.x. Strategies that you register
// in it are in this registry alone; nothing is global.
func Default() *Registry {
	return &Registry{byName: map[string]Strategy{
		NameAverage: builtIn(AverageAllocation),
		NameOdevity: builtIn(OdevityByName),
		NameRotate:  builtIn(RotateByName),
		NameMinimal: builtIn(MinimalMovement),

		javaPackage + "AverageAllocationJobShardingStrategy":  builtIn(AverageAllocation),
		javaPackage + "OdevitySortByNameJobShardingStrategy":  builtIn(OdevityByName),
		javaPackage + "RotateServerByNameJobShardingStrategy": builtIn(RotateByName),

		"AVG_ALLOCATION": builtIn(AverageAllocation),
		"ODEVITY":        builtIn(OdevityByName),
		"ROUND_ROBIN":    builtIn(RotateByName),
	}}
}

// builtIn is a strategy of [Default].
type builtIn StrategyFunc

// Assign calls f.
func (f builtIn) Assign(r Request) (Assignment, error) { return f(r) }

// Immediate is true; see [Strategy].
func (builtIn) Immediate() bool { return true }
