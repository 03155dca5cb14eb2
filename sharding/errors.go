package sharding

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/internal/texts"
)

var (
	// ErrInvalidRequest says that a [Request] makes no sense, whatever the strategy.
	ErrInvalidRequest = errors.New("invalid sharding request")

	// ErrInvalidAssignment says that a [Strategy] broke its contract: an item is missing, there is
	// one too many, or one belongs to an instance that was not offered.
	ErrInvalidAssignment = errors.New("invalid assignment")

	// ErrInvalidStrategy says that a strategy cannot be registered: it is nil, its name is empty, or
	// the name is taken.
	ErrInvalidStrategy = errors.New("invalid strategy")
)

// shownInstances is how many instances an error lists.
const shownInstances = 10

// listed lists instances for an error.
func listed(instances []string) string {
	var shown []string
	for _, instance := range instances[:min(len(instances), shownInstances)] {
		shown = append(shown, texts.Shorten(instance))
	}
	if more := len(instances) - len(shown); more > 0 {
		return fmt.Sprintf("%q and %d more", shown, more)
	}
	return fmt.Sprintf("%q", shown)
}

// UnknownStrategyError says that no strategy is registered under a name.
type UnknownStrategyError struct {
	Name  string   // what was asked for
	Known []string // the registered names, in ascending order
}

// Error names the strategy and those that are registered.
func (e *UnknownStrategyError) Error() string {
	return fmt.Sprintf("unknown sharding strategy %q, registered are: %s", texts.Shorten(e.Name), strings.Join(e.Known, ", "))
}
