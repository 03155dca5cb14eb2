package job_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/job"
)

// desk is a Progress of a test.
type desk struct {
	offset string
	saves  []string
	yield  chan struct{}
	saving func() // called before a save
	err    error
}

func (d *desk) Yield() <-chan struct{} { return d.yield }
func (d *desk) Offset() string         { return d.offset }

func (d *desk) SetOffset(offset string) error {
	d.offset = offset
	return nil
}

func (d *desk) Save(context.Context) error {
	d.saves = append(d.saves, d.offset)
	if d.saving != nil {
		d.saving()
	}
	return d.err
}

// batches returns a dataflow that fetches what is given, one batch after the other, and keeps what it
// was told and processed.
func batches(all ...[]string) (flow job.Dataflow[string], fetched, processed *[]string) {
	fetched, processed = new([]string), new([]string)
	return job.Dataflow[string]{
		Fetch: func(_ context.Context, sc job.ShardingContext) ([]string, error) {
			*fetched = append(*fetched, sc.Offset)
			if len(all) == 0 {
				return nil, nil
			}
			batch := all[0]
			all = all[1:]
			return batch, nil
		},
		Process: func(ctx context.Context, _ job.ShardingContext, batch []string) error {
			*processed = append(*processed, batch...)
			if err := job.SetOffset(ctx, batch[len(batch)-1]); !errors.Is(err, job.ErrNoProgress) {
				return err
			}
			return nil
		},
	}, fetched, processed
}

// code returns what runs the items of a dataflow.
func code(t *testing.T, flow job.Handler) job.HandlerFunc {
	t.Helper()
	run, err := flow.Configure(job.Config{Type: job.TypeDataflow})
	require.NoError(t, err)
	return run
}

func TestADataflowOutsideOfAScheduler(t *testing.T) {
	t.Parallel()
	flow, fetched, processed := batches([]string{"a", "b"}, []string{"c"}, []string{}, []string{"never"})
	require.NoError(t, code(t, flow)(t.Context(), job.ShardingContext{Streaming: true, Offset: "given"}))
	require.Equal(t, []string{"a", "b", "c"}, *processed)
	require.Equal(t, []string{"given", "given", "given"}, *fetched)
}

func TestADataflowOnce(t *testing.T) {
	t.Parallel()
	flow, _, processed := batches([]string{"a"}, []string{"b"})
	require.NoError(t, code(t, flow)(t.Context(), job.ShardingContext{}))
	require.Equal(t, []string{"a"}, *processed)

	flow, _, processed = batches(nil, []string{"b"})
	require.NoError(t, code(t, flow)(t.Context(), job.ShardingContext{}))
	require.Empty(t, *processed, "nothing is not processed")
}

func TestAStreamHandsItsCheckpointOn(t *testing.T) {
	t.Parallel()
	d := &desk{offset: "begin"}
	flow, fetched, _ := batches([]string{"a"}, []string{"b"})
	require.NoError(t, code(t, flow)(job.WithProgress(t.Context(), d), job.ShardingContext{Streaming: true, Offset: "begin"}))
	require.Equal(t, []string{"begin", "a", "b"}, *fetched)
	require.Equal(t, []string{"a", "b"}, d.saves)
}

func TestAStreamEnds(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	cancelled, cancel := context.WithCancelCause(t.Context())
	for name, test := range map[string]struct {
		ctx       context.Context
		desk      *desk
		change    func(*job.Dataflow[string])
		want      error
		processed []string
	}{
		"when it is told to": {desk: &desk{yield: closed()}, want: job.ErrYielded, processed: []string{"a"}},
		"with its context": {
			ctx: cancelled, desk: &desk{}, want: boom, processed: []string{"a"},
			change: func(f *job.Dataflow[string]) {
				process := f.Process
				f.Process = func(ctx context.Context, sc job.ShardingContext, batch []string) error {
					cancel(boom)
					return process(ctx, sc, batch)
				}
			},
		},
		"when a checkpoint is refused": {desk: &desk{err: boom}, want: boom, processed: []string{"a"}},
		"when fetch fails": {desk: &desk{}, want: boom, change: func(f *job.Dataflow[string]) {
			f.Fetch = func(context.Context, job.ShardingContext) ([]string, error) { return []string{"x"}, boom }
		}},
		"when process fails": {desk: &desk{}, want: boom, change: func(f *job.Dataflow[string]) {
			f.Process = func(context.Context, job.ShardingContext, []string) error { return boom }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flow, _, processed := batches([]string{"a"}, []string{"b"})
			if test.change != nil {
				test.change(&flow)
			}
			ctx := test.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			err := code(t, flow)(job.WithProgress(ctx, test.desk), job.ShardingContext{Streaming: true})
			require.ErrorIs(t, err, test.want)
			require.Equal(t, test.processed, *processed)
		})
	}
}

// A stop that leaves no time ends the context of a stream. That tells it to make room, too, at whatever step it sees that.
func TestAStreamMakesRoomForAStop(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, at := range map[string]struct{ process, save bool }{
		"during a batch": {process: true},
		"during a save":  {save: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			flow, _, processed := batches([]string{"a"}, []string{"b"})
			process := flow.Process
			flow.Process = func(ctx context.Context, sc job.ShardingContext, batch []string) error {
				if at.process {
					stop(execution.ErrStopped)
				}
				return process(ctx, sc, batch)
			}
			d := &desk{}
			if at.save {
				d.saving = func() { stop(execution.ErrStopped); d.err = boom }
			}
			err := code(t, flow)(job.WithProgress(ctx, d), job.ShardingContext{Streaming: true})
			require.ErrorIs(t, err, job.ErrYielded)
			require.Equal(t, []string{"a"}, *processed)
			require.Equal(t, "a", d.offset, "the checkpoint is written with the end")
			if at.save {
				require.ErrorIs(t, err, boom, "what the save said is in the record, too")
			}
		})
	}
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestADataflowWithoutItsFunctions(t *testing.T) {
	t.Parallel()
	_, err := job.Dataflow[int]{}.Configure(job.Config{Type: job.TypeDataflow})
	require.ErrorContains(t, err, "Fetch and Process must be set")
}

func TestProgressOutsideOfAScheduler(t *testing.T) {
	t.Parallel()
	require.Nil(t, job.Yield(t.Context()))
	require.Empty(t, job.Offset(t.Context()))
	require.ErrorIs(t, job.SetOffset(t.Context(), "x"), job.ErrNoProgress)
	require.ErrorIs(t, job.SaveOffset(t.Context(), "x"), job.ErrNoProgress)
}
