package javapeers

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// vanished finds the executions, and the claims, whose marks go together with their instances. An instance that stops in
// order takes its marks away before it leaves, and a step may show both: they went together only if one revision removed
// them, as far as the store tells. Of the last revision that a step shows, it may show a part alone, and the next step the
// rest.
type vanished struct {
	rest []registry.Change // what the last step showed of such a revision
}

// execution is one that went with its instance.
type execution struct {
	item     int
	instance string
	mark     registry.Node
	claim    bool // the mark is of a claim: it may have been before the execution
}

// take returns the executions that are known to have gone when a step is taken in.
func (o *vanished) take(step registry.Step) []execution {
	gone := o.rest
	for _, change := range step.Changes {
		if change.Kind() == registry.Removed && change.Old.Ephemeral() {
			gone = append(gone, change)
		}
	}
	if o.rest = nil; len(gone) == 0 {
		return nil
	}
	instances := make(map[registry.SessionID]registry.Change)
	names := make(map[registry.SessionID]string)
	for _, change := range gone {
		if name, ok := jobtree.Parse(change.Path()); ok && name.Kind == jobtree.KindInstance {
			instances[change.Old.Session], names[change.Old.Session] = change, name.Key
		}
	}
	var found []execution
	for _, change := range gone {
		name, ok := jobtree.Parse(change.Path())
		instance, left := instances[change.Old.Session]
		switch {
		case ok && (name.Kind == jobtree.KindItemRunning || name.Kind == jobtree.KindItemFailover) && left && together(change, instance):
			found = append(found, execution{
				item: name.Item, instance: names[change.Old.Session], mark: change.Old, claim: name.Kind == jobtree.KindItemFailover,
			})
		case change.Removed > step.Snapshot.Revision():
			o.rest = append(o.rest, change)
		}
	}
	return found
}

// together tells whether one revision removed two nodes, unless the store did not tell.
func together(a, b registry.Change) bool {
	return a.Removed == b.Removed || a.Removed == 0 || b.Removed == 0
}

// begun knows which claims of Java's have been followed by an execution.
type begun struct {
	claims map[int]registry.Revision // that created them, by item
}

// note takes in what a step shows of marks. The state is the one before it.
func (b *begun) note(s *jobtree.State, step registry.Step) {
	claims := make(map[int]registry.Node) // that the step shows
	for _, change := range step.Changes {
		if name, ok := jobtree.Parse(change.Path()); ok && name.Kind == jobtree.KindItemFailover {
			claims[name.Item] = change.New
		}
	}
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if !ok || name.Kind != jobtree.KindItemRunning {
			continue
		}
		was := s.Item(name.Item).Failover
		b.follow(name.Item, change, was.Session, was.Created)
		b.follow(name.Item, change, claims[name.Item].Session, claims[name.Item].Created)
	}
}

// follow notes that a change is of the mark of an execution by a claim, if it is of its session.
func (b *begun) follow(item int, mark registry.Change, session registry.SessionID, claim registry.Revision) {
	if claim == 0 || mark.New.Session != session && mark.Old.Session != session {
		return
	}
	if b.claims == nil {
		b.claims = make(map[int]registry.Revision)
	}
	b.claims[item] = claim
}
