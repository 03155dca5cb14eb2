// Package guarded writes nodes of a job's tree under the condition that each is as it was read, in as
// few transactions as a registry takes.
package guarded

import (
	"context"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// Step is one write, and the condition under which it is made.
type Step struct {
	Write registry.Write
	Guard registry.Condition
}

// MaxSteps bounds the writes of one transaction. etcd takes 128 at most, and as many conditions.
const MaxSteps = 100

// Commit writes all steps in one transaction if they fit, else the last ones in a transaction of their
// own behind the others. Last are at most [MaxSteps] and hold the config node: a job without one is no
// job to anybody, so nobody sees a new job before all that is said of it.
//
// The errors are those of [registry.Committer]. After one, steps of earlier transactions are written. A
// transaction that creates all that it writes is not repeated when its answer is lost: whoever has
// removed the job meanwhile would find it back. What came of it can be read.
func Commit(ctx context.Context, target registry.Committer, first, last []Step) error {
	if len(first)+len(last) <= MaxSteps {
		return commit(ctx, target, slices.Concat(first, last))
	}
	for part := range slices.Chunk(first, MaxSteps) {
		if err := commit(ctx, target, part); err != nil {
			return err
		}
	}
	return commit(ctx, target, last)
}

func commit(ctx context.Context, target registry.Committer, steps []Step) error {
	if len(steps) == 0 {
		return nil
	}
	var txn registry.Txn
	for _, s := range steps {
		txn.If = append(txn.If, s.Guard)
		txn.Then = append(txn.Then, s.Write)
	}
	_, err := target.Commit(ctx, txn)
	return err
}
