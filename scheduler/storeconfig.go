package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// storeConfig makes sure that the registry has a configuration of the job that this process can
// serve. It stores the declared one if there is none, or if the code wins; each write is guarded by
// what was read, so of several declarations at once one wins and the others see it.
//
// A configuration is created at most once. A create that got no answer may still happen, so it is not tried again: a second
// one could bring back a job that was removed in between. stored is false for a job that is not there, and is not to be
// created.
func (s *Scheduler) storeConfig(ctx context.Context, cfg job.Config, declared *jobOptions) (stored bool, err error) {
	tree, layout := jobtree.For(cfg.Name), s.dialect.Layout()
	path := tree.Config()
	var unsure error // why nobody knows whether a create was done
	for {
		found, err := s.registry.Get(ctx, path)
		if err != nil && !errors.Is(err, registry.ErrNotFound) {
			return false, err
		}
		if !found.Exists() && unsure != nil {
			return false, unsure
		}
		if !found.Exists() && declared.follows {
			return false, nil
		}
		rootNode, err := s.rootOf(ctx, tree)
		if err != nil {
			return false, err
		}
		root := rootNode.Value
		text, err := s.declaredOver(ctx, root, found, cfg, declared.conflict)
		if err == nil && text == found.Value {
			var again bool
			if again, err = s.storeClass(ctx, rootNode, found, cfg); again {
				continue
			}
		}
		if err != nil || text == found.Value {
			return true, err
		}
		if err := s.stillFires(root, found, cfg); err != nil {
			return false, err
		}
		guards, note, err := s.writtenDown(ctx, cfg.Name, found, deed{
			id:   fmt.Sprintf("declared@%d", found.Revision), // which is replaced once; it is not the number of a part
			verb: jobtree.VerbDeclare, changed: s.replaced(root, found, text),
		})
		if err != nil {
			return false, err
		}
		_, err = s.registry.Commit(ctx, registry.Txn{
			If:   append(guards, registry.Unchanged(path, found.Revision)),
			Then: append(note, layout.PutConfig(tree, root, text, cfg)...),
		})
		if errors.Is(err, registry.ErrUnknownOutcome) && !found.Exists() {
			unsure = err
		}
		if err == nil {
			s.reportReplaced(ctx, root, found, text)
		}
		if !registry.LookAgain(ctx, err) {
			return true, err
		}
	}
}

// stillFires refuses to store times after which a job never fires, unless they are stored already: code may outlive its job's
// last fire, but nothing new begins so.
func (s *Scheduler) stillFires(root string, found registry.Node, cfg job.Config) error {
	if found.Exists() {
		if stored, err := s.dialect.Layout().DecodeConfig(root, found); err == nil && jobtree.SameFires(stored, cfg) {
			return nil
		}
	}
	return cfg.ValidateAt(s.now())
}

// storeClass stores the class of a job whose configuration came without one. again is true if the registry has changed
// meanwhile.
func (s *Scheduler) storeClass(ctx context.Context, root, found registry.Node, cfg job.Config) (again bool, err error) {
	tree, layout := jobtree.For(cfg.Name), s.dialect.Layout()
	if layout == jobtree.Lite || root.Value != "" {
		return false, nil
	}
	stored, err := layout.DecodeConfig(root.Value, found)
	if err != nil || !layout.WithoutClass(root.Value, stored) {
		return false, err
	}
	_, err = s.registry.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(tree.Config(), found.Revision), registry.Unchanged(tree.Root(), root.Revision)},
		Then: []registry.Write{layout.PutClass(tree, cfg)},
	})
	return registry.LookAgain(ctx, err), err
}

// rootOf returns the job's own node, where that says something of its configuration.
func (s *Scheduler) rootOf(ctx context.Context, tree jobtree.Tree) (registry.Node, error) {
	if s.dialect.Layout() == jobtree.Lite {
		return registry.Node{}, nil
	}
	node, err := s.registry.Get(ctx, tree.Root())
	if errors.Is(err, registry.ErrNotFound) {
		err = nil
	}
	return node, err
}

// declaredOver returns what the stored configuration should be after a declaration: the stored text
// itself where it is to stay. root is the value of the job's own node.
func (s *Scheduler) declaredOver(ctx context.Context, root string, found registry.Node, cfg job.Config, conflict Conflict) (string, error) {
	if !found.Exists() {
		if other := s.dialect.Layout().OtherClass(root, cfg); other != "" {
			return "", &ClassConflictError{Job: cfg.Name, Stored: other, Declared: cfg.ClassName()}
		}
		return s.dialect.Layout().EncodeConfig(cfg)
	}
	stored, err := s.dialect.Layout().DecodeConfig(root, found)
	if err != nil {
		return "", fmt.Errorf("the registry holds a configuration that cannot be read (correct it, or remove the job if nobody uses it): %w", err)
	}
	if s.dialect.Layout().WithoutClass(root, stored) {
		stored.Class = cfg.Class
	}
	if stored.ClassName() != cfg.ClassName() {
		return "", &ClassConflictError{Job: cfg.Name, Stored: stored.ClassName(), Declared: cfg.ClassName()}
	}
	if !s.traits.StartDisabled { // whether the job is disabled is up to operators, once it is there
		if cfg.Disabled && !stored.Disabled {
			s.log.WarnContext(ctx, "the job is declared as disabled and is not: that counts at its first declaration alone", logJob, cfg.Name)
		}
		cfg.Disabled = stored.Disabled
	}
	switch conflict {
	case RegistryWins:
		s.reportIgnored(ctx, stored, cfg)
		return found.Value, nil
	case RefuseConflict:
		if fields := cfg.Differences(stored); len(fields) > 0 {
			return "", &ConfigConflictError{Job: cfg.Name, Fields: fields, Values: differences(stored, cfg)}
		}
		return found.Value, nil
	default:
		cfg.Unknown = stored.Unknown
		return s.dialect.Layout().EncodeConfig(cfg)
	}
}
