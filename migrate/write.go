package migrate

import (
	"context"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// maxSteps bounds the writes of one transaction; etcd takes 128 at most, and as many conditions.
const maxSteps = 100

// write commits what the target lacks: all at once if it fits, else the config last. A job without a
// config is no job to anybody, so a new one never lacks a mark that it should have.
func write(ctx context.Context, target registry.Committer, c comparison) error {
	if len(c.marks)+len(c.config) <= maxSteps {
		return commit(ctx, target, append(slices.Clone(c.marks), c.config...))
	}
	for part := range slices.Chunk(c.marks, maxSteps) {
		if err := commit(ctx, target, part); err != nil {
			return err
		}
	}
	return commit(ctx, target, c.config)
}

func commit(ctx context.Context, target registry.Committer, steps []step) error {
	if len(steps) == 0 {
		return nil
	}
	var txn registry.Txn
	for _, s := range steps {
		txn.If = append(txn.If, s.guard)
		txn.Then = append(txn.Then, s.write)
	}
	_, err := target.Commit(ctx, txn)
	return err
}
