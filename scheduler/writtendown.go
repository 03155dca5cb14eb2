package scheduler

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// deed is what a process does to the settings of a job, and writes down beside them as operators do.
type deed struct{ id, verb, changed string }

// writtenDown is what whoever replaces a configuration compares and writes beside it. So an operator sees who changed the
// settings, and can go back. A list that this version cannot read stays as it is.
func (s *Scheduler) writtenDown(ctx context.Context, job string, found registry.Node, d deed) ([]registry.Condition, []registry.Write, error) {
	if !found.Exists() {
		return nil, nil, nil
	}
	path := jobtree.For(job).Operated()
	node, err := s.registry.Get(ctx, path)
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return nil, nil, err
	}
	var operated jobtree.Operated
	if node.Exists() {
		if operated, err = jobtree.DecodeOperated(node); err != nil {
			return nil, nil, nil //nolint:nilerr // the settings count without it
		}
	}
	operated = operated.With(jobtree.Operation{
		ID: d.id, Verb: d.verb, Who: s.instance, How: "scheduler", When: s.now().UTC().Truncate(time.Millisecond),
		Changed: d.changed, Before: found.Value, After: cmp.Or(node.Revision, found.Created),
	})
	return []registry.Condition{registry.Unchanged(path, node.Revision)}, []registry.Write{registry.Put(path, jobtree.EncodeOperated(operated))}, nil
}
