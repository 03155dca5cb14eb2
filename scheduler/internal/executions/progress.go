package executions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// progress is what a running item's code is offered while it runs: the signal to come to an end, and
// its checkpoint.
type progress struct {
	of     *Executions
	under  *room.Attachment
	item   int
	tree   jobtree.Tree
	token  registry.Revision // of the execution; 0 if the job is not monitored
	yield  chan struct{}     // closed by the runner, once
	saving chan struct{}     // holds a token while nobody saves, so that saves land in order

	yielded error // of code that came to an end as it was told to, with work left; nil if it did not. Of who calls the code

	unmarked bool // the mark of the execution is gone; of who holds saving

	mu     sync.Mutex
	offset string // what the code set last, or found
	stored stored
}

// stored is what the registry has of a checkpoint, as far as is known.
type stored struct {
	offset   string
	revision registry.Revision // of the node; 0 if there is none
	// unsure tells that a save got no answer: it may have been done, or may be yet, until a later save
	// or the end makes that impossible.
	unsure bool
}

var _ job.Progress = (*progress)(nil)

func (x *Executions) newProgress(tree jobtree.Tree, n int, under *room.Attachment, token registry.Revision, found jobtree.Item) *progress {
	p := &progress{
		of: x, under: under, item: n, tree: tree, token: token, yield: make(chan struct{}), saving: make(chan struct{}, 1),
		offset: found.Offset, stored: stored{offset: found.Offset, revision: found.OffsetRevision},
	}
	p.saving <- struct{}{}
	return p
}

// commit commits a checkpoint. Code may save under a context of its own; the session's end counts all the same.
func (p *progress) commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	ctx, cancel := whileAttached(ctx, p.under)
	defer cancel()
	return p.of.ports.Registry().Commit(ctx, txn)
}

func (p *progress) read(ctx context.Context, path string) (registry.Node, error) {
	ctx, cancel := whileAttached(ctx, p.under)
	defer cancel()
	return p.of.ports.Registry().Get(ctx, path)
}

// whileAttached returns a context that ends with ctx or with the attachment, whichever is first.
func whileAttached(ctx context.Context, under *room.Attachment) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !under.Lasts() {
		cancel(under.Session.Err())
	}
	stop := context.AfterFunc(under.Ctx, func() { cancel(context.Cause(under.Ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
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

// Save writes the checkpoint if the registry does not have it (T10). The mark of the execution guards
// it, as it guards the end, and so does the checkpoint as it was read: a save that is carried out late
// is refused once another has been done.
func (p *progress) Save(ctx context.Context) error {
	select {
	case <-p.saving:
		defer func() { p.saving <- struct{}{} }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !p.lacking() {
		return nil
	}
	found := p.known()
	if found.unsure {
		node, err := p.read(ctx, p.tree.Offset(p.item))
		if err != nil && !errors.Is(err, registry.ErrNotFound) {
			return err
		}
		found.revision = node.Revision
	}
	for {
		offset := p.Offset()
		revision, err := p.commit(ctx, p.saveTxn(offset, found.revision))
		if err == nil {
			p.know(stored{offset: offset, revision: revision})
			return nil
		}
		var conflict *registry.ConflictError
		switch {
		case errors.As(err, &conflict) && conflict.Condition == p.stillMine() && !p.unmarked:
			p.unmarked = true // perhaps only the mark was taken away
		case errors.As(err, &conflict) && conflict.Condition.Path == p.tree.Offset(p.item):
			found.revision = conflict.Found.Revision // an earlier save was done after all, or a hand wrote it
		case errors.Is(err, registry.ErrConflict):
			return fmt.Errorf("%w: %w", job.ErrTakenAway, err)
		default:
			found.unsure = found.unsure || errors.Is(err, registry.ErrUnknownOutcome)
			p.know(found)
			return err
		}
	}
}

// saveTxn is the transaction of a save. It writes an empty checkpoint, too: nothing removes the node while the mark stands, so
// a save that created it cannot do so again. It takes turns with the begins of jobs: streams may save as fast as they are
// answered, and what goes before all begins must come of them.
func (p *progress) saveTxn(offset string, asRead registry.Revision) registry.Txn {
	path := p.tree.Offset(p.item)
	return registry.Txn{
		If: []registry.Condition{
			p.stillMine(),
			registry.Unchanged(path, asRead),
		},
		Then:   []registry.Write{registry.Put(path, offset)},
		Repeat: registry.RepeatCreation,
		Turn:   registry.Turn{Rank: registry.RankWork, Share: p.of.ports.Job()},
	}
}

// stillMine is the condition that this execution still is the item's: its mark is there or, if a careless hand
// took that away, its record is as the begin left it.
func (p *progress) stillMine() registry.Condition {
	if p.unmarked {
		return registry.Unchanged(p.tree.ItemRecord(p.item), p.token)
	}
	return registry.CreatedAt(p.tree.ItemRunning(p.item), p.token)
}

// lacking tells whether the registry may lack the checkpoint.
func (p *progress) lacking() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stored.unsure || p.offset != p.stored.offset
}

func (p *progress) known() stored {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stored
}

func (p *progress) know(s stored) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored = s
}

// last returns the write by which the end of the execution leaves the checkpoint as the code set it;
// false if it is so already. The end deletes the mark that guards every save, so whatever is still
// under way of them comes to nothing.
func (p *progress) last() (registry.Write, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	emptied := p.offset == "" && p.stored.revision != 0
	if !p.stored.unsure && p.offset == p.stored.offset && !emptied {
		return registry.Write{}, false
	}
	write, err := p.tree.WriteOffset(p.item, p.offset)
	if err != nil {
		// SetOffset refuses what the codec does.
		panic("scheduler: checkpoint refused: " + err.Error())
	}
	return write, true
}
