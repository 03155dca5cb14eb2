package job

import (
	"context"
	"errors"
)

// MaxOffsetText bounds, in bytes, a checkpoint. It is a place in a stream, not a store.
const MaxOffsetText = 16 << 10

// Errors of the functions on progress.
var (
	// ErrNoProgress: the context is not that of an item that a scheduler runs.
	ErrNoProgress = errors.New("not within an item that a scheduler runs")
	// ErrNoCheckpoint: the job is Unmonitored, so nothing could guard a checkpoint.
	ErrNoCheckpoint = errors.New("an unmonitored job has no checkpoint")
	// ErrInvalidOffset: the checkpoint is longer than MaxOffsetText or no valid UTF-8.
	ErrInvalidOffset = errors.New("invalid checkpoint")
	// ErrYielded: code returns it when it ends because [Yield] told it to, with work left. It is no failure, see there.
	ErrYielded = errors.New("made room, with work left")
	// ErrTakenAway: the execution is over in the registry, and another may have begun. Nothing was
	// written.
	ErrTakenAway = errors.New("the execution was taken away")
)

// Progress connects the code of a running item with its scheduler. Code does not call it, but uses [Yield],
// [Offset], [SetOffset] and [SaveOffset]. The scheduler implements it, and so may a test of such code. Its methods
// are safe for concurrent use.
type Progress interface {
	// Yield, Offset and SetOffset are as the functions of the same names.
	Yield() <-chan struct{}
	Offset() string
	SetOffset(offset string) error
	// Save writes what SetOffset was last given, unless it is certain that it is written.
	Save(ctx context.Context) error
}

type progressKey struct{}

// WithProgress returns a context in which [Yield], [Offset], [SetOffset] and [SaveOffset] use p.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

func progressOf(ctx context.Context) Progress {
	p, _ := ctx.Value(progressKey{}).(Progress)
	return p
}

// Yield returns a channel that is closed when an item that runs for long should end at its next good point: the item belongs
// to another instance by now, or is to, somebody disabled it, its job or its server, the stream was switched off, or the
// instance stops, or hands its items over as it cannot follow the job any more. Unlike the end of the context, it leaves the
// code all the time that it needs, within the stop timeout if the instance stops. It costs no request. Outside of a scheduler
// the channel is nil, which is never closed.
//
// Code that ends then with work left sets its checkpoint and returns [ErrYielded], also wrapped. With [Config.Failover], the
// item's owner runs the rest at once: the same fire again, as a failover, from the checkpoint. That counts for no
// [Config.FailoverLimit]. An item that is disabled waits until it is enabled, and then the rest is run. Without Failover the
// rest waits for the next fire, and the log says so; in a job that is shared with Java instances, also if the code made room
// for a resharding. Neither is a failure: no retry, no [ErrorHandler]. The record says that the execution was interrupted. An
// error that is joined with ErrYielded, such as that of a SetOffset that failed, is not told to the handler either: the record
// and the log have it.
//
// Code that returns nil has done all of its work. ErrYielded of code that was not told to end is an error as any other. A
// context that a stop has ended tells it, too: where a stop leaves no time, code may hear of that first.
func Yield(ctx context.Context) <-chan struct{} {
	if p := progressOf(ctx); p != nil {
		return p.Yield()
	}
	return nil
}

// Offset returns the item's checkpoint: the one that this execution or an earlier one, wherever it ran, last gave
// to [SetOffset] or [SaveOffset]. It is empty if there is none.
func Offset(ctx context.Context) string {
	if p := progressOf(ctx); p != nil {
		return p.Offset()
	}
	return ""
}

// SetOffset sets the item's checkpoint. Call it when the work before the checkpoint is done: the scheduler writes
// the checkpoint together with the end of the execution, whatever its outcome is. This costs no request of its own.
// If the process dies before the end, the checkpoint stays as it was. An empty text removes it.
//
// A checkpoint stays until somebody changes it or removes the job. It stays when the sharding total count changes,
// although the same item may then stand for another part of the work.
//
// Call it before the code returns. What is set later under the same context, by a goroutine that the code has left behind or
// by a later execution that has kept the context, may be written by nobody, and SetOffset does not tell.
//
// Errors: [ErrNoProgress], [ErrNoCheckpoint], [ErrInvalidOffset].
func SetOffset(ctx context.Context, offset string) error {
	p := progressOf(ctx)
	if p == nil {
		return ErrNoProgress
	}
	return p.SetOffset(offset)
}

// SaveOffset is [SetOffset], and writes the checkpoint at once, with one request. The registry refuses it unless
// this execution still holds the item's mark, so an execution that was taken away cannot move the checkpoint of
// its successor. A saved checkpoint never goes back to an earlier one, however late the registry carries out a
// save that got no answer.
//
// Errors: those of SetOffset, [ErrTakenAway], and errors of the registry, which is unavailable under a context that has
// ended, as that of an execution does with it. After an error of the registry, the
// checkpoint may be this one or the one before. The next save, or the end of the execution, settles this by
// writing what was set last.
func SaveOffset(ctx context.Context, offset string) error {
	if err := SetOffset(ctx, offset); err != nil {
		return err
	}
	return progressOf(ctx).Save(ctx)
}
