package job_test

import (
	"context"
	"fmt"

	"github.com/elasticron/elasticron/job"
)

// memo is a [job.Progress] for tests: it keeps a checkpoint in memory.
type memo struct {
	offset string
	leave  chan struct{} // closed when the item is to make room
}

func (m *memo) Yield() <-chan struct{}        { return m.leave }
func (m *memo) Offset() string                { return m.offset }
func (m *memo) SetOffset(offset string) error { m.offset = offset; return nil }
func (m *memo) Save(context.Context) error    { fmt.Println("saved", m.offset); return nil }

// An item that runs for long saves a checkpoint after each part, and makes room between two parts if it has
// to. The next execution, wherever it runs, goes on from there.
func ExampleSaveOffset() {
	parts := []string{"a", "b", "c", "d"}
	work := func(ctx context.Context, _ job.ShardingContext) error {
		for _, part := range parts {
			if part <= job.Offset(ctx) {
				continue // done before
			}
			select {
			case <-job.Yield(ctx):
				return job.ErrYielded // the rest runs where the item goes
			default:
			}
			fmt.Println("part", part)
			if err := job.SaveOffset(ctx, part); err != nil {
				return err
			}
		}
		return nil
	}
	// A scheduler provides the progress. Here is a fake, as in a test of this code.
	m := &memo{offset: "b", leave: make(chan struct{})}
	fmt.Println(work(job.WithProgress(context.Background(), m), job.ShardingContext{}))
	// Output:
	// part c
	// saved c
	// part d
	// saved d
	// <nil>
}
