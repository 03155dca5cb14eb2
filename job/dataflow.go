package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/execution"
)

// Dataflow is a job whose every item fetches data and processes it. Its [Config.Type] is
// [TypeDataflow].
//
// Without [Config.StreamingProcess], an item fetches once and processes what it got, if it got anything. With it,
// the item goes on until a fetch gives nothing. Between two batches it stops when [Yield] says so: because the
// item moved, it, its job or its server was disabled, the stream was switched off, or the instance stops; or when a stop that
// leaves no time has ended its context. It returns [ErrYielded] then, so with [Config.Failover] the stream goes on at once
// where the item is by now. Without, what is left waits for the next fire. A stream that was switched off has succeeded,
// unless Process itself returned ErrYielded, alone or with another error. A stream is one execution under one token, and
// [Config.Timeout] bounds it as a whole.
//
// # Checkpoints
//
// Fetch finds the item's checkpoint in sc.Offset. Process sets the next one with [SetOffset] when the batch is
// done. The scheduler writes it at the end of the execution, and in a stream also between batches, with one
// request each; the registry refuses the write if the execution was taken away. If the process dies between the
// last effect of a batch and that write, the batch is processed again: at least once, and never skipped. A job
// that sets no checkpoint costs no further requests.
type Dataflow[T any] struct {
	// Fetch returns what is to be processed next; nothing ends the run. Required.
	Fetch func(ctx context.Context, sc ShardingContext) ([]T, error)
	// Process processes what Fetch returned; it is not called for nothing. Required.
	Process func(ctx context.Context, sc ShardingContext, batch []T) error
}

var _ Handler = Dataflow[int]{}

// Configure refuses a job that is no dataflow job, and a Dataflow without its functions.
func (d Dataflow[T]) Configure(cfg Config) (HandlerFunc, error) {
	if cfg.Type != TypeDataflow {
		return nil, &FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be DATAFLOW, as the code is a dataflow"}
	}
	if d.Fetch == nil || d.Process == nil {
		return nil, errors.New("dataflow: Fetch and Process must be set")
	}
	return d.run, nil
}

// run runs one item.
func (d Dataflow[T]) run(ctx context.Context, sc ShardingContext) error {
	for {
		sc.Offset = offsetOr(ctx, sc.Offset)
		more, err := d.batch(ctx, sc)
		if err != nil || !more || !sc.Streaming {
			return err
		}
		ended := context.Cause(ctx) // as it is before: what a stop has ended since was told to make room
		if execution.Told(ctx, Yield(ctx)) {
			return ErrYielded // there may be more
		}
		if ended != nil {
			return ended
		}
		if err := save(ctx); err != nil {
			return err
		}
	}
}

// batch does one batch, and tells whether there was one.
func (d Dataflow[T]) batch(ctx context.Context, sc ShardingContext) (bool, error) {
	data, err := d.Fetch(ctx, sc)
	if err != nil {
		return false, fmt.Errorf("fetch: %w", err)
	}
	if len(data) == 0 {
		return false, nil
	}
	if err := d.Process(ctx, sc, data); err != nil {
		return true, fmt.Errorf("process: %w", err)
	}
	return true, nil
}

// save writes the checkpoint, where there is a scheduler. What is told to make room meanwhile may have the save broken off by
// that; its checkpoint is written with its end.
func save(ctx context.Context) error {
	p := progressOf(ctx)
	if p == nil {
		return nil
	}
	err := p.Save(ctx)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("save checkpoint: %w", err)
	if execution.Told(ctx, p.Yield()) {
		return errors.Join(ErrYielded, err)
	}
	return err
}

// offsetOr returns the checkpoint of the context, or what the caller was given outside of a scheduler.
func offsetOr(ctx context.Context, given string) string {
	if progressOf(ctx) == nil {
		return given
	}
	return Offset(ctx)
}
