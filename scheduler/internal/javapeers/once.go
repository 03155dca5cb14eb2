package javapeers

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// onceListeners are listeners of Java's that are to run once for a whole round. Each Java instance registers its items, and
// waits, until all items of the job are registered; the one that finds them all runs the hook. An instance of ours cannot
// be that one, since the hook is Java's, and if it came last, nobody would. So it registers nothing and takes nothing
// away, and says that the hooks do not run.
type onceListeners struct {
	told bool
}

// noteOnce looks for items that Java instances register in a step.
func (s *java) noteOnce(step registry.Step) {
	if s.once.told {
		return
	}
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if !ok || !change.New.Exists() || name.Kind != jobtree.KindItemStarted && name.Kind != jobtree.KindItemCompleted {
			continue
		}
		s.once.told = true
		s.ports.Log().ErrorContext(s.ports.Life(), "a listener of Java instances waits for all items of a round, and does not hear of those that run here: it does not run, and each of their rounds waits for its time limit",
			room.KeyItem, name.Item)
		return
	}
}
