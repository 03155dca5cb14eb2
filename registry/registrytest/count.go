package registrytest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Counted is a handle that counts the calls that cost requests, on any backend. A call that the
// backend splits or repeats counts once; a backend's own numbers, where it has some, are closer to
// what goes over the network.
type Counted struct {
	registry.Registry

	commits, transactions, reads, views, times atomic.Int64
}

// Calls is what a [Counted] handle was asked.
type Calls struct {
	Commits      int // calls of Commit and CommitAll
	Transactions int // transactions in them
	Reads        int // calls of Get, List and Children
	Views        int // calls of View
	Times        int // calls of ServerTime
}

// Count wraps a handle.
func Count(r registry.Registry) *Counted { return &Counted{Registry: r} }

// Calls returns the numbers so far.
func (c *Counted) Calls() Calls {
	return Calls{
		Commits: int(c.commits.Load()), Transactions: int(c.transactions.Load()),
		Reads: int(c.reads.Load()), Views: int(c.views.Load()), Times: int(c.times.Load()),
	}
}

// Commit implements [registry.Committer].
func (c *Counted) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	c.commits.Add(1)
	c.transactions.Add(1)
	return c.Registry.Commit(ctx, txn)
}

// CommitAll implements [registry.Committer].
func (c *Counted) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	c.commits.Add(1)
	c.transactions.Add(int64(len(txns)))
	return c.Registry.CommitAll(ctx, txns)
}

// Get implements [registry.Reader].
func (c *Counted) Get(ctx context.Context, path string) (registry.Node, error) {
	c.reads.Add(1)
	return c.Registry.Get(ctx, path)
}

// List implements [registry.Reader].
func (c *Counted) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	c.reads.Add(1)
	return c.Registry.List(ctx, path)
}

// Children implements [registry.Reader].
func (c *Counted) Children(ctx context.Context, path string) ([]string, error) {
	c.reads.Add(1)
	return c.Registry.Children(ctx, path)
}

// View implements [registry.Viewer].
func (c *Counted) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	c.views.Add(1)
	return c.Registry.View(ctx, path, except...)
}

// ServerTime implements [registry.Clock].
func (c *Counted) ServerTime(ctx context.Context) (time.Time, error) {
	c.times.Add(1)
	return c.Registry.ServerTime(ctx)
}
