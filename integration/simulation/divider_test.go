package simulation_test

import (
	"context"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// atOnce is how many items a resharding moves in one transaction here. Most small jobs move no more at once,
// and those of [plan.divide] do.
const atOnce = 4

// divider is a registry that writes a resharding in parts as leaders do with one of more than a hundred items,
// so that small jobs, of which thousands of seeds can be tried, are resharded in parts, too.
type divider struct {
	registry.Registry
	opening time.Duration // how long it takes to open a view of parts
}

// Commit implements registry.Committer.
func (d divider) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	parts, rest := divided(txn)
	if len(parts) > 0 {
		for _, o := range d.CommitAll(ctx, parts) {
			if o.Err != nil {
				return 0, o.Err
			}
		}
	}
	return d.Registry.Commit(ctx, rest)
}

// ViewParts implements registry.Narrower.
func (d divider) ViewParts(ctx context.Context, path string, parts []registry.Part, except ...func(path string) bool) (*registry.View, error) {
	select { // with much to list, or a slow store, what is followed changes meanwhile
	case <-time.After(d.opening):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	view, err := registry.ViewParts(ctx, d.Registry, path, parts, except...)
	if err != nil {
		return nil, err
	}
	return newBehind(view), nil
}

// Narrows implements registry.Narrower.
func (d divider) Narrows(int) bool { return true }

// divided returns the parts of a resharding that moves more items than that, and what puts them into force.
func divided(txn registry.Txn) (parts []registry.Txn, rest registry.Txn) {
	var moves []jobtree.Name
	var owners []string
	var epoch jobtree.Epoch
	rest = txn
	rest.Then = nil
	for _, w := range txn.Then {
		name, _ := jobtree.Parse(w.Path)
		if w.Kind == registry.WritePut && name.Kind == jobtree.KindItemInstance {
			moves, owners = append(moves, name), append(owners, w.Value)
			continue
		}
		if name.Kind == jobtree.KindEpoch {
			epoch, _ = jobtree.DecodeEpoch(registry.Node{Path: w.Path, Value: w.Value, Revision: 1})
		}
		rest.Then = append(rest.Then, w)
	}
	if stepOf(txn) != reshard || len(moves) <= atOnce || epoch.Term == 0 {
		return nil, txn
	}
	guards := slices.DeleteFunc(slices.Clone(txn.If), func(c registry.Condition) bool {
		name, _ := jobtree.Parse(c.Path)
		return name.Kind != jobtree.KindLeader && name.Kind != jobtree.KindEpoch
	})
	for i, m := range moves {
		next := jobtree.For(m.Job).ItemNext(m.Item)
		parts = append(parts, registry.Txn{
			Repeat: registry.RepeatHarmless, If: append(slices.Clone(guards), registry.Absent(next)), // the leader has tidied
			Then: []registry.Write{registry.Put(next, jobtree.EncodeNext(jobtree.Next{Epoch: epoch.ID(), Owner: owners[i]}))},
		})
	}
	return parts, rest
}
