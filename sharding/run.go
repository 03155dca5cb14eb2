package sharding

import (
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/internal/texts"
)

// Run asks the strategy for an assignment and checks the answer. The strategy gets a copy of the request in normal
// form (see [Request]), so it can neither depend on the order in which the caller lists instances nor change what
// the caller holds. If there are no instances, Run does not ask the strategy, and no item is assigned.
//
// It returns an assignment of exactly Total items to instances of the request, or an error: the
// strategy's own, a [job.PanicError], [job.ErrGoexit], one that is [ErrInvalidAssignment], or one that is
// [ErrInvalidRequest]. Besides the time of the strategy, it takes time proportional to the items. It is safe for
// concurrent use if the strategy is.
func Run(strategy Strategy, r Request) (Assignment, error) {
	r, err := r.normal()
	if err != nil {
		return nil, err
	}
	if len(r.Instances) == 0 {
		return NewAssignment(r.Total), nil
	}
	// The strategy may scribble over its slice, so the check needs one of its own.
	offered := slices.Clone(r.Instances)
	assignment, err := assign(strategy, r)
	if err == nil {
		err = check(assignment, offered, r.Total)
	}
	if err != nil {
		return nil, fmt.Errorf("assign %d items of job %q: %w", r.Total, texts.Shorten(r.Job), err)
	}
	return assignment, nil
}

func assign(strategy Strategy, r Request) (Assignment, error) {
	var assignment Assignment
	err := protect.Call(func() (err error) {
		assignment, err = strategy.Assign(r)
		return err
	})
	return assignment, err
}

func check(assignment Assignment, instances []string, total int) error {
	if len(assignment) != total {
		return fmt.Errorf("%w: it has %d items, want %d", ErrInvalidAssignment, len(assignment), total)
	}
	offered := make(map[string]bool, len(instances))
	for _, instance := range instances {
		offered[instance] = true
	}
	for item, instance := range assignment {
		if instance == "" {
			return fmt.Errorf("%w: item %d belongs to no instance", ErrInvalidAssignment, item)
		}
		if !offered[instance] {
			return fmt.Errorf("%w: item %d belongs to %q, which is not among the instances %s",
				ErrInvalidAssignment, item, texts.Shorten(instance), listed(instances))
		}
	}
	return nil
}
