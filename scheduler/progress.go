package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// progress is what a running item's code is offered while it runs: the signal to come to an end, and
// its checkpoint.
type progress struct {
	commit func(ctx context.Context, txn registry.Txn) error
	item   int
	tree   jobtree.Tree
	token  registry.Revision // of the execution; 0 if the job is not monitored
	yield  chan struct{}     // closed by the runner, once
	saving chan struct{}     // holds a token while nobody saves, so that saves land in order

	mu      sync.Mutex
	offset  string // what the code set last, or found
	written string // what the registry has, as far as is known
}

var _ job.Progress = (*progress)(nil)

func (r *runner) newProgress(n int, under *attachment, token registry.Revision, offset string) *progress {
	p := &progress{
		item: n, tree: r.tree, token: token, yield: make(chan struct{}), saving: make(chan struct{}, 1),
		offset: offset, written: offset,
	}
	p.commit = func(ctx context.Context, txn registry.Txn) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		// Code may save under a context of its own; the session's end counts all the same.
		stop := context.AfterFunc(under.ctx, func() { cancel(context.Cause(under.ctx)) }) //nolint:contextcheck // two contexts bound it
		defer stop()
		_, err := r.s.registry.Commit(ctx, txn)
		return err
	}
	p.saving <- struct{}{}
	return p
}

// Yield returns the channel that the runner closes when the item should come to an end.
func (p *progress) Yield() <-chan struct{} { return p.yield }

// Offset returns the checkpoint.
func (p *progress) Offset() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offset
}

// SetOffset sets the checkpoint, to be written with the end of the execution.
func (p *progress) SetOffset(offset string) error {
	switch {
	case p.token == 0:
		return job.ErrNoCheckpoint
	case len(offset) > job.MaxOffsetText:
		return fmt.Errorf("%w: it has %d bytes, %d are allowed", job.ErrInvalidOffset, len(offset), job.MaxOffsetText)
	case !utf8.ValidString(offset):
		return fmt.Errorf("%w: it is no valid UTF-8", job.ErrInvalidOffset)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offset = offset
	return nil
}

// Save writes the checkpoint if the registry does not have it. The mark of the execution guards it, as
// it guards the end.
func (p *progress) Save(ctx context.Context) error {
	select {
	case <-p.saving:
		defer func() { p.saving <- struct{}{} }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	offset, write, unsaved := p.unsaved()
	if !unsaved {
		return nil
	}
	err := p.commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.CreatedAt(p.tree.ItemRunning(p.item), p.token)},
		Then: []registry.Write{write},
	})
	if errors.Is(err, registry.ErrConflict) {
		err = fmt.Errorf("%w: %w", job.ErrTakenAway, err)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = offset
	return nil
}

// unsaved returns the checkpoint and the write that is still to be done; false if there is none.
func (p *progress) unsaved() (string, registry.Write, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.offset == p.written {
		return "", registry.Write{}, false
	}
	write, err := p.tree.WriteOffset(p.item, p.offset)
	if err != nil {
		// SetOffset refuses what the codec does.
		panic("scheduler: checkpoint refused: " + err.Error())
	}
	return p.offset, write, true
}
