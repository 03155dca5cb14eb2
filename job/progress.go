package job

import (
	"context"
	"errors"
)

// MaxOffsetText bounds, in bytes, a checkpoint. It is a place in a stream, not a store.
const MaxOffsetText = 16 << 10

// What callers of the functions on progress branch on.
var (
	// ErrNoProgress: the context is not that of an item that a scheduler runs.
	ErrNoProgress = errors.New("not within an item that a scheduler runs")
	// ErrNoCheckpoint: the job is Unmonitored, so nothing could guard a checkpoint.
	ErrNoCheckpoint = errors.New("an unmonitored job has no checkpoint")
	// ErrInvalidOffset: the checkpoint is longer than MaxOffsetText or no valid UTF-8.
	ErrInvalidOffset = errors.New("invalid checkpoint")
	// ErrTakenAway: the execution is over in the registry, and another may have begun. Nothing was
	// written.
	ErrTakenAway = errors.New("the execution was taken away")
)

// Progress connects the code of a running item with its scheduler. Code reaches it through [Yield],
// [Offset], [SetOffset] and [SaveOffset]; schedulers implement it, and tests of such code may. Its
// methods are safe for concurrent use.
type Progress interface {
	// Yield, Offset and SetOffset are as the functions of the same names.
	Yield() <-chan struct{}
	Offset() string
	SetOffset(offset string) error
	// Save writes what SetOffset was last given, unless it is certain that it is written.
	Save(ctx context.Context) error
}

type progressKey struct{}

// WithProgress returns a context through which the functions on progress reach p.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

func progressOf(ctx context.Context) Progress {
	p, _ := ctx.Value(progressKey{}).(Progress)
	return p
}

// Yield returns a channel that is closed when an item that runs for long should come to an end at its
// next good point: the item belongs to another instance by now, somebody disabled it, the stream was
// switched off, or the instance stops. Unlike the end of the context it leaves all the time that
// the work wants, and what is ended then is a success. It is derived from what the scheduler knows
// anyway and costs no request. Outside of a scheduler it is nil, which is never closed.
func Yield(ctx context.Context) <-chan struct{} {
	if p := progressOf(ctx); p != nil {
		return p.Yield()
	}
	return nil
}

// Offset returns the item's checkpoint: what [SetOffset] or [SaveOffset] was last given, by this
// execution or by an earlier one, wherever that ran. It is empty if there is none.
func Offset(ctx context.Context) string {
	if p := progressOf(ctx); p != nil {
		return p.Offset()
	}
	return ""
}

// SetOffset sets the item's checkpoint. It is written in the transaction that records the end of the
// execution, whatever its outcome is, so call it when what lies before the checkpoint is done. It costs
// no request. If the process dies before the end, the checkpoint is as it was. Empty removes it.
//
// A checkpoint stays until it is changed or its job is removed, also when the sharding total count
// changes; then the same item may stand for another part of the work.
//
// Errors: [ErrNoProgress], [ErrNoCheckpoint], [ErrInvalidOffset].
func SetOffset(ctx context.Context, offset string) error {
	p := progressOf(ctx)
	if p == nil {
		return ErrNoProgress
	}
	return p.SetOffset(offset)
}

// SaveOffset is [SetOffset] and writes the checkpoint at once, with one request, which is refused
// unless this execution still holds the item's mark: one that was taken away cannot move its
// successor's checkpoint. A checkpoint that was saved never goes back to an earlier one, however late
// the registry carries out a save that got no answer.
//
// Errors: those of SetOffset, [ErrTakenAway], and what the registry says. After an error of the
// registry the checkpoint may be this one or the one before, until the next save or the end of the
// execution settles it: both write what was set last.
func SaveOffset(ctx context.Context, offset string) error {
	if err := SetOffset(ctx, offset); err != nil {
		return err
	}
	return progressOf(ctx).Save(ctx)
}
