// Package together sends in one request the joins, elections and reshardings of many jobs of a process. Begins and ends do not
// pass here: what a job decides at once, package room sends together, and what is under way at the same time, the registry
// gathers by itself.
package together

import (
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
)

const (
	// within is how long a transaction waits for those of other jobs, if one of these came just before.
	within = 5 * time.Millisecond
	// mostTogether is how many transactions one request may have. A request with mostParts conditions and writes takes no
	// more transactions either: each of them waits for the outcomes of all.
	mostTogether = 100
	mostParts    = 1000
)

// Together sends joins, elections and reshardings of many jobs in one request. They come at the same time when a
// process starts, and where the leader of many jobs sees a process start or go. A registry gathers what comes while
// requests are under way, but a fast one answers before more has come. What comes alone is sent at once.
type Together struct {
	Registry registry.Committer

	mu    sync.Mutex
	last  string // the job that came last
	came  time.Time
	batch *companions // that wait for others; nil if none do
}

// companions are transactions that travel together. The first to come sends them.
type companions struct {
	ctx      context.Context // the same for all
	txns     []registry.Txn
	size     int           // conditions and writes
	full     chan struct{} // closed when no more are taken
	answered chan struct{} // closed when the outcomes are there
	outcomes []registry.Outcome
}

// Commit commits a transaction of a job, as [registry.Committer] explains. It is safe for concurrent use.
func (t *Together) Commit(ctx context.Context, job string, txn registry.Txn) (registry.Revision, error) {
	b, at := t.enter(ctx, job, txn)
	if b == nil {
		return t.Registry.Commit(ctx, txn)
	}
	if at == 0 {
		t.send(b)
	}
	<-b.answered // also when the context ends: the registry answers then
	return b.outcomes[at].Revision, b.outcomes[at].Err
}

// enter returns with which companions a transaction travels, and at which place among them; nil if it travels alone.
func (t *Together) enter(ctx context.Context, job string, txn registry.Txn) (b *companions, at int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	crowded := job != t.last && time.Since(t.came) < within && !t.came.IsZero()
	t.last, t.came = job, time.Now()
	size := len(txn.If) + len(txn.Then)
	switch b = t.batch; {
	case b != nil && b.ctx == ctx:
		b.txns = append(b.txns, txn)
		b.size += size
		if len(b.txns) == mostTogether || b.size >= mostParts {
			t.batch = nil
			close(b.full)
		}
		return b, len(b.txns) - 1
	case b != nil || !crowded || size >= mostParts:
		return nil, 0
	}
	t.batch = &companions{
		ctx: ctx, txns: []registry.Txn{txn}, size: size, full: make(chan struct{}), answered: make(chan struct{}),
	}
	return t.batch, 0
}

// send waits for companions and commits all.
func (t *Together) send(b *companions) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.full:
	case <-b.ctx.Done():
	}
	t.mu.Lock()
	if t.batch == b {
		t.batch = nil
	}
	t.mu.Unlock()
	defer close(b.answered)
	b.outcomes = t.Registry.CommitAll(b.ctx, b.txns)
}
