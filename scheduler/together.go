package scheduler

import (
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
)

const (
	// togetherWithin is for how long a transaction waits for those of other jobs, if one of these came just before.
	togetherWithin = 5 * time.Millisecond
	// mostTogether is how many are sent at once, and mostOfThem how many conditions and writes these may have: each waits
	// for the outcomes of all.
	mostTogether = 100
	mostOfThem   = 1000
)

// togetherness has joins, elections and reshardings travel together where many jobs come to them at the same time: when a
// process starts, and where the leader of many jobs sees a process start or go. A registry gathers what comes while
// requests are under way, but a fast one answers before more has come. What comes alone is sent at once.
type togetherness struct {
	registry registry.Committer

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

// commit commits a transaction of a job, in the meaning of [registry.Committer].
func (t *togetherness) commit(ctx context.Context, job string, txn registry.Txn) (registry.Revision, error) {
	b, at := t.enter(ctx, job, txn)
	if b == nil {
		return t.registry.Commit(ctx, txn)
	}
	if at == 0 {
		t.send(b)
	}
	<-b.answered // when the context ends, too
	return b.outcomes[at].Revision, b.outcomes[at].Err
}

// enter returns in whose company a transaction travels, and as which of them; nil if in nobody's.
func (t *togetherness) enter(ctx context.Context, job string, txn registry.Txn) (b *companions, at int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	crowded := job != t.last && time.Since(t.came) < togetherWithin && !t.came.IsZero()
	t.last, t.came = job, time.Now()
	switch b = t.batch; {
	case b != nil && b.ctx == ctx:
		b.txns = append(b.txns, txn)
		b.size += len(txn.If) + len(txn.Then)
		if len(b.txns) == mostTogether || b.size >= mostOfThem {
			t.batch = nil
			close(b.full)
		}
		return b, len(b.txns) - 1
	case b != nil || !crowded:
		return nil, 0
	}
	t.batch = &companions{
		ctx: ctx, txns: []registry.Txn{txn}, size: len(txn.If) + len(txn.Then), full: make(chan struct{}), answered: make(chan struct{}),
	}
	return t.batch, 0
}

// send waits for companions and commits all.
func (t *togetherness) send(b *companions) {
	timer := time.NewTimer(togetherWithin)
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
	b.outcomes = t.registry.CommitAll(b.ctx, b.txns)
}
